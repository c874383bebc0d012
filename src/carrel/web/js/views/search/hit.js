// A passage that was found: what it says, where it stands, and why it is here.
import { html, useState } from "../../dom.js";
import { get, inPath } from "../../api.js";
import { useAsked } from "../../asking.js";
import { plural } from "../../wording.js";
import { Ledger } from "../../parts/explain.js";
import { Byline, Notice, PaperLink } from "../../parts/papers.js";
import { Failure, Loading } from "../../parts/states.js";
import { excerpt, flowing, Marked } from "./marking.js";

export const proofOf = (address) => `/proof/${inPath(address)}`;

/** `explained` is `{ open, toggle, asked }`: whether the ledger is open, and what was heard of it. */
export function Hit({ hit, paper, terms, explained }) {
  const [isAround, setAround] = useState(false);
  const [areSame, setSame] = useState(false);
  return html`
    <article class="hit" tabindex="-1" data-address=${hit.address} aria-label=${`${hit.rank}. ${hit.title}`}>
      <span class="hit-rank" aria-hidden="true">${hit.rank}</span>
      <h2 class="hit-title"><${PaperLink} id=${hit.paperId} title=${hit.title} /> <${Notice} notice=${hit.notice} /></h2>
      <p class="hit-place">
        <${Byline} authors=${paper?.authors} year=${hit.year} />
        <${Place} hit=${hit} />
      </p>
      <${Passage} text=${hit.text} terms=${terms} />
      <p class="hit-tools">
        <a class="tool" href=${proofOf(hit.address)}>Proof</a>
        <button class="tool" aria-expanded=${explained.open} onClick=${explained.toggle}>Explain</button>
        <button class="tool" aria-expanded=${isAround} onClick=${() => setAround(!isAround)}>Around it</button>
        ${hit.duplicates.length > 0 && html`
          <button class="tool" aria-expanded=${areSame} onClick=${() => setSame(!areSame)}>${plural(hit.duplicates.length, "other says", "others say")} the same</button>`}
      </p>
      ${areSame && html`
        <ul class="hit-more same">${hit.duplicates.map((address) => html`<li key=${address}><a href=${proofOf(address)}><bdi>${address}</bdi></a></li>`)}</ul>`}
      ${isAround && html`<${Around} address=${hit.address} />`}
      ${explained.open && html`<${Explained} asked=${explained.asked} />`}
      ${hit.passages?.length > 0 && html`<${Others} passages=${hit.passages} terms=${terms} />`}
    </article>`;
}

const Place = ({ hit }) => html`
  <span class="place">
    ${hit.sectionPath.map((name, index) => html`<bdi key=${index}>${name}</bdi>`)}
    ${hit.page !== null && html`<span>p. ${hit.page}</span>`}
  </span>`;

/** What it says: of a long one the stretch that answers best, and the whole on demand. */
function Passage({ text: stored, terms }) {
  const text = flowing(stored);
  const [isWhole, setWhole] = useState(false);
  const { start, end } = isWhole ? { start: 0, end: text.length } : excerpt(text, terms);
  const isLong = isWhole || start > 0 || end < text.length;
  return html`
    <p class="hit-text" dir="auto">
      ${start > 0 && "… "}<${Marked} text=${text.slice(start, end)} terms=${terms} />${end < text.length && " …"}
      ${isLong && html` <button class="plain-link" aria-expanded=${isWhole} onClick=${() => setWhole(!isWhole)}>${isWhole ? "less" : "more"}</button>`}
    </p>`;
}

function Around({ address }) {
  const asked = useAsked((until) => get(`/api/chunks/${inPath(address)}`, {}, { signal: until }), [address]);
  if (asked.problem) return html`<${Failure} problem=${asked.problem} again=${asked.again} />`;
  if (!asked.data) return html`<${Loading} lines="2" />`;
  const { previous, next } = asked.data;
  if (!previous && !next) return html`<p class="hit-more faint">Nothing stands before or after it.</p>`;
  return html`
    <dl class="hit-more around">
      ${previous && html`<div><dt>Before</dt><dd><a href=${proofOf(previous.address)}><bdi>${previous.preview}</bdi></a></dd></div>`}
      ${next && html`<div><dt>After</dt><dd><a href=${proofOf(next.address)}><bdi>${next.preview}</bdi></a></dd></div>`}
    </dl>`;
}

function Explained({ asked }) {
  if (asked.problem) return html`<${Failure} problem=${asked.problem} again=${asked.again} />`;
  if (asked.loading) return html`<${Loading} lines="3" label="Explaining" />`;
  if (!asked.hit) return html`<p class="hit-more faint">The library has changed: this is not found like this any more. Search again.</p>`;
  return html`<div class="hit-more"><${Ledger} hit=${asked.hit} /></div>`;
}

function Others({ passages, terms }) {
  const [isOpen, setOpen] = useState(false);
  return html`
    <div class="others">
      <button class="tool" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${plural(passages.length, "more passage")} of this paper</button>
      ${isOpen && html`
        <ul>${passages.map((one) => html`
          <li key=${one.address}>
            <p class="hit-place"><${Place} hit=${one} /><a class="tool" href=${proofOf(one.address)}>Proof</a></p>
            <${Passage} text=${one.text} terms=${terms} />
          </li>`)}</ul>`}
    </div>`;
}
