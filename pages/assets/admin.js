// Streamlit draws some parts itself, in English; here they speak the reader's language.
document.documentElement.lang = $language;
window.finchWords = $words;
if (!window.finchSpeaks) {
  window.finchSpeaks = true;
  const names = ["aria-label", "title"];
  // Only where no word of a user's can stand: a thread may well be called "Close".
  const told = '[role="dialog"] > h2, [role="dialog"] > h2 + div > div, [data-testid="stSkipToContent"]';
  // Nothing where the word is the same: setting it would wake the observer for ever.
  const word = (text) => {
    const ours = window.finchWords[text?.trim().slice(0, 40)];
    return ours === text ? undefined : ours;
  };
  const speak = (element) => {
    for (const name of names) {
      const ours = word(element.getAttribute?.(name));
      if (ours) element.setAttribute(name, ours);
    }
    const ours = element.matches?.(told) && word(element.textContent);
    if (ours) element.textContent = ours;
  };
  const all = (root) => {
    speak(root);
    root.querySelectorAll?.(`[aria-label], [title], $${told}`).forEach(speak);
  };
  all(document.body);
  new MutationObserver((changes) => {
    for (const { target, addedNodes, type } of changes) {
      if (type === "attributes") speak(target);
      addedNodes.forEach(all);
    }
  }).observe(document.body, {
    subtree: true, childList: true, attributes: true, attributeFilter: names,
  });
  // One house: a way into the chat stays in this tab.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[target=_blank]");
    if (link && link.origin === location.origin) link.removeAttribute("target");
  }, true);
}
