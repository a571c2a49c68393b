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

// Whoever goes to another page breaks the stream as well, and must not be called back. When nothing
// came of it (a download, say), this page is still there a while later and starts anew.
let left_at = -Infinity;
addEventListener("beforeunload", () => { left_at = performance.now(); }, true);
const stay = async () => {
  while (performance.now() - left_at < 5000) await pause(1000);
};

const await_server = async () => {
  if (lost) return;
  lost = true;
  await stay();
  restore();
  trouble(words().connection_lost);
  while (!(await well())) await pause(1000);
  await stay();
  location.reload();
};

// Come back to by the browser's Back, as it was left: with a stream that has ended.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

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
