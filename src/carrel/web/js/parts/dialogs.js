// A question that must be answered first.
import { html, useEffect, useRef } from "../dom.js";

/** A modal dialog; closes by Escape, by its button, and where it was not. */
export function Dialog({ title, close, children, wide = false }) {
  const element = useRef(null);
  useEffect(() => {
    const opener = document.activeElement;
    element.current.showModal();
    // It is gone by then, and the focus with it.
    return () => { if (document.activeElement === document.body) opener?.focus?.(); };
  }, []);
  // Chromium closes it at a second Escape, whatever was said to the first.
  const closed = () => {
    if (close) close();
    else if (element.current?.isConnected) element.current.showModal();
  };
  return html`
    <dialog ref=${element} class=${wide ? "dialog is-wide" : "dialog"} aria-label=${title}
      onCancel=${(event) => { if (event.target === element.current) { event.preventDefault(); close?.(); } }}
      onClose=${closed}
      onClick=${(event) => event.target === element.current && close?.()}>
      <header class="dialog-head">
        <h2>${title}</h2>
        ${close && html`<button class="icon-button" aria-label="Close" onClick=${close}>×</button>`}
      </header>
      <div class="dialog-body">${children}</div>
    </dialog>`;
}
