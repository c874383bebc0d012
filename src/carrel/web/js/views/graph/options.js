// Which relations are drawn, how far the drawing goes, and how much of it there may be.
import { html } from "../../dom.js";
import { useMedia } from "../../asking.js";
import { goWith } from "../../router.js";
import { count } from "../../wording.js";
import { colour, DASHES, phrase, PREDICATES } from "./predicates.js";
import { LIMITS } from "./state.js";

export function Options({ counts, state }) {
  const isPhone = useMedia("(max-width: 640px)");
  const both = html`<${Legend} counts=${counts} hidden=${state.hidden} /><${Reach} state=${state} />`;
  return isPhone
    ? html`<details class="graph-options card"><summary>Relations</summary>${both}</details>`
    : html`<div class="graph-options">${both}</div>`;
}

function Legend({ counts, hidden }) {
  const change = (predicate) => {
    const others = [...hidden].filter((one) => one !== predicate);
    goWith({ hide: hidden.has(predicate) ? others : [...others, predicate] }, { replace: true });
  };
  return html`
    <ul class="graph-legend">
      ${PREDICATES.filter((one) => counts.has(one)).map((predicate) => html`
        <li key=${predicate}>
          <label>
            <input type="checkbox" checked=${!hidden.has(predicate)} onChange=${() => change(predicate)} />
            <svg width="24" height="8" aria-hidden="true">
              <path d="M0 4H24" style=${{ stroke: colour(predicate), strokeDasharray: DASHES[predicate] ?? "none" }} />
            </svg>
            <span>${phrase(predicate)}</span><span class="faint">${count(counts.get(predicate))}</span>
          </label>
        </li>`)}
    </ul>`;
}

const Reach = ({ state }) => html`
  <div class="graph-reach">
    ${state.name && html`
      <div class="segments" role="group" aria-label="Steps from the centre">
        ${[1, 2, 3].map((hops) => html`
          <button class="segment" key=${hops} aria-pressed=${state.hops === hops} onClick=${() => goWith({ hops })}>
            ${hops === 1 ? "1 step" : hops}
          </button>`)}
      </div>`}
    <label class="graph-reach-limit"><span>at most</span>
      <select class="field" aria-label="Concepts at most" value=${state.limit} onChange=${(event) => goWith({ limit: event.target.value })}>
        ${LIMITS.map((limit) => html`<option key=${limit} value=${limit}>${limit}</option>`)}
      </select>
    </label>
  </div>`;
