// What a figure, table or algorithm looks like: its picture, its place on the page, or its text.
import { html, useEffect, useState } from "../dom.js";
import { get, inPath } from "../api.js";
import { Icon } from "./icons.js";
import { Picture } from "./pictures.js";

const MARGIN = 6;
const FEW_ROWS = 9;
const FEW_COLUMNS = 5;

const capitalised = (word) => `${word[0].toUpperCase()}${word.slice(1)}`;
export const labelOf = (figure) => figure.label || capitalised(figure.figureKind);

/** The caption without the label that it often begins with. */
export function captionOf({ label, caption, description }) {
  const said = caption || description;
  const repeats = label && said.toLowerCase().startsWith(label.toLowerCase());
  return repeats ? said.slice(label.length).replace(/^[\s.:–—-]+/, "") || said : said;
}

/** `large` is for looking at it alone. */
export function Look({ figure, large = false }) {
  const otherwise = html`<${Textual} figure=${figure} large=${large} />`;
  if (figure.imageUrl) return html`<${Picture} src=${figure.imageUrl} alt=${captionOf(figure) || labelOf(figure)} failed=${otherwise} />`;
  return figure.box ? html`<${Cutting} figure=${figure} large=${large} otherwise=${otherwise} />` : otherwise;
}

const asked = new Map();
addEventListener("carrel:changed", () => asked.clear());

/** Page number → its size, of the paper that a figure is in; null where its pages cannot be shown. */
function pagesOf(figure) {
  if (!asked.has(figure.paperId)) asked.set(figure.paperId, sizes(figure).catch(() => null));
  return asked.get(figure.paperId);
}

async function sizes(figure) {
  const { hasPages } = await get(`/api/proof/${inPath(figure.address)}`);
  if (!hasPages) return null;
  const { pages } = await get(`/api/pages/${inPath(figure.paperId)}`);
  return new Map(pages.map((page) => [page.page, page]));
}

/** Cut out of its page, where that can be shown. */
function Cutting({ figure, large, otherwise }) {
  const [pages, setPages] = useState(undefined);
  useEffect(() => {
    let isGone = false;
    pagesOf(figure).then((found) => isGone || setPages(found));
    return () => { isGone = true; };
  }, [figure.address]);
  if (pages === undefined) return null;
  const page = pages?.get(figure.box.page);
  if (!page) return otherwise;
  const cut = around(figure.box, page);
  const src = `/api/pages/${inPath(figure.paperId)}/${figure.box.page}/image?width=${large ? 1600 : 800}`;
  const share = (length, whole) => `${(100 * length) / whole}%`;
  const placed = { width: share(page.width, cut.width), left: share(-cut.left, cut.width), top: share(-cut.top, cut.height) };
  return html`
    <span class=${cut.width * 3 > cut.height * 4 ? "cutting is-broad" : "cutting"} style=${{ aspectRatio: `${cut.width} / ${cut.height}` }}>
      <${Picture} src=${src} alt=${captionOf(figure) || labelOf(figure)} failed=${otherwise} style=${placed} />
    </span>`;
}

function around(box, page) {
  const left = Math.max(0, box.left - MARGIN);
  const top = Math.max(0, box.top - MARGIN);
  return {
    left, top,
    width: Math.max(1, Math.min(page.width, box.right + MARGIN) - left),
    height: Math.max(1, Math.min(page.height, box.bottom + MARGIN) - top),
  };
}

const isRule = (cells) => cells.every((cell) => /^:?-+:?$/.test(cell));
const cellsOf = (line) => line.replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

/** Rows of a table that is written with bars; none where there is no such table. */
const rowsOf = (text) =>
  text.split("\n").filter((line) => line.trim().startsWith("|")).map((line) => cellsOf(line.trim())).filter((cells) => !isRule(cells));

const IMAGE = /!\[[^\]]*\]\([^)]*\)/g;

/** What it says besides its caption. */
const wordsOf = ({ text, caption, description }) =>
  [caption, description].filter(Boolean).reduce((rest, said) => rest.replace(said, () => ""), text.replace(IMAGE, "")).trim();

function Textual({ figure, large }) {
  const rows = rowsOf(figure.text);
  const words = wordsOf(figure);
  if (rows.length > 1) return html`<${Table} rows=${large ? rows : rows.slice(0, FEW_ROWS).map((row) => row.slice(0, FEW_COLUMNS))} />`;
  if (words) return html`<pre class="figure-words" dir="auto">${large ? words : words.slice(0, 600)}</pre>`;
  return html`
    <span class="no-picture">
      <${Icon} name=${figure.figureKind === "figure" ? "figure" : "page"} size="28" /><span>${figure.figureKind} without a picture</span>
    </span>`;
}

const Table = ({ rows: [head, ...rows] }) => html`
  <table class="figure-table">
    <thead><tr>${head.map((cell, index) => (cell ? html`<th key=${index} scope="col">${cell}</th>` : html`<td key=${index}></td>`))}</tr></thead>
    <tbody>${rows.map((row, index) => html`<tr key=${index}>${row.map((cell, column) => html`<td key=${column}>${cell}</td>`)}</tr>`)}</tbody>
  </table>`;
