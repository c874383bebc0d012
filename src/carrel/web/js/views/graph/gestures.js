// Mouse, pen and fingers on the drawing: pan, zoom, pinch, drag, point at, tap, tap twice.
import { useEffect, useRef } from "../../dom.js";
import { zoomed } from "./camera.js";

const STILL = 5;        // pixels that a hand may tremble
const TWICE = 350;

/** What of the drawing is under an event: `{ key }` of a concept, `{ link }`, or nothing. */
function under(event) {
  const found = document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-key], [data-link]");
  return found ? { key: found.dataset.key ?? null, link: found.dataset.link ?? null } : { key: null, link: null };
}

/** Hear of what is done on `element`: `setCamera(change)`, `drag(key, dx, dy)`, `point(what)`, `tap(what)`, `tapTwice(what)`. */
export function useGestures(element, handlers) {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const box = element.current;
    const hand = handed(box, latest);
    for (const [name, work] of Object.entries(hand)) box.addEventListener(name, work, { passive: false });
    return () => { for (const [name, work] of Object.entries(hand)) box.removeEventListener(name, work); };
  }, [element.current]);
}

function handed(box, latest) {
  const down = new Map();
  let held = null;
  let last = { at: 0, key: null };
  const inside = ({ clientX, clientY }) => {
    const { left, top } = box.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const release = (event) => {
    down.delete(event.pointerId);
    const what = held;
    if (down.size === 0) { held = null; box.classList.remove("is-held"); }
    return what;
  };
  return {
    pointerdown(event) {
      if (event.button !== 0 || event.target.closest("button, a, input, select, summary, details")) return;
      down.set(event.pointerId, inside(event));
      held = down.size === 1 ? { ...under(event), from: inside(event), moved: false } : { ...held, moved: true, key: null };
      box.setPointerCapture(event.pointerId);
    },
    pointermove(event) {
      if (!down.has(event.pointerId)) {
        if (event.pointerType === "mouse") latest.current.point(under(event));
        return;
      }
      const [before, now] = [down.get(event.pointerId), inside(event)];
      const isFar = Math.hypot(now.x - held.from.x, now.y - held.from.y) > STILL;
      if (!held.moved && !isFar) return;
      held.moved = true;
      box.classList.add("is-held");
      const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
      if (other) pinch(before, now, other);
      else if (held.key !== null) latest.current.drag(held.key, now.x - before.x, now.y - before.y);
      else latest.current.setCamera((old) => ({ ...old, x: old.x + now.x - before.x, y: old.y + now.y - before.y }));
      down.set(event.pointerId, now);
    },
    pointerup(event) {
      if (!down.has(event.pointerId)) return;
      const what = release(event);
      if (!what || what.moved) return;
      const isSecond = what.key !== null && what.key === last.key && event.timeStamp - last.at < TWICE;
      last = isSecond ? { at: 0, key: null } : { at: event.timeStamp, key: what.key };
      if (isSecond) latest.current.tapTwice(what);
      else latest.current.tap(what);
    },
    pointercancel: release,
    pointerleave() { latest.current.point({ key: null, link: null }); },
    wheel(event) {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      const factor = Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016));
      const at = inside(event);
      latest.current.setCamera((old) => zoomed(old, factor, at));
    },
  };

  function pinch(before, now, other) {
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    const factor = Math.hypot(now.x - other.x, now.y - other.y) / (Math.hypot(before.x - other.x, before.y - other.y) || 1);
    latest.current.setCamera((old) => zoomed({ ...old, x: old.x + (now.x - before.x) / 2, y: old.y + (now.y - before.y) / 2 }, factor, middle));
  }
}
