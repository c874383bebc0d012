// The keyboard comes first: one place that hears it.
import { useLayoutEffect } from "./dom.js";

const bound = [];
const SEQUENCE = 900;
let before = { key: "", at: 0 };

/** Whether somebody is writing, so that letters are letters. */
const writing = (target) => target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

function named(event) {
  const key = event.key.length === 1 && !event.shiftKey ? event.key.toLowerCase() : event.key;
  return `${event.ctrlKey || event.metaKey ? "Mod+" : ""}${key}`;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const key = named(event);
  const sequence = performance.now() - before.at < SEQUENCE ? `${before.key} ${key}` : "";
  before = { key, at: performance.now() };
  for (const bindings of [...bound].reverse()) {
    const work = bindings[sequence] ?? bindings[key];
    const free = !writing(event.target) || key === "Escape" || key.startsWith("Mod+");
    if (work && free && work(event) !== false) {
      event.preventDefault();
      before = { key: "", at: 0 };
      return;
    }
  }
});

/** `{ "/": work, "g s": work, "Mod+Enter": work }` while the component is shown; the latest bound goes first.
 *
 * While somebody writes in a field only Escape and Mod+… are heard. Work that returns false lets the key pass.
 */
export function useKeys(bindings, inputs = []) {
  // With what it belongs to, not a moment later: who types fast has pressed the next key by then.
  useLayoutEffect(() => {
    bound.push(bindings);
    return () => { bound.splice(bound.indexOf(bindings), 1); };
  }, inputs);
}

/** The same bindings, not heard while a dialog lies over them. */
export const beneath = (bindings) => Object.fromEntries(
  Object.entries(bindings).map(([key, work]) => [key, (event) => (document.querySelector("dialog:modal") ? false : work(event))]),
);
