// The page's own script: the composer, the drawer, dialogs, and what Gradio's parts lack.
// Runs once, as the body of a function of (element, trigger, …); 'wake' starts the page's
// stream, 'act' sends one action.

const page = document.documentElement;
const find = (selector, under = document) => under.querySelector(selector);
const pulse = () => find("#finch-pulse");
const box = () => find("#finch-foot textarea");
const scroller = () => find("#finch-chat .bubble-wrap");
const words = () => JSON.parse(pulse()?.dataset.words || "{}");
const act = (data) => trigger("act", data);

// Messages on their way: client id → text, so that nothing typed is ever lost.
const under_way = new Map();
let asleep = false;
let lost = false;
let hidden_since = 0;
let shown_thread = new URL(location.href).searchParams.get("thread") || "";

const wake = () => {
  asleep = false;
  trigger("wake", { thread_id: shown_thread || null });
};

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

// ---- threads: drawer, dialogs, address ---------------------------------------------------

const open_thread = (thread_id) => {
  drawer(false);
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

// ---- the conversation ------------------------------------------------------------------

const to_bottom = () => requestAnimationFrame(() => requestAnimationFrame(() => {
  const area = scroller();
  if (area) area.scrollTop = area.scrollHeight;
}));

const copy_answer = (button) => {
  const rows = [...document.querySelectorAll("#finch-chat .message-row")];
  const row = rows.findLast(
    (one) => one.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING);
  const said = [...(row?.querySelectorAll(".message-content") || [])]
    .filter((part) => !part.closest(".thought-group")
      && !find(".notice, .queued, .waiting, .broken, .act", part));
  navigator.clipboard.writeText(said.map((part) => part.innerText.trim()).join("\n\n")).then(() => {
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), 1500);
  });
};

const from_conversation = (button) => {
  const [, action, run_id] = button.className.split(" ");
  if (action === "retry") act({ do: "retry", run_id, client_id: `${run_id}-${Date.now()}` });
  else if (action === "unqueue") act({ do: "unqueue", run_id });
  else act({ do: action });
};

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
  shown_thread = new URL(location.href).searchParams.get("thread") || "";
  act({ do: "open", thread_id: shown_thread || null });
});

// ---- what the server says about the page's state -------------------------------------------

const address = (thread) => {
  const url = new URL(location.href);
  if (thread) url.searchParams.set("thread", thread);
  else url.searchParams.delete("thread");
  return url;
};

const follow_thread = (thread) => {
  const began_here = !shown_thread && thread && under_way.size;
  if (began_here) sessionStorage.removeItem(draft_key());
  else keep_draft();
  const replace = began_here || (shown_thread && !thread);
  history[replace ? "replaceState" : "pushState"](null, "", address(thread));
  shown_thread = thread;
  if (!began_here) put(sessionStorage.getItem(draft_key()) || "");
  to_bottom();
};

let first = true;
const on_pulse = () => {
  const state = pulse()?.dataset;
  if (!state) return;
  page.lang = state.language;
  document.title = state.title ? `${state.title} · FinchBot` : "FinchBot";
  if (first) {
    first = false;
    shown_thread = state.thread;
    history.replaceState(null, "", address(shown_thread));
    put(sessionStorage.getItem(draft_key()) || "");
    if (matchMedia("(pointer: fine)").matches) box()?.focus();
    page.classList.add("finch-ready");
    to_bottom();
  } else if (state.thread !== shown_thread) follow_thread(state.thread);
  if (state.taken) under_way.delete(state.taken);
  if (under_way.has(state.refused)) {
    const text = under_way.get(state.refused);
    under_way.delete(state.refused);
    if (!box().value) put(text);
  }
};

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

// ---- the connection ------------------------------------------------------------------------

const trouble = (sentence) => {
  let line = find("#finch-trouble");
  if (!sentence) return line?.remove();
  if (!line) {
    line = make("p", { id: "finch-trouble" });
    line.setAttribute("role", "status");
    document.body.append(line);
  }
  line.textContent = sentence;
};

// Whatever ends the page's stream or refuses an action, Gradio calls one of these or shows a box
// in its own words, which is hidden. Of a server that is gone the page waits and starts anew: the
// thread is in the address, the draft is kept.
const restore = () => { for (const text of under_way.values()) if (!box().value) put(text); };
const well = async () =>
  (await fetch("healthz", { cache: "no-store" }).catch(() => null))?.ok || false;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const await_server = async () => {
  if (lost) return;
  lost = true;
  restore();
  trouble(words().connection_lost);
  while (!(await well())) await pause(1000);
  location.reload();
};

window.finch = {
  ended: async () => {
    if (asleep || lost) return;
    await pause(500);
    if (await well()) wake();
    else await_server();
  },
  refused: async () => {
    if (!(await well())) return await_server();
    restore();
    under_way.clear();
    trouble(words().went_wrong);
    await pause(8000);
    if (!lost) trouble();
  },
};

new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes)
    if (node.nodeType === 1 && (node.matches(".toast-body") || find(".toast-body", node)))
      return await_server();
}).observe(document.body, { subtree: true, childList: true });

let beat = "";
let beat_at = performance.now();
const beat_is_late = () => performance.now() - beat_at > 40_000;
setInterval(() => {
  const now = pulse()?.dataset.beat;
  if (now !== beat || asleep || document.hidden) { beat = now; beat_at = performance.now(); }
  if (beat_is_late() && !lost) await_server();
  if (document.hidden && !asleep && hidden_since && Date.now() - hidden_since > 60_000) {
    asleep = true;
    act({ do: "sleep" });
  }
}, 5_000);

// A page nobody looks at gives its connection back: browsers allow six to one server.
document.addEventListener("visibilitychange", () => {
  hidden_since = document.hidden ? Date.now() : 0;
  beat_at = performance.now();
  if (!document.hidden && asleep) wake();
});

wake();
