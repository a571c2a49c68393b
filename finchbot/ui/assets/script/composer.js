// ---- sending ---------------------------------------------------------------------------

const draft_key = () => `finchbot.draft.${shown_thread}`;
const keep_draft = () => sessionStorage.setItem(draft_key(), box()?.value || "");

const grow = () => {
  const area = box();
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
};

const put = (text) => {
  const area = box();
  area.value = text;
  grow();
  keep_draft();
};

const send = (text) => {
  const client_id = crypto.randomUUID?.() || `${Date.now()}-${Math.random()}`;
  under_way.set(client_id, text);
  act({ do: "send", text, client_id });
  to_bottom();
};

const submit = () => {
  const text = box().value;
  if (!text.trim() || lost) return;
  if (new Blob([JSON.stringify(text)]).size > 950_000) return trouble(words().too_long);
  trouble();
  put("");
  send(text);
};

// An input method uses Enter to confirm. While it composes, browsers say so in one of two ways;
// Safari ends the composition first and sends the key straight after it, so an Enter before the
// next key is let go does not send either.
let composed_at = -Infinity;
document.addEventListener("compositionend", () => { composed_at = performance.now(); });
document.addEventListener("keyup", () => { composed_at = -Infinity; });

const on_key = (event) => {
  if (event.target !== box()) return;
  if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
  if (event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  if (performance.now() - composed_at > 500) submit();
};
