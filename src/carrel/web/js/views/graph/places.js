// Places in the papers: what is said there, and the way to it.
import { html } from "../../dom.js";
import { proofAddress } from "../../parts/proof/address.js";
import { plain } from "../../parts/proof/source.js";

const sectionOf = ({ sectionPath }) => plain(sectionPath.at(-1) ?? "");

/** A place as a link to the proof; what the user's own files say has none. */
export const Place = ({ where }) => (where.address === null
  ? html`<span class="graph-place faint">your own files</span>`
  : html`
    <a class="graph-place" href=${proofAddress(where)}>
      <bdi class="graph-place-title">${where.title || where.paperId}</bdi>
      ${where.year && ` (${where.year})`}${where.page !== null && `, page ${where.page}`}
      ${sectionOf(where) && html`<bdi class="graph-place-section">${sectionOf(where)}</bdi>`}
    </a>`);

/** A sentence of a paper with its place. */
export const Sentence = ({ evidence }) => html`
  <figure class="graph-sentence">
    <blockquote dir="auto">${evidence.text}</blockquote>
    <figcaption><${Place} where=${evidence} /></figcaption>
  </figure>`;
