// ---- what the server says about the page's state -------------------------------------------

const address = (thread) => {
  const url = new URL(location.href);
  if (thread) url.searchParams.set("thread", thread);
  else url.searchParams.delete("thread");
  return url;
};

// A thread that began on the empty page takes its place in the history, and a thread that is gone
// leaves its own to the empty page; what a person opened is a step, unless it was a step back.
const follow_thread = (thread) => {
  const began_here = !shown_thread && thread && under_way.size;
  if (began_here) sessionStorage.removeItem(draft_key());
  else keep_draft();
  const step = asked_for?.thread === thread ? asked_for.step : !began_here && thread;
  if (asked_for?.thread === thread) asked_for = null;
  history[step ? "pushState" : "replaceState"](null, "", address(thread));
  shown_thread = thread;
  if (!began_here) put(sessionStorage.getItem(draft_key()) || "");
  to_bottom();
};

let first = true;
const on_pulse = () => {
  const state = pulse()?.dataset;
  if (!state) return;
  if (page.lang !== state.language) page.lang = state.language;
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
