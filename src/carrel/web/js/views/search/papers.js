// Papers by the meaning of their abstracts.
import { html, useEffect, useMemo, useState } from "../../dom.js";
import { get } from "../../api.js";
import { useAsked } from "../../asking.js";
import { goWith } from "../../router.js";
import { Icon } from "../../parts/icons.js";
import { Byline, PaperLink } from "../../parts/papers.js";
import { Failure, Loading } from "../../parts/states.js";
import { plural } from "../../wording.js";
import { excerpt, Marked, termsOf } from "./marking.js";
import { EVERYWHERE, isNarrowed, parametersOf } from "./wanted.js";

const STEP = 10;
const MOST = 100;

export function Papers({ wanted }) {
  const parameters = parametersOf(wanted);
  const key = JSON.stringify(parameters);
  // There are no pages of these: more are asked for at once.
  const [limit, setLimit] = useState(STEP);
  const [threshold, setThreshold] = useState(null);
  useEffect(() => { setLimit(STEP); setThreshold(null); }, [key]);
  const asked = useAsked((until) => get("/api/semantic", { ...parameters, limit, threshold }, { signal: until }), [key, limit, threshold]);
  const found = asked.data;
  const terms = useMemo(() => termsOf(found?.query ?? ""), [found]);
  if (asked.problem) return html`<${Failure} problem=${asked.problem} again=${asked.again} />`;
  if (!found) return html`<${Loading} lines="9" label="Searching" />`;
  if (!found.results.length) return html`<${NoneNear} wanted=${wanted} found=${found} loosen=${() => setThreshold(0)} />`;
  return html`
    <div class="found" aria-busy=${asked.loading}>
      <div class="account"><p class="account-line"><span role="status">${plural(found.results.length, "paper")} by the meaning of their abstracts</span></p></div>
      <ol class="hits">${found.results.map((paper, index) => html`<li key=${paper.id}><${Paper} paper=${paper} rank=${index + 1} terms=${terms} /></li>`)}</ol>
      ${found.results.length === limit && limit < MOST && html`
        <p class="show-more"><button class="button" disabled=${asked.loading} onClick=${() => setLimit(Math.min(MOST, limit + 2 * STEP))}>
          <${Icon} name="down" size="16" />Show more</button></p>`}
    </div>`;
}

function Paper({ paper, rank, terms }) {
  const [isWhole, setWhole] = useState(false);
  const { end } = isWhole ? { end: paper.abstract.length } : { ...excerpt(paper.abstract, { stems: new Set(), parts: [] }, 300) };
  const similarity = Math.round(100 * paper.similarity);
  return html`
    <article class="hit">
      <span class="hit-rank" aria-hidden="true">${rank}</span>
      <h2 class="hit-title"><${PaperLink} id=${paper.id} title=${paper.title} /></h2>
      <p class="hit-place">
        <${Byline} authors=${paper.authors} year=${paper.year} />
        <span class="nearness" role="img" aria-label=${`similarity ${paper.similarity.toFixed(2)}`}>
          <span class="nearness-bar"><span style=${{ width: `${similarity}%` }}></span></span>${paper.similarity.toFixed(2)}</span>
        ${paper.matched === "note" && html`<span class="chip">by your note</span>`}
      </p>
      ${paper.abstract && html`
        <p class="hit-text" dir="auto"><${Marked} text=${paper.abstract.slice(0, end)} terms=${terms} />${end < paper.abstract.length && " …"}
          ${(isWhole || end < paper.abstract.length) && html` <button class="plain-link" aria-expanded=${isWhole} onClick=${() => setWhole(!isWhole)}>${isWhole ? "less" : "more"}</button>`}</p>`}
    </article>`;
}

const NoneNear = ({ wanted, found, loosen }) => html`
  <div class="state" role="status">
    <h2 class="state-title">No paper is near <q><bdi>${wanted.query}</bdi></q></h2>
    <p>${found.nearest === null
      ? "There is no abstract to compare it with."
      : `The nearest is ${found.nearest.toFixed(2)} similar; ${found.threshold.toFixed(2)} is what it takes.`}</p>
    <p class="loosen">
      ${found.nearest !== null && found.threshold > 0 && html`<button class="button" onClick=${loosen}>Show the nearest all the same</button>`}
      ${isNarrowed(wanted) && html`<button class="button" onClick=${() => goWith(EVERYWHERE)}>Drop the filters</button>`}
      <button class="button" onClick=${() => goWith({ tab: "" })}>Search passages</button>
    </p>
  </div>`;
