// Which names are written, and where: the important ones first, none over another.

const CELL = 80;
const AIR = 2.5;
// Below, above, at the sides, and between these.
const BESIDE = [
  [0, 1], [0, -1], [1, 0], [-1, 0], [0.85, 0.75], [-0.85, 0.75], [0.85, -0.75], [-0.85, -0.75], [0.45, 1], [-0.45, 1], [0.45, -1], [-0.45, -1],
];

const phone = matchMedia("(max-width: 640px)");

/** On a small screen names are shorter and smaller. */
export const isSmall = () => phone.matches;

/** A name in one or two lines, cut where it is longer. */
export function lines(name) {
  const longest = isSmall() ? 17 : 24;
  const text = name.replace(/\s+/g, " ").trim();
  const letters = [...text];
  if (letters.length <= longest) return [text];
  const middle = Math.min(longest, Math.ceil(letters.length / 2) + 2);
  const at = letters.slice(0, middle + 1).lastIndexOf(" ");
  if (at < 3) return [short(text, longest)];
  return [letters.slice(0, at).join(""), short(letters.slice(at + 1).join(""), longest)];
}

const short = (text, longest) => ([...text].length <= longest ? text : `${[...text].slice(0, longest - 1).join("").trimEnd()}…`);

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();

/** How wide the longest of the lines is, in pixels. */
export function measured(texts, size, family) {
  const known = `${size}\n${family}\n${texts.join("\n")}`;
  if (!widths.has(known)) {
    pen.font = `500 ${size}px ${family}`;
    widths.set(known, Math.max(...texts.map((text) => pen.measureText(text).width)));
  }
  return widths.get(known);
}

/** Measures that were taken before the page's own font was there are none. */
export const forgetMeasures = () => widths.clear();

/** The left upper corners of the labels that find room within the bounds, by key.
 *
 * Each of `wanted`, the most important first, is `{ key, x, y, radius, width, height, away, must, isFirst }`: `away` is the
 * direction nothing comes from; `must` is, where there is no other room, written over a concept's mark, and what `isFirst`
 * beyond the bounds, but never over another name.
 */
export function placed(wanted, bounds) {
  const taken = new Grid();
  for (const { key, x, y, radius } of wanted) {
    taken.add({ left: x - radius, top: y - radius, right: x + radius, bottom: y + radius, key, isMark: true });
  }
  const found = new Map();
  for (const label of wanted) {
    const beside = candidates(label);
    const inside = beside.filter((one) => isInside(one, bounds));
    const box = inside.find((one) => !taken.hits(one, label.key)) ?? (label.must && anywhere(inside, beside, label, taken));
    if (!box) continue;
    taken.add(box);
    found.set(label.key, { x: box.left + AIR, y: box.top + AIR });
  }
  return found;
}

/** Over marks, if need be; what somebody looks at also beyond the bounds. */
const anywhere = (inside, beside, { key, isFirst }, taken) =>
  [...inside, ...(isFirst ? beside : [])].find((one) => !taken.hits(one, key, { marks: false }));

const isInside = (box, bounds) =>
  box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top && box.bottom <= bounds.bottom;

function candidates({ key, x, y, radius, width, height, away }) {
  const sides = BESIDE.map((side, order) => ({ side, cost: order * 0.08 - (side[0] * away[0] + side[1] * away[1]) }));
  sides.sort((one, other) => one.cost - other.cost);
  return sides.map(({ side: [across, down] }) => {
    const left = x - width / 2 + across * (radius + 3 + width / 2);
    const top = y - height / 2 + down * (radius + 1 + height / 2);
    return { left: left - AIR, top: top - AIR, right: left + width + AIR, bottom: top + height + AIR, key, isMark: false };
  });
}

/** Boxes by where they are. */
class Grid {
  #cells = new Map();

  add(box) {
    for (const cell of cellsOf(box)) {
      if (!this.#cells.has(cell)) this.#cells.set(cell, []);
      this.#cells.get(cell).push(box);
    }
  }

  hits(box, key, { marks = true } = {}) {
    return cellsOf(box).some((cell) => (this.#cells.get(cell) ?? []).some((other) =>
      other.key !== key && (marks || !other.isMark) && overlap(box, other)));
  }
}

const overlap = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

function cellsOf({ left, top, right, bottom }) {
  const cells = [];
  for (let across = Math.floor(left / CELL); across <= Math.floor(right / CELL); across += 1) {
    for (let down = Math.floor(top / CELL); down <= Math.floor(bottom / CELL); down += 1) cells.push(`${across} ${down}`);
  }
  return cells;
}
