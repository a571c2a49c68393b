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
let asked_for = null;  // The thread a person asked for, and whether that is a step in the history.
let shown_thread = new URL(location.href).searchParams.get("thread") || "";

const wake = () => {
  asleep = false;
  trigger("wake", { thread_id: shown_thread || null });
};
