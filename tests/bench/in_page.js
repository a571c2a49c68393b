// Runs inside a page, so that no time of the browser's remote control is measured: `bench.ask`
// types a question and presses Enter as a person does. Painted is what stands in the document
// when the frame after the change has been drawn.
window.bench = (() => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const painted = async () => {
    await frame();
    await new Promise((done) => setTimeout(done));
    return performance.now();
  };

  const until = (met) => new Promise((done) => {
    if (met()) return done(painted());
    const observer = new MutationObserver(() => {
      if (!met()) return;
      observer.disconnect();
      done(painted());
    });
    observer.observe(document, {
      subtree: true, childList: true, characterData: true, attributes: true,
    });
  });

  const bots = () => document.querySelectorAll('[data-testid="bot"]');
  const said = () => [...bots()].at(-1)?.textContent.trim() || "";
  const value = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");

  // Milliseconds from the key until an answer that begins with `first` is painted, and until it
  // ends with `last`.
  const ask = async ({box, question, first, last}) => {
    const area = document.querySelector(box);
    const before = bots().length;
    area.focus();
    value.set.call(area, question);
    area.dispatchEvent(new Event("input", {bubbles: true}));
    await painted();
    const key = {key: "Enter", code: "Enter", keyCode: 13, bubbles: true, cancelable: true};
    const began = performance.now();
    for (const kind of ["keydown", "keypress", "keyup"])
      area.dispatchEvent(new KeyboardEvent(kind, key));
    const answered = (met) => until(() => bots().length > before && said() !== "" && met(said()));
    const begun = await answered((text) => text.startsWith(first));
    const whole = await answered((text) => text.endsWith(last));
    return [begun - began, whole - began];
  };

  const there = (...selectors) => until(() => selectors.every((one) => document.querySelector(one)));

  // To the one outside, who may not evaluate anything in a page with a strict policy.
  const tell = (at) => console.log(`bench-painted ${performance.timeOrigin + at}`);

  return {ask, there, tell};
})();
