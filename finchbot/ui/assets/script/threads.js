// ---- threads: drawer, dialogs, address ---------------------------------------------------

const open_thread = (thread_id, step = true) => {
  drawer(false);
  asked_for = { thread: thread_id || "", step };
  act({ do: "open", thread_id: thread_id || null });
};

const drawer = (open) => {
  page.classList.toggle("finch-drawer", open ?? !page.classList.contains("finch-drawer"));
  if (page.classList.contains("finch-drawer")) find("#finch-side .new")?.focus();
};

const make = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

const dialog = (title, middle, confirm, dangerous, done) => {
  const opener = document.activeElement;
  const say = words();
  const form = make("form", { method: "dialog" },
    make("h2", { textContent: title, id: "finch-dialog-title" }), ...middle,
    make("div", { className: "choices" },
      make("button", { type: "button", className: "plain", textContent: say.cancel,
        onclick: () => window_.close() }),
      make("button", { type: "submit", className: dangerous ? "danger" : "primary",
        textContent: confirm })));
  const window_ = make("dialog", { className: "finch-dialog" }, form);
  window_.setAttribute("aria-labelledby", "finch-dialog-title");
  form.onsubmit = (event) => {
    event.preventDefault();
    if (done() !== false) window_.close();
  };
  window_.onclose = () => { window_.remove(); (opener?.isConnected ? opener : box())?.focus(); };
  window_.onclick = (event) => { if (event.target === window_) window_.close(); };
  document.body.append(window_);
  window_.showModal();
  find("input, .plain", window_)?.focus();
  find("input", window_)?.select();
};

const rename = ({ id, title }) => {
  const say = words();
  const input = make("input", { type: "text", value: title, maxLength: 200, required: true });
  const label = make("label", { textContent: say["rename_dialog.label"] }, input);
  dialog(say["rename_dialog.title"], [label], say["rename_dialog.save"], false, () => {
    if (!input.value.trim()) return false;
    act({ do: "rename", thread_id: id, title: input.value });
  });
};

const remove = ({ id, title }) => {
  const say = words();
  const meaning = make("p", { textContent: say["delete_dialog.meaning"] });
  dialog(say["delete_dialog.title"].replace("{title}", () => title), [meaning],
    say["delete_dialog.confirm"], true, () => act({ do: "delete", thread_id: id }));
};

const speak = (language) => {
  document.cookie = `finchbot_language=${language};path=/;max-age=31536000;samesite=lax`;
  act({ do: "language", language });
};
