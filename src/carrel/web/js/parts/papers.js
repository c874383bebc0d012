// How a paper is named, wherever it is spoken of.
import { html } from "../dom.js";
import { inPath } from "../api.js";

/** Where a paper is shown; `place` is a chapter, section or figure of it, as `ch2/s1`. */
export const paperAddress = (id, place = "") => `/paper/${inPath(id)}${place && `#${encodeURI(place)}`}`;

/** What an address names inside its paper: `ch2/s1` of `smith2020/ch2/s1`. */
export const placeIn = (address, id) => address.slice(id.length + 1);

/** Its title, as a link to it. */
export const PaperLink = ({ id, title, place, ...rest }) => html`
  <a class="paper-link" href=${paperAddress(id, place)} ...${rest}><bdi>${title || id}</bdi></a>`;

const NAMED = 6;
const named = (author) => (typeof author === "string" ? author : `${author.first} ${author.last}`.trim());

/** Who wrote it, when, and where it appeared; of many authors the first few, the others when asked for. */
export function Byline({ authors = [], authorCount = authors.length, year, venue }) {
  const names = authors.map(named);
  const shown = authorCount <= NAMED + 1 ? names : names.slice(0, NAMED);
  const more = authorCount - shown.length;
  return html`
    <span class="byline">
      ${shown.length > 0 && html`<bdi class="byline-authors" title=${more > 0 ? names.join(", ") : null}>${shown.join(", ")}${more > 0 && ` and ${more} others`}</bdi>`}
      ${venue && html`<bdi class="byline-venue">${venue}</bdi>`}
      ${year && html`<span class="byline-year">${year}</span>`}
    </span>`;
}

/** What became of it, as `RETRACTED`; nothing where nothing did. */
export const Notice = ({ notice }) => notice && html`
  <span class=${notice === "REINSTATED" ? "chip notice" : "chip notice is-danger"}>${notice}</span>`;

const REGISTER = "doi.org";

/** Where a DOI leads; null where it is none. */
const doiAddress = (doi) => (/^10\.\d{3,9}\/\S+$/.test(doi ?? "") ? `https://${REGISTER}/${encodeURI(doi)}` : null);

/** A link out of the library. */
export const DoiLink = ({ doi }) => doiAddress(doi) && html`
  <a class="doi" href=${doiAddress(doi)} target="_blank" rel="noopener noreferrer"><bdi>${doi}</bdi></a>`;
