// A list of any length of which only what is seen is there.
import { html, useEffect, useRef, useState } from "../dom.js";

const BEYOND = 8;

/** Rows of one height: `row(index)` makes one, `seen(first, last)` hears which are looked at. */
export function VirtualList({ total, height, row, seen = () => {}, label, role = "list" }) {
  const element = useRef(null);
  const [view, setView] = useState({ top: 0, size: 800 });
  useEffect(() => {
    const box = element.current;
    const look = () => setView({ top: box.scrollTop, size: box.clientHeight });
    const watching = new ResizeObserver(look);
    watching.observe(box);
    box.addEventListener("scroll", look, { passive: true });
    look();
    return () => { watching.disconnect(); box.removeEventListener("scroll", look); };
  }, []);
  const first = Math.max(0, Math.floor(view.top / height) - BEYOND);
  const last = Math.min(total, Math.ceil((view.top + view.size) / height) + BEYOND);
  useEffect(() => seen(first, last), [first, last, total]);
  return html`
    <div class="virtual" ref=${element} role=${role} aria-label=${label} tabindex="-1">
      <div class="virtual-all" style=${{ height: `${total * height}px` }}>
        <div class="virtual-seen" style=${{ transform: `translateY(${first * height}px)` }}>
          ${Array.from({ length: Math.max(0, last - first) }, (_, offset) => row(first + offset))}
        </div>
      </div>
    </div>`;
}
