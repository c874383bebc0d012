// Where there is nothing to draw: no concept at all, or none of that name.
import { html } from "../../dom.js";
import { address, get } from "../../api.js";
import { useAsked } from "../../asking.js";
import { Empty, Failure } from "../../parts/states.js";

const LEAST = 3;
const NEAR = 8;

/** What might be meant by a name: it whole, its words, and ever shorter beginnings of the longest. */
function attempts(name) {
  const words = [...new Set(name.split(/[\s-]+/))].filter((word) => word.length >= LEAST).sort((one, other) => other.length - one.length);
  const [longest = ""] = words;
  const beginnings = Array.from({ length: Math.max(0, longest.length - LEAST) }, (_, cut) => longest.slice(0, longest.length - 1 - cut));
  return [...new Set([name, ...words, ...beginnings])].slice(0, 12);
}

async function nearest(name, signal) {
  for (const query of attempts(name)) {
    const { concepts } = await get("/api/concepts", { query, limit: NEAR }, { signal });
    if (concepts.length) return concepts;
  }
  return (await get("/api/concepts", { limit: NEAR }, { signal })).concepts;
}

/** Why there is no graph, and what there is instead. */
export function Missing({ name, problem, again }) {
  const asked = useAsked((signal) => (problem.status === 404 ? nearest(name, signal) : []), [name, problem]);
  if (problem.status !== 404) return html`<${Failure} problem=${problem} again=${again} />`;
  if (asked.data === null) return null;
  if (asked.data.length === 0) {
    return html`
      <${Empty} title="There are no concepts yet">
        <p>They are what the papers speak of, and come with them. <a href="/library">Add papers</a> to the library first.</p>
      <//>`;
  }
  return html`
    <${Empty} title=${html`No concept is called <bdi>${name}</bdi>`}>
      <p>Perhaps one of these is meant:</p>
      <p class="graph-chips">
        ${asked.data.map(({ key, name: other }) => html`<a class="chip" key=${key} href=${address("/graph", { name: other })}><bdi>${other}</bdi></a>`)}
      </p>
      <p><a href="/graph">The map of the library</a></p>
    <//>`;
}
