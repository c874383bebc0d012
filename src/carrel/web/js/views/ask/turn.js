// A question and what came of it.
import { html } from "../../dom.js";
import { plural } from "../../wording.js";
import { Confidence, References, Said, grouped, statements } from "../../parts/answers.js";
import { Icon } from "../../parts/icons.js";
import { instead } from "../../parts/links.js";
import { proofAddress } from "../../parts/proof/address.js";
import { Loading } from "../../parts/states.js";
import { chosen } from "./places.js";
import { Tools } from "./tools.js";

/** `open(citation)` shows its proof, `current` is the number of the one that is shown. */
export function Turn({ turn, number, current, look, open, again, rate }) {
  const { question, where, state, response, citations = [] } = turn;
  const said = response ? response.statements : statements(turn.text ?? "");
  const refused = response?.hasInsufficientEvidence ?? turn.confidence?.hasInsufficientEvidence ?? false;
  const shown = { citations, current, look, open };
  return html`
    <article class="turn" id=${`turn-${number}`} aria-label=${`Question ${number}`}>
      <h2 class="turn-question" tabindex="-1" dir="auto">${question}</h2>
      <${Restated} question=${question} where=${where} response=${response} />
      <div class="answer" aria-live="polite" aria-busy=${state === "asking"}>
        <${Sureness} turn=${turn} />
        ${refused
          ? html`<${Refusal} response=${response} open=${open} current=${current} />`
          : html`<${Said} said=${said} ...${shown} />`}
        ${state === "asking" && html`<${Working} begun=${said.length > 0} />`}
        ${(state === "broken" || state === "stopped") && html`<${BrokenOff} turn=${turn} again=${again} />`}
      </div>
      ${citations.length > 0 && html`<${References} ...${shown} />`}
      ${response && html`<${Notes} response=${response} /><${Tools} turn=${turn} again=${again} rate=${rate} />`}
    </article>`;
}

/** What the answer was really looked for with. */
function Restated({ question, where, response }) {
  const asked = response?.asked && response.asked !== question ? response.asked : "";
  const only = chosen(where);
  return (asked || only.length > 0) && html`
    <p class="turn-restated">
      ${asked && html`<span>Taken as: <bdi>${asked}</bdi></span>`}
      ${only.map(({ name }) => html`<span class="chip" key=${name}><bdi>${name}</bdi></span>`)}
    </p>`;
}

function Sureness({ turn: { response, confidence } }) {
  if (response) return html`<${Confidence} level=${response.confidence} probability=${response.probability} threshold=${response.threshold} />`;
  return confidence && html`<${Confidence} level=${confidence.level} probability=${confidence.topScore} />`;
}

const Working = ({ begun }) => (begun
  ? html`<p class="answer-working" role="status"><span class="unseen">The answer goes on</span><i></i><i></i><i></i></p>`
  : html`<${Loading} lines="3" label="Looking through the papers" />`);

function BrokenOff({ turn, again }) {
  const isStopped = turn.state === "stopped";
  const title = isStopped ? "You stopped this answer here." : turn.text ? "Broken off: this is not the whole answer." : turn.problem.message;
  const reason = isStopped ? "" : [turn.text && `${turn.problem.message}.`, turn.problem.hint].filter(Boolean).join(" ");
  return html`
    <div class=${isStopped ? "answer-broken is-stopped" : "answer-broken"} role=${isStopped ? "status" : "alert"}>
      <p><strong>${title}</strong> ${reason}</p>
      <button class="button" onClick=${again}><${Icon} name="again" size="16" />Ask again</button>
    </div>`;
}

/** Honest about what is not here, and as useful as it can be. */
const Refusal = ({ response, ...shown }) => html`
  <p class="answer-refusal">Your library does not hold enough evidence to answer this.</p>
  ${response?.missing.length > 0 && html`
    <p class="answer-missing">Nothing speaks of ${response.missing.map((word) => html`<span class="chip is-insufficient" key=${word}><bdi>${word}</bdi></span> `)}</p>`}
  ${response?.nearMisses.length > 0 && html`<${NearMisses} misses=${response.nearMisses} ...${shown} />`}`;

function NearMisses({ misses, ...shown }) {
  const papers = grouped(misses.map((miss, index) => ({ ...miss, id: `m${index + 1}` })), (miss) => miss.title);
  return html`
    <section class="near-misses" aria-label="Nearest passages">
      <h3 class="section-title">What came closest</h3>
      <ol>${[...papers].map(([title, passages]) => html`
        <li key=${title}>
          <h4 class="near-miss-title"><bdi>${title}</bdi></h4>
          ${passages.map((miss) => html`<${Miss} key=${miss.id} miss=${miss} ...${shown} />`)}
        </li>`)}
      </ol>
    </section>`;
}

const GLIMPSE = 300;

const Miss = ({ miss, current, open }) => html`
  <a class="near-miss" href=${proofAddress(miss)} aria-current=${current === miss.id ? "true" : null} data-citation=${miss.id} dir="auto"
    onClick=${instead(() => open(miss))}>${miss.text.slice(0, GLIMPSE)}</a>`;

/** What the reader should know about how it came about. */
const Notes = ({ response: { metadata, unsupported } }) => html`
  ${(metadata.degraded.length > 0 || metadata.rerankDegraded) && html`
    <div class="answer-note is-warning" role="note">
      <p><${Icon} name="warning" size="17" /><span>A part of the search did not do its work, so that this answer may lack something.</span></p>
      <ul>${metadata.degraded.map(({ arm, reason }) => html`<li key=${arm}><strong>${arm}</strong>: ${reason}</li>`)}</ul>
    </div>`}
  ${unsupported.length > 0 && html`
    <details class="answer-note">
      <summary>${plural(unsupported.length, "sentence")} that nothing proves ${unsupported.length === 1 ? "was" : "were"} left out</summary>
      <ul>${unsupported.map(({ text, reason }, index) => html`
        <li key=${index}><q class="serif">${text}</q> <span class="faint">${reason}</span></li>`)}</ul>
    </details>`}`;
