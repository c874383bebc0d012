// What an answer is made of: how sure it is, what it says, and what proves it.
import { html } from "../dom.js";
import { shortAuthors } from "../wording.js";
import { instead } from "./links.js";
import { Notice, PaperLink } from "./papers.js";
import { proofAddress } from "./proof/address.js";

const WORDS = {
  high: "Well supported",
  medium: "Fairly supported",
  low: "Weakly supported",
  insufficient: "Not enough evidence",
};

/** "96 %", and never certain. */
const percentage = (probability) =>
  probability > 0.99 ? "over 99 %" : probability < 0.01 ? "under 1 %" : `${Math.round(probability * 100)} %`;

/** How well the evidence supports an answer, in words and colour. */
export const Confidence = ({ level, probability, threshold }) => html`
  <p class="answer-confidence">
    <span class=${`chip is-${level}`}>${WORDS[level] ?? level}</span>
    <span class="answer-confidence-told">${likelihood(level, probability, threshold)}</span>
  </p>`;

function likelihood(level, probability, threshold) {
  if (probability === null || probability === undefined) return "Nothing could tell how likely it is that the evidence holds an answer.";
  const asked = level === "insufficient" && threshold ? `; ${percentage(threshold)} is asked for` : "";
  return `The evidence holds an answer with a probability of ${percentage(probability)}${asked}.`;
}

/** The statements of a text in which `[n]` are marks: `{ text, citations }`. */
export const statements = (text) => text.split("\n").filter((line) => line.trim()).map((line) => ({
  text: line.replace(/\s*\[\d+\]/g, "").trim(),
  citations: Array.from(line.matchAll(/\[(\d+)\]/g), (match) => Number(match[1])),
}));

/** `look(citation, element)` when a mark is hovered or focused, `look(null)` when it is left; `open(citation)` when clicked. */
function Mark({ citation, current, look, open }) {
  const show = (event) => look(citation, event.currentTarget);
  const who = [shortAuthors(citation.authors), citation.year].filter(Boolean).join(" ");
  return html`
    <a class="citation-mark" href=${proofAddress(citation)} data-citation=${citation.id} onClick=${instead(() => open(citation))}
      aria-label=${`Citation ${citation.id}: ${who || citation.title}`} aria-current=${citation.id === current ? "true" : null}
      onMouseEnter=${show} onFocus=${show} onMouseLeave=${() => look(null)} onBlur=${() => look(null)}>${citation.id}</a>`;
}

/** Each statement with its marks, as one reads it. */
export const Said = ({ said, citations, ...shown }) => html`
  <div class="answer-said">
    ${said.map(({ text, citations: numbers }, index) => {
      const [beginning, word] = lastWord(text);
      return html`
        <p key=${index} dir="auto">${beginning}<span class="unbroken">${word}${cited(citations, numbers).map((citation) => html`
          <sup key=${citation.id}><${Mark} citation=${citation} ...${shown} /></sup>`)}</span></p>`;
    })}
  </div>`;

const cited = (citations, numbers) => numbers.map((number) => citations.find((one) => one.id === number)).filter(Boolean);

/** No mark begins a line: it stays with the word before it, if that is a short one. */
function lastWord(text) {
  const [, beginning, word] = /^([\s\S]*\s)(\S{1,20})$/.exec(text) ?? [null, text, ""];
  return [beginning, word];
}

/** The papers that are cited, each with its quotes. */
export function References({ citations, ...shown }) {
  const papers = grouped(citations, (one) => one.paperId);
  return html`
    <section class="answer-references" aria-label="References">
      <h3 class="section-title">References</h3>
      <ol>${[...papers].map(([id, quotes]) => html`
        <li key=${id}>
          <p class="answer-reference">
            <${PaperLink} id=${id} title=${quotes[0].title} /> <span class="answer-reference-by"><bdi>${shortAuthors(quotes[0].authors)}</bdi> ${quotes[0].year}</span>
            ${quotes[0].flags.map((flag) => html` <${Notice} key=${flag.notice} notice=${flag.notice} />`)}
          </p>
          ${quotes.map((citation) => html`<${Quote} key=${citation.id} citation=${citation} ...${shown} />`)}
        </li>`)}
      </ol>
    </section>`;
}

/** Lists by what they have in common, in the order in which that first appears. */
export function grouped(items, named) {
  const groups = new Map();
  for (const item of items) groups.set(named(item), [...(groups.get(named(item)) ?? []), item]);
  return groups;
}

const Quote = ({ citation, ...shown }) => html`
  <p class="answer-quote">
    <${Mark} citation=${citation} ...${shown} />
    <bdi class="answer-quote-words" onClick=${() => shown.open(citation)}>${citation.quote}</bdi>
    ${citation.page && html`<span class="answer-quote-page">p. ${citation.page}</span>`}
  </p>`;
