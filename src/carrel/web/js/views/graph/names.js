// The names on a drawing: as many as find room, the important ones first.
import { useEffect, useState } from "../../dom.js";
import { reach } from "./camera.js";
import { forgetMeasures, lines, measured, placed } from "./labels.js";
import { fontOf, heightOf } from "./marks.js";
import { byImportance } from "./model.js";

// The landmarks of a map: their names are written, whatever is in the way.
const MAIN = 12;
const RING = 5;

/** A number that changes when the page's own fonts have come: until then every measure of a name is another's. */
export function useInk() {
  const [inked, setInked] = useState(0);
  useEffect(() => { document.fonts.ready.then(() => { forgetMeasures(); setInked((number) => number + 1); }); }, []);
  return inked;
}

/** `{ key, texts, font, width, corner }` of each name that is written.
 *
 * Concepts stand `at(key)` and are as large as `radius(node)`. The keys in `first` are those somebody looks at, then come
 * `steps` of a study path and what is `near`. No name reaches farther beyond all concepts than `across` and `down`.
 */
export function written(graph, at, radius, { first, near, steps }, { across, down }) {
  const family = getComputedStyle(document.documentElement).getPropertyValue("--sans");
  const main = new Set(byImportance(graph).slice(0, MAIN).map((node) => node.key));
  const wanted = [...graph.nodes.values()].map((node) => {
    const { key, importance } = node;
    const [isFirst, isStep, isNear] = [first.includes(key), steps.has(key), near.has(key)];
    return {
      ...measures(node, family),
      ...stance(node, at),
      key,
      isFirst,
      radius: radius(node) + (isFirst ? RING : 0),
      must: isFirst || isStep || isNear || main.has(key),
      weight: (isFirst ? 4 : 0) + (isStep ? 2 : 0) + (isNear ? 1 : 0) + importance,
    };
  });
  wanted.sort((one, other) => other.weight - one.weight);
  const [left, right, top, bottom] = reach(wanted.map(({ x, y }) => [x, y]));
  const corners = placed(wanted, { left: left - across, right: right + across, top: top - down, bottom: bottom + down });
  return wanted.filter(({ key }) => corners.has(key)).map((one) => ({ ...one, corner: corners.get(one.key) }));
}

function measures(node, family) {
  const [texts, font] = [lines(node.name), fontOf(node)];
  return { texts, font, width: measured(texts, font, family), height: heightOf(texts, font) };
}

/** Where a concept stands, and the direction its lines do not come from; of one in the midst of them, below. */
function stance(node, at) {
  const [x, y] = at(node.key);
  let [across, down] = [0, 0];
  for (const key of node.near) {
    const [otherX, otherY] = at(key);
    const length = Math.hypot(x - otherX, y - otherY) || 1;
    across += (x - otherX) / length;
    down += (y - otherY) / length;
  }
  const length = Math.hypot(across, down);
  return { x, y, away: length < 0.5 ? [0, 0.3] : [across / length, down / length] };
}
