// What was asked in this browser, which alone knows it.
import { html, useState } from "../../dom.js";
import { address } from "../../api.js";
import { forget, history } from "../../store.js";
import { ago } from "../../wording.js";
import { Dialog } from "../../parts/dialogs.js";

export const askAddress = (question, where = {}) => address("/ask", { q: question, ...where });

export function Past({ close }) {
  const [words, setWords] = useState("");
  const [asked, setAsked] = useState(history());
  const drop = (question) => { forget(question); setAsked(history()); };
  const found = asked.filter(({ question }) => question.toLowerCase().includes(words.trim().toLowerCase()));
  return html`
    <${Dialog} title="Asked before" close=${close}>
      ${asked.length === 0 ? html`<p class="faint">Nothing yet. What you ask is kept in this browser, and here you find it again.</p>` : html`
        <input class="field" type="search" placeholder="Find a question" aria-label="Find a question" autofocus
          value=${words} onInput=${(event) => setWords(event.target.value)} />
        <ul class="past-questions" onClick=${(event) => event.target.closest("a") && close()}>
          ${found.map(({ question, at }) => html`
            <li key=${question}>
              <a href=${askAddress(question)}><bdi>${question}</bdi><span>${ago(at)}</span></a>
              <button class="icon-button" aria-label=${`Forget: ${question}`} title="Forget" onClick=${() => drop(question)}>×</button>
            </li>`)}
        </ul>
        ${found.length === 0 && html`<p class="faint">No question has these words.</p>`}
        <p><button class="button is-quiet is-danger" onClick=${() => drop()}>Forget all</button></p>`}
    <//>`;
}
