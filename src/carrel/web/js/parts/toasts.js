// Short words at the foot of the page, with one thing that can be done about them.
import { html, useEffect, useState } from "../dom.js";
import { signal } from "../events.js";

const shown = signal([]);
const STAYS = 6000;
let latest = 0;

/** Say something: `say("Copied")`, `say("3 papers removed", { action: "Undo", work })`; gives what takes it back. */
export function say(message, { action = "", work = null, stays = STAYS, kind = "" } = {}) {
  latest += 1;
  const toast = { id: latest, message, action, work, kind };
  shown.set([...shown.value, toast].slice(-4));
  const close = () => shown.set(shown.value.filter((one) => one.id !== toast.id));
  toast.close = close;
  if (stays) setTimeout(close, stays);
  return close;
}

export function Toasts() {
  const [toasts, setToasts] = useState(shown.value);
  useEffect(() => shown.listen(setToasts), []);
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${toasts.map((toast) => html`
        <div class=${`toast ${toast.kind}`} key=${toast.id}>
          <span>${toast.message}</span>
          ${toast.action && html`<button class="toast-action" onClick=${() => { toast.close(); toast.work(); }}>${toast.action}</button>`}
          <button class="toast-close" aria-label="Close" onClick=${toast.close}>×</button>
        </div>`)}
    </div>`;
}
