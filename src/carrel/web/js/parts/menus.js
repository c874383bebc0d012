// A button with a few things to choose from.
import { html, useEffect, useRef, useState } from "../dom.js";
import { useKeys } from "../keys.js";
import { Icon } from "./icons.js";

/** `items` are `{ name, work }`. */
export function Menu({ label, icon, items, disabled = false }) {
  const [isOpen, setOpen] = useState(false);
  const element = useRef(null);
  const button = useRef(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    element.current.querySelector("[role=menuitem]").focus();
    const leave = (event) => element.current.contains(event.target) || setOpen(false);
    addEventListener("pointerdown", leave);
    return () => removeEventListener("pointerdown", leave);
  }, [isOpen]);
  const close = () => { setOpen(false); button.current.focus(); };
  return html`
    <span class="menu" ref=${element}>
      <button class="button is-quiet" ref=${button} aria-haspopup="menu" aria-expanded=${isOpen} disabled=${disabled} onClick=${() => setOpen(!isOpen)}>
        <${Icon} name=${icon} size="16" />${label}
      </button>
      ${isOpen && html`<${Items} label=${label} items=${items} close=${close} leave=${() => setOpen(false)} />`}
    </span>`;
}

function Items({ label, items, close, leave }) {
  const element = useRef(null);
  useKeys({ Escape: close });
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Tab") leave();
    if (!step) return;
    event.preventDefault();
    const all = [...element.current.children];
    all.at((all.indexOf(document.activeElement) + step) % all.length).focus();
  };
  return html`
    <div class="menu-items" role="menu" aria-label=${label} ref=${element} onKeyDown=${move}>
      ${items.map(({ name, work }) => html`
        <button key=${name} role="menuitem" tabindex="-1" onClick=${() => { close(); work(); }}>${name}</button>`)}
    </div>`;
}
