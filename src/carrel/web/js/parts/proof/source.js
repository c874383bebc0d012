// A quote in the text that it was read from.
import { html, useEffect, useRef } from "../../dom.js";
import { inPath } from "../../api.js";
import { instead } from "../links.js";

/** Marks that a converter left for its own links are no words of the paper. */
export const plain = (text) => text.replace(/<(span|a)\s(?:id|name)="[^"]*">\s*<\/\1>/g, "");

const CUT = 1200;
const length = (text) => [...text].length;

/** What stands before, from where it can be read: without a record in front, without half a sentence. */
export function begun(before, start) {
  if (length(before) === start) return plain(before.replace(/^---\n[\s\S]*?\n---\n/, ""));
  if (length(before) < CUT) return plain(before);
  const sentence = /\n\s*\n|[.!?]\s+(?=\S)/.exec(before);
  return `… ${plain(before.slice(sentence ? sentence.index + sentence[0].length : 0))}`;
}

export const ended = (after) => (length(after) < CUT ? plain(after) : `${plain(after.replace(/\s+\S*$/, ""))} …`);

/** Paragraphs of pieces, `{ text, isQuote }`. */
export function paragraphs({ before, quote, after, start }) {
  const blocks = [[]];
  for (const [text, isQuote] of [[begun(before, start), false], [quote, true], [ended(after), false]]) {
    text.split(/\n[ \t]*\n\s*/).forEach((part, index) => {
      if (index) blocks.push([]);
      if (part) blocks.at(-1).push({ text: part, isQuote });
    });
  }
  return blocks.filter((pieces) => pieces.some((piece) => piece.text.trim()));
}

const isHeading = ([piece, ...others]) => others.length === 0 && !piece.isQuote && /^#{1,6}\s/.test(piece.text);
const isLined = ([piece]) => /^\s*(\||```|[-*]\s|\d+[.)]\s)/.test(piece.text);

function Block({ pieces }) {
  if (isHeading(pieces)) return html`<p class="proof-source-heading" dir="auto">${pieces[0].text.replace(/^#+\s+/, "")}</p>`;
  return html`
    <p dir="auto" class=${isLined(pieces) ? "is-lined" : null}>
      ${pieces.map(({ text, isQuote }, index) => (isQuote ? html`<mark key=${index}>${text}</mark>` : text))}
    </p>`;
}

/** The quote among its neighbours, in view; a whole passage stands out by its ink alone. */
export function SourceText({ proof, isWhole, visit, noPage }) {
  const element = useRef(null);
  useEffect(() => {
    const scroller = element.current;
    const mark = scroller.querySelector("mark");
    if (mark) scroller.scrollTop = mark.getBoundingClientRect().top - scroller.getBoundingClientRect().top - scroller.clientHeight / 4;
  }, []);
  return html`
    <div class="proof-scroll" ref=${element} tabindex="0" role="region" aria-label="Text">
      <article class=${isWhole ? "proof-source is-whole" : "proof-source"}>
        <${Neighbour} to=${proof.previous} name="Before this" visit=${visit} />
        ${paragraphs(proof).map((pieces, index) => html`<${Block} key=${index} pieces=${pieces} />`)}
        <${Neighbour} to=${proof.next} name="After this" visit=${visit} />
        ${noPage && html`<p class="proof-source-note">${noPage}</p>`}
      </article>
    </div>`;
}

function Neighbour({ to, name, visit }) {
  if (!to) return null;
  return html`
    <a class="proof-neighbour" href=${`/proof/${inPath(to.address)}`} onClick=${visit && instead(() => visit(to.address))}>
      <span>${name}</span><bdi>${plain(to.preview)}</bdi>
    </a>`;
}
