// ---- what Gradio's parts say in English, or say twice ---------------------------------------

const relabel = () => {
  const say = words();
  const log = scroller();
  const set = (node, name, value) => {
    if (node && value && node.getAttribute(name) !== value) node.setAttribute(name, value);
  };
  set(log, "aria-label", say.conversation);
  for (const node of document.querySelectorAll("#finch-chat [data-testid=user][aria-label], "
    + "#finch-chat [data-testid=bot][aria-label]")) node.removeAttribute("aria-label");
  for (const node of document.querySelectorAll("#finch-chat .message-buttons button")) {
    set(node, "aria-label", say.copy);
    set(node, "title", say.copy);
  }
  for (const node of document.querySelectorAll("#finch-chat .copy_code_button")) {
    set(node, "title", say.copy_code);
    set(node, "aria-label", say.copy_code);
  }
  set(find("#finch-chat .scroll-down-button-container button"), "aria-label", say.to_bottom);
  set(find("#finch-chat .scroll-down-button-container button"), "title", say.to_bottom);
  for (const node of document.querySelectorAll("#finch-chat .thought-group > .title"))
    set(node, "aria-expanded", String(!!node.nextElementSibling));
};

let scheduled = false;
new MutationObserver(() => {
  if (scheduled) return;
  scheduled = true;
  queueMicrotask(() => { scheduled = false; on_pulse(); relabel(); });
}).observe(find("#finch-page") || document.body, {
  subtree: true, childList: true, attributes: true,
  attributeFilter: ["aria-label", "data-thread", "data-title", "data-language", "data-taken",
    "data-refused"],
});
