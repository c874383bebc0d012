// What of the drawing is seen: `{ scale, x, y }`, where a place `[px, py]` is shown at `scale * px + x`.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "../../dom.js";

const SMALLEST = 0.15;
const LARGEST = 5;
const CLOSEST = 1.7;       // of a few concepts, which need not fill the room
const FLIGHT = 320;
const MARGIN = 12;

export const stillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const between = (least, value, most) => Math.min(most, Math.max(least, value));

/** How far names may reach beyond the outermost concepts; they are as large as ever, however small the drawing. */
export const beyond = ({ width }) => (width > 640 ? { across: 76, down: 34 } : { across: 44, down: 30 });

/** The left, right, upper and lower ends of places. */
export function reach(places) {
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
}

/** The camera that sees all of these places in a box of this size, the upper part of which is covered. */
export function fitted(places, size, { top }) {
  const { across, down } = beyond(size);
  const [left, right, first, last] = reach(places);
  const [width, height] = [size.width - 2 * (MARGIN + across), size.height - top - 2 * (MARGIN + down)];
  const scale = between(SMALLEST, Math.min(width / (right - left || 1), height / (last - first || 1)), CLOSEST);
  return { scale, x: (size.width - scale * (left + right)) / 2, y: (top + size.height - scale * (first + last)) / 2 };
}

/** Closer or wider by a factor; what is at the point stays there. */
export function zoomed(camera, factor, { x, y }) {
  const scale = between(SMALLEST, camera.scale * factor, LARGEST);
  const by = scale / camera.scale;
  return { scale, x: x - (x - camera.x) * by, y: y - (y - camera.y) * by };
}

export const shown = ({ scale, x, y }, [px, py]) => [scale * px + x, scale * py + y];

/** The same camera with a place in the middle. */
export const centred = ({ scale }, [px, py], { width, height }) => ({ scale, x: width / 2 - scale * px, y: height / 2 - scale * py });

/** Whether a place is well inside what is seen. */
export function isSeen(camera, place, { width, height }, margin = 24) {
  const [x, y] = shown(camera, place);
  return x > margin && x < width - margin && y > margin && y < height - margin;
}

const mixed = (from, to, share) =>
  Object.fromEntries(Object.keys(to).map((name) => [name, from[name] + (to[name] - from[name]) * share]));

/** Do `work(share)` for share 0…1 of a short while; gives what stops it. */
function during(work) {
  const begun = performance.now();
  let frame = requestAnimationFrame(function step(now) {
    const share = Math.min(1, (now - begun) / FLIGHT);
    work(1 - (1 - share) ** 3);
    if (share < 1) frame = requestAnimationFrame(step);
  });
  return () => cancelAnimationFrame(frame);
}

/** `{ camera, setCamera, fly }`; null until it first flies somewhere. */
export function useCamera() {
  const [camera, setCamera] = useState(null);
  const latest = useRef(null);
  const stop = useRef(() => {});
  latest.current = camera;
  const set = useCallback((change) => { stop.current(); setCamera(change); }, []);
  const fly = useCallback((target) => {
    stop.current();
    const from = latest.current;
    if (from === null || stillness()) setCamera(target);
    else stop.current = during((share) => setCamera(mixed(from, target, share)));
  }, []);
  useEffect(() => () => stop.current(), []);
  return { camera, setCamera: set, fly };
}

/** Places on their way to where they are to be; what is `fresh` grows out of what it is joined to. */
export function useMoving(places, fresh, origin) {
  const [share, setShare] = useState(1);
  const start = useRef(places);
  const latest = useRef(places);
  useLayoutEffect(() => {
    start.current = latest.current;
    const isOther = ![...places.keys()].some((key) => start.current.has(key));
    if (isOther || fresh.size === 0 || stillness()) { setShare(1); return undefined; }
    setShare(0);
    return during(setShare);
  }, [fresh]);
  latest.current = places;
  if (share === 1) return places;
  const from = (key) => start.current.get(key) ?? start.current.get(origin(key)) ?? places.get(key);
  return new Map([...places].map(([key, [x, y]]) => {
    const [fromX, fromY] = from(key);
    return [key, [fromX + (x - fromX) * share, fromY + (y - fromY) * share]];
  }));
}
