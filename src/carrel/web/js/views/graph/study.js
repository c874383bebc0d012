// What to study before a concept, in order, with the reasons.
import { html } from "../../dom.js";
import { useAsked } from "../../asking.js";
import { goWith } from "../../router.js";
import { Icon } from "../../parts/icons.js";
import { Asked } from "../../parts/states.js";
import { plural } from "../../wording.js";
import { choose } from "./panel.js";
import { Place, Sentence } from "./places.js";
import { colour, SHOWN } from "./predicates.js";
import { studyPath } from "./state.js";

export function StudyPanel({ name, point }) {
  const asked = useAsked(() => studyPath(name), [name]);
  return html`
    <p class="graph-back">
      <button class="button is-quiet" onClick=${() => goWith({ path: null })}><${Icon} name="left" size="16" /><bdi>${name}</bdi></button>
    </p>
    <h1>The way to <bdi>${name}</bdi></h1>
    <${Asked} asked=${asked} lines="6">${(study) => html`<${Steps} study=${study} point=${point} />`}<//>`;
}

const Steps = ({ study, point }) => html`
  ${study.steps.length === 1
    ? html`<p class="graph-nothing">Nothing has to come before it, as far as the papers say.</p>`
    : html`<p class="faint small">${plural(study.steps.length, "step")}; none comes before what it needs.</p>`}
  <ol class="graph-steps">${study.steps.map((step) => html`<${Step} key=${step.key} step=${step} point=${point} />`)}</ol>
  ${study.setAside.length > 0 && html`
    <section>
      <h2 class="section-title">Set aside, as it would close a circle</h2>
      <ul class="graph-several">${study.setAside.map((reason, index) => html`<li key=${index}><${Reason} reason=${reason} /></li>`)}</ul>
    </section>`}`;

const Step = ({ step, point }) => html`
  <li class="graph-step" onPointerEnter=${() => point(step.key)} onPointerLeave=${() => point(null)}>
    <span class="graph-step-number" aria-hidden="true">${step.step}</span>
    <button class="graph-named graph-step-name" onClick=${() => choose(step.name)}
      onFocus=${() => point(step.key)} onBlur=${() => point(null)}><bdi>${step.name}</bdi></button>
    ${step.because.slice(0, 2).map((reason, index) => html`<${Reason} key=${index} reason=${reason} />`)}
    ${step.read && html`<p class="graph-step-read"><span class="faint small">Read </span><${Place} where=${step.read} /></p>`}
  </li>`;

const Reason = ({ reason }) => html`
  <details class="graph-reason">
    <summary style=${{ "--reason": colour(reason.predicate ?? SHOWN) }}><bdi>${reason.said}</bdi></summary>
    ${reason.evidence.map((evidence, index) => html`<${Sentence} key=${index} evidence=${evidence} />`)}
  </details>`;
