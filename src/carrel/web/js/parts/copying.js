// To the clipboard, also where the browser has none for pages that came unencrypted.
import { html, useState } from "../dom.js";
import { Icon } from "./icons.js";
import { say } from "./toasts.js";

/** Copy a text, or the one that a promise brings. */
export async function copy(text) {
  if (navigator.clipboard?.write && globalThis.ClipboardItem) {
    const content = Promise.resolve(text).then((words) => new Blob([words], { type: "text/plain" }));
    // A browser may ask that writing begins while the click is still fresh, whenever its words come.
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": content })]);
  } else {
    copyBySelection(await text);
  }
}

function copyBySelection(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("This browser lets no page copy. Select the words and copy them yourself.");
}

/** A button that copies and says so. */
export function Copy({ text, label }) {
  const [copied, setCopied] = useState(false);
  const work = () => copy(text).then(() => {
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  }, (problem) => say(problem.message));
  return html`
    <button class="button is-quiet" onClick=${work}><${Icon} name=${copied ? "check" : "copy"} size="16" />${copied ? "Copied" : label}</button>`;
}
