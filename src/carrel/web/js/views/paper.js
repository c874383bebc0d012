// One paper: its record, what it is made of, and its text.
import { html, useEffect } from "../dom.js";
import { get, inPath } from "../api.js";
import { useAsked } from "../asking.js";
import { go } from "../router.js";
import { leaving, RemovalBar, useSignal } from "../parts/removing.js";
import { Asked } from "../parts/states.js";
import { FigureDialog } from "./paper/figures.js";
import { Heading } from "./paper/heading.js";
import { Overview } from "./paper/overview.js";
import { Reader } from "./paper/reader.js";

export const View = ({ place }) => html`<${Paper} key=${place.rest} id=${place.rest} hash=${place.hash} />`;

function Paper({ id, hash }) {
  const asked = useAsked((signal) => get(`/api/papers/${inPath(id)}`, {}, { signal }), [id]);
  useEffect(() => {
    const changed = (event) => (event.detail?.removed?.includes(asked.data?.id) ? go("/library") : asked.again());
    addEventListener("carrel:changed", changed);
    return () => removeEventListener("carrel:changed", changed);
  }, [asked.data?.id]);
  return html`
    ${!asked.data && html`<h1 class="unseen"><bdi>${id}</bdi></h1>`}
    <${Asked} asked=${asked} lines="8">${(paper) => html`<${Known} paper=${paper} hash=${hash} />`}<//>`;
}

/** `ch2`, `ch2/s1` and `ch2/s1/p3` are read; `fig3` lies over what else is shown. */
function Known({ paper, hash }) {
  const pages = usePages(paper);
  const isLeaving = useSignal(leaving).has(paper.id);
  const isRead = /^ch\d/.test(hash) && paper.chapters.length > 0;
  return html`
    <article class=${isLeaving ? "paper is-leaving" : "paper"}>
      <${RemovalBar} />
      ${isRead
        ? html`<${Reader} paper=${paper} hash=${hash} />`
        : html`<${Heading} paper=${paper} pages=${pages} /><${Overview} paper=${paper} />`}
      ${/^fig\d+$/.test(hash) && html`<${FigureDialog} paper=${paper} name=${hash} pages=${pages} />`}
    </article>`;
}

/** Where the first words of a paper are; empty where it has none. */
function firstWords({ id, chapters, parts }) {
  const section = chapters.flatMap((chapter) => chapter.sections).find((one) => one.chunkCount > 0);
  if (section) return `${section.address}/p0`;
  return parts.includes("abstract") ? `${id}/abstract` : "";
}

/** `{ first, sizes }` of a paper whose pages can be shown; null of others. */
function usePages(paper) {
  const first = firstWords(paper);
  const asked = useAsked(async (signal) => {
    if (!paper.parts.includes("body") || !first) return null;
    const proof = await get(`/api/proof/${inPath(first)}`, { start: 0, end: 1 }, { signal });
    if (!proof.hasPages) return null;
    const { pages } = await get(`/api/pages/${inPath(paper.id)}`, {}, { signal });
    return { first, sizes: new Map(pages.map((page) => [page.page, page])) };
  }, [paper.id, first]);
  return asked.data;
}
