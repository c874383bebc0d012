// The state of the index, in one sentence.
import { html } from "../../dom.js";
import { ago } from "../../wording.js";
import { NAMES } from "./components.js";

export function State({ health, status, problem }) {
  const said = sentenceOf(health, status, problem);
  return html`
    <div class=${`verdict is-${said.kind}`} role="status">
      <p class="verdict-line"><span class="dot" aria-hidden="true"></span>${said.line}</p>
      ${said.why.map((reason) => html`<p class="verdict-why" key=${reason}><bdi>${reason}</bdi></p>`)}
      <p class="verdict-when">Looked at ${ago(health.timestamp)}${status?.indexCreated && `, indexed ${ago(status.indexCreated)}`}</p>
    </div>`;
}

/** `{ kind, line, why }`: what is broken goes before what is stale. */
function sentenceOf(health, status, problem) {
  const broken = Object.entries(health.components).filter(([, one]) => !one.healthy).map(([name, one]) => ({ name, ...one }));
  const stale = staleness(status);
  const why = [...broken.map(({ message }) => message), ...stale.why];
  if (problem && !problem.isOffline) why.push(problem.message);
  if (broken.some(({ essential }) => essential)) return { kind: "danger", line: `Broken: ${named(broken)} not work, and nothing can be found without.`, why };
  if (!health.ready) return { kind: "danger", line: "Not ready: the server is about to stop.", why };
  if (broken.length) return { kind: "low", line: `${sentence(named(broken))} not work. Answers go on without, and say so.`, why };
  return { ...stale, why };
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;

function named(broken) {
  const names = broken.map(({ name }) => `the ${NAMES[name]?.toLowerCase() ?? name}`);
  const all = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
  const areMany = names.length > 1 || /^the (vectors|words|jobs)$/.test(all);
  return `${all} ${areMany ? "do" : "does"}`;
}

const STATES = {
  ready: { kind: "high", line: "Everything works, and the index is current." },
  stale: { kind: "medium", line: "Everything works, but the index is stale." },
  building: { kind: "medium", line: "Everything works; the index is being built." },
  not_built: { kind: "medium", line: "Everything works, but there is no index yet." },
};

function staleness(status) {
  if (!status) return { kind: "high", line: "Everything works.", why: [] };
  const { kind, line } = STATES[status.state] ?? STATES.ready;
  return { kind, line, why: [...status.reasons.map((reason) => `${sentence(reason)}.`), status.hint].filter(Boolean) };
}
