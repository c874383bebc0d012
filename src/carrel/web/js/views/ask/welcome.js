// Before anything is asked.
import { html } from "../../dom.js";
import { address, get } from "../../api.js";
import { useAsked } from "../../asking.js";
import { history } from "../../store.js";
import { askAddress } from "./past.js";

const RECENT = 4;
const EXAMPLES = 3;

export function Welcome({ latest, children }) {
  const recent = history().slice(0, RECENT);
  const { data: papers } = useAsked((signal) => get("/api/papers", { limit: 1 }, { signal }), []);
  const { data: examples } = useAsked((signal) => suggested(signal), []);
  if (papers?.total === 0) return html`<${Bare} />`;
  return html`
    <div class="welcome">
      <h1>What would you like to know?</h1>
      <p class="welcome-word">Answers come from your own papers, and every sentence is proved by one of them.</p>
      ${children}
      <div class="welcome-lists">
        ${recent.length > 0 && html`<${Questions} title="Asked before" questions=${recent.map((one) => one.question)} />`}
        ${recent.length < RECENT && examples?.length > 0 && html`<${Questions} title="Your papers speak of this" questions=${examples} />`}
      </div>
      ${latest && html`<p><a class="welcome-latest" href=${address("/ask", { c: latest })}>Go on with the last conversation</a></p>`}
    </div>`;
}

const Bare = () => html`
  <div class="welcome">
    <h1>There are no papers here yet</h1>
    <p class="welcome-word">Answers come from your own papers. Add a few, and ask.</p>
    <p><a class="button is-main" href="/library">Add papers</a></p>
  </div>`;

const Questions = ({ title, questions }) => html`
  <section aria-label=${title}>
    <h2 class="section-title">${title}</h2>
    <ul>${questions.map((question) => html`
      <li key=${question}><a class="welcome-suggestion" href=${askAddress(question)}><bdi>${question}</bdi></a></li>`)}</ul>
  </section>`;

/** What much is said about; a name of one word alone is mostly too wide to be asked for. */
async function suggested(signal) {
  const { concepts } = await get("/api/concepts", { limit: 20 }, { signal });
  return concepts.filter(({ name }) => /^[^,;()]+\s[^,;()]+$/.test(name) && name.length < 50).slice(0, EXAMPLES)
    .map(({ name }) => `What is known about ${name}?`);
}
