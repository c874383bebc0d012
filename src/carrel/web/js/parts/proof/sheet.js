// A page as it was printed, with the quoted words marked and the others to be selected.
import { classes, html, useEffect, useLayoutEffect, useRef, useState } from "../../dom.js";
import { address, get, inPath } from "../../api.js";
import { useAsked, useMedia } from "../../asking.js";
import { useKeys } from "../../keys.js";
import { Icon } from "../icons.js";
import { Picture } from "../pictures.js";
import { Loading } from "../states.js";

const ZOOMS = [1, 1.25, 1.5, 2, 2.5, 3];
const WIDTHS = [600, 1000, 1400, 1800, 2400];
const MOST_WORDS = 4000;

/** `proof` on its page, and the pages before and after; `fail(problem)` where they cannot be shown. */
export function PageSheet({ proof, fail }) {
  const asked = useAsked((signal) => get(`/api/pages/${inPath(proof.paperId)}`, {}, { signal }), [proof.paperId]);
  useEffect(() => { if (asked.problem && !asked.problem.isOffline) fail(asked.problem); }, [asked.problem]);
  if (!asked.data?.pages.length) return html`<${Loading} lines="8" label="Loading the page" />`;
  return html`<${Leaves} proof=${proof} sheets=${asked.data} fail=${fail} />`;
}

function Leaves({ proof, sheets, fail }) {
  const [page, setPage] = useState(Math.min(proof.page, sheets.pages.length));
  const sheet = sheets.pages[page - 1];
  const boxes = proof.boxes.filter((box) => box.page === page);
  const isNarrow = useMedia("(max-width: 640px)");
  const [zoom, setZoom] = useState(isNarrow ? fitting(proof.boxes, sheet) : 1);
  const turn = (step) => setPage((old) => Math.max(1, Math.min(sheets.pages.length, old + step)));
  const magnify = (step) => setZoom((old) => nextZoom(old, step));
  useKeys({
    ArrowLeft: () => turn(-1), ArrowRight: () => turn(1),
    "+": () => magnify(1), "=": () => magnify(1), "-": () => magnify(-1),
  }, [sheets]);
  return html`
    <${Scrolled} page=${page} boxes=${boxes} sheet=${sheet} zoom=${zoom}>
      <${Sheet} key=${page} paper=${proof.paperId} version=${sheets.version} title=${proof.title} sheet=${sheet} boxes=${boxes} zoom=${zoom} fail=${fail} />
    <//>
    <footer class="proof-foot">
      <${Step} label="Previous page" icon="left" work=${() => turn(-1)} off=${page === 1} />
      <span class="proof-page" aria-live="polite">Page ${page} of ${sheets.total}</span>
      <${Step} label="Next page" icon="right" work=${() => turn(1)} off=${page === sheets.pages.length} />
      <${Quoted} proof=${proof} page=${page} setPage=${setPage} />
      <span class="proof-zoom">
        <${Step} label="Smaller" icon="zoomOut" work=${() => magnify(-1)} off=${zoom <= ZOOMS[0]} />
        <${Step} label="Larger" icon="zoomIn" work=${() => magnify(1)} off=${zoom >= ZOOMS.at(-1)} />
      </span>
    </footer>`;
}

const Step = ({ label, icon, work, off }) => html`
  <button class="icon-button" aria-label=${label} title=${label} disabled=${off} onClick=${work}><${Icon} name=${icon} size="18" /></button>`;

/** The pages that the quote is on, where it is not on this one alone. */
function Quoted({ proof, page, setPage }) {
  const pages = [...new Set(proof.boxes.map((box) => box.page))];
  const others = pages.filter((one) => one !== page);
  if (others.length === 0) return proof.boxes.length === 0 && html`<span class="faint small">Where on the page is not known</span>`;
  const name = pages.includes(page) ? "goes on on" : "is on";
  return html`<button class="button is-quiet small" onClick=${() => setPage(others[0])}>The quote ${name} page ${others[0]}</button>`;
}

/** On a small screen the column of the quote fills it. */
function fitting(boxes, sheet) {
  const here = boxes.filter((box) => box.page === boxes[0]?.page);
  const across = Math.max(...here.map((box) => box.right)) - Math.min(...here.map((box) => box.left));
  return here.length ? Math.max(1, Math.min(2.4, sheet.width / (across * 1.12))) : 1;
}

const nextZoom = (old, step) => (step > 0 ? ZOOMS.find((one) => one > old + 0.01) : ZOOMS.findLast((one) => one < old - 0.01)) ?? old;

/** The place where the page is looked at, with the quote in view when it comes. */
function Scrolled({ page, boxes, sheet, zoom, children }) {
  const element = useRef(null);
  useLayoutEffect(() => {
    const scroller = element.current;
    const paper = scroller.firstElementChild;
    const [first] = boxes;
    if (!first) { scroller.scrollTo(0, 0); return; }
    const middle = (Math.min(...boxes.map((box) => box.left)) + Math.max(...boxes.map((box) => box.right))) / 2 / sheet.width;
    scroller.scrollTo(
      paper.offsetLeft + middle * paper.offsetWidth - scroller.clientWidth / 2,
      paper.offsetTop + (first.top / sheet.height) * paper.offsetHeight - scroller.clientHeight / 4,
    );
  }, [page, zoom]);
  return html`<div class="proof-scroll is-page" ref=${element} tabindex="0" role="region" aria-label=${`Page ${page}`}>${children}</div>`;
}

const percent = (part, whole) => `${(part / whole) * 100}%`;

const placed = (box, sheet) => ({
  left: percent(box.left, sheet.width),
  top: percent(box.top, sheet.height),
  width: percent(box.right - box.left, sheet.width),
  height: percent(box.bottom - box.top, sheet.height),
});

function Sheet({ paper, version, title, sheet, boxes, zoom, fail }) {
  const source = `/api/pages/${inPath(paper)}/${sheet.page}`;
  const [width, setWidth] = useState(0);
  const [drawn, setDrawn] = useState(false);
  const element = useRef(null);
  useEffect(() => {
    const wanted = element.current.offsetWidth * devicePixelRatio;
    setWidth((old) => Math.max(old, WIDTHS.find((one) => one >= wanted * 0.95) ?? WIDTHS.at(-1)));
  }, [zoom]);
  return html`
    <div class=${classes("sheet", { "is-drawn": drawn })} ref=${element} style=${{ width: `${zoom * 100}%`, aspectRatio: `${sheet.width} / ${sheet.height}` }}>
      ${width > 0 && html`
        <${Picture} class="sheet-picture" src=${address(`${source}/image`, { width, version })} alt=${`Page ${sheet.page} of ${title}`} onLoad=${() => setDrawn(true)}
          failed=${html`<${Broken} source=${source} fail=${fail} />`} />`}
      ${boxes.map((box, index) => html`<span class="sheet-box" key=${index} aria-hidden="true" style=${placed(box, sheet)}></span>`)}
      <${Words} source=${source} sheet=${sheet} />
    </div>`;
}

/** Why a picture did not come is told by who was to make it. */
function Broken({ source, fail }) {
  useEffect(() => {
    get(`${source}/words`).then(() => fail({ message: `${source} could not be drawn` }), fail);
  }, []);
  return null;
}

function Words({ source, sheet }) {
  const { data } = useAsked((signal) => get(`${source}/words`, {}, { signal }), [source]);
  if (!data) return null;
  return html`
    <div class="sheet-words">
      ${data.words.slice(0, MOST_WORDS).map((word, index, all) => html`
        <span key=${index} style=${lettered(word, sheet)}>${`${word.text} `}</span>${isLast(word, all[index + 1]) && html`<br />`}`)}
    </div>`;
}

const isLast = (word, next) => !next || next.top > word.bottom || next.bottom < word.top || next.right < word.left;

const SIZE = 100;
const pen = document.createElement("canvas").getContext("2d");
pen.font = `${SIZE}px sans-serif`;

/** As large as the printed word, whatever letters it is printed in. */
function lettered(word, sheet) {
  const size = word.bottom - word.top;
  const drawn = (pen.measureText(word.text).width / SIZE) * size;
  return {
    left: percent(word.left, sheet.width),
    top: percent(word.top, sheet.height),
    fontSize: `${(size / sheet.width) * 100}cqw`,
    transform: `scaleX(${drawn ? (word.right - word.left) / drawn : 1})`,
  };
}
