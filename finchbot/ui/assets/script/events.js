// ---- one ear for every click and key -----------------------------------------------------

const on_click = (event) => {
  const button = event.target.closest?.("[data-do], [data-ui], #finch-chat .act");
  if (!button) {
    if (page.classList.contains("finch-drawer") && !event.target.closest("#finch-side"))
      drawer(false);
    return;
  }
  if (button.tagName === "SELECT") return;
  if (button.classList.contains("act")) return from_conversation(button);
  const { do: action, ui, id, title } = button.dataset;
  if (action === "open") {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    open_thread(id);
  } else if (action === "new") { open_thread(null); box()?.focus(); }
  else if (action === "start") send(button.textContent);
  else if (action) act({ do: action });
  else if (ui === "drawer") drawer();
  else if (ui === "rename") rename({ id, title });
  else if (ui === "delete") remove({ id, title });
};

const on_copy = (event) => {
  const button = event.target.closest?.("#finch-chat .message-buttons button");
  if (!button) return;
  event.stopImmediatePropagation();
  copy_answer(button);
};

let search_timer = 0;
const on_input = (event) => {
  if (event.target === box()) { grow(); keep_draft(); }
  else if (event.target.matches?.("#finch-side input[type=search]")) {
    clearTimeout(search_timer);
    search_timer = setTimeout(() => act({ do: "search", query: event.target.value }), 200);
  }
};

document.addEventListener("click", on_copy, true);
document.addEventListener("click", on_click);
document.addEventListener("keydown", on_key);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing) drawer(false);
});
document.addEventListener("input", on_input);
document.addEventListener("change", (event) => {
  if (event.target.matches?.("[data-ui=language]")) speak(event.target.value);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches?.("#finch-foot form")) return;
  event.preventDefault();
  submit();
  box().focus();
});
addEventListener("popstate", () => {
  open_thread(new URL(location.href).searchParams.get("thread"), false);
});
