// ---- the conversation ------------------------------------------------------------------

const to_bottom = () => requestAnimationFrame(() => requestAnimationFrame(() => {
  const area = scroller();
  if (area) area.scrollTop = area.scrollHeight;
}));

// What is put above the words a person reads must not move them; an answer that grows meanwhile
// grows below.
const keep_place = () => {
  const area = scroller();
  const turns = () => area.querySelectorAll("[data-testid=user]").length;
  const before = turns();
  const began_at = performance.now();
  let below = 0;
  let came_at = 0;
  const look = () => {
    const now = performance.now();
    if (!came_at && turns() > before) came_at = now;
    if (came_at) area.scrollTop = area.scrollHeight - below;
    else below = area.scrollHeight - area.scrollTop;
    if (now < (came_at ? came_at + 300 : began_at + 5000)) requestAnimationFrame(look);
  };
  look();
};

const copy_answer = (button) => {
  const rows = [...document.querySelectorAll("#finch-chat .message-row")];
  const row = rows.findLast(
    (one) => one.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING);
  const said = [...(row?.querySelectorAll(".message-content") || [])]
    .filter((part) => !part.closest(".thought-group")
      && !find(".notice, .queued, .waiting, .broken, .act", part));
  write_clipboard(said.map((part) => part.innerText.trim()).join("\n\n")).then(() => {
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), 1500);
  });
};

// Browsers offer the clipboard to secure pages alone; a page over plain HTTP takes the old way.
const write_clipboard = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = make("textarea", { value: text, className: "finch-offscreen" });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
};

const from_conversation = (button) => {
  const [, action, run_id] = button.className.split(" ");
  if (action === "retry") act({ do: "retry", run_id, client_id: `${run_id}-${Date.now()}` });
  else if (action === "unqueue") act({ do: "unqueue", run_id });
  else {
    if (action === "earlier") keep_place();
    act({ do: action });
  }
};
