// The box where one asks.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../dom.js";
import { history } from "../../store.js";
import { count } from "../../wording.js";
import { Icon } from "../../parts/icons.js";
import { Chosen, Places } from "./places.js";
import { Past } from "./past.js";

const LONGEST = 2000;
const TOLD = 1700;

/** `ask(question)` is called with what was written; while an answer comes, `stop` takes its place. */
export function Composer({ ask, stop, where, setWhere, isFirst }) {
  const [words, setWords] = useState("");
  const [narrowing, setNarrowing] = useState(false);
  const [looking, setLooking] = useState(false);
  const box = useRef(null);
  useGrowing(box, words);
  useEffect(() => { if (isFirst && matchMedia("(hover: hover)").matches) box.current.focus({ preventScroll: true }); }, [isFirst]);
  const send = (event) => {
    event?.preventDefault();
    const question = words.trim();
    if (!question || stop) return;
    setWords("");
    box.current.blur();
    ask(question);
  };
  const key = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
    if (event.key === "ArrowUp" && !words && history().length > 0) { event.preventDefault(); setWords(history()[0].question); }
    if (event.key === "Escape") box.current.blur();
  };
  return html`
    <form class="composer" onSubmit=${send} aria-label="Ask">
      <${Chosen} where=${where} setWhere=${setWhere} />
      ${narrowing && html`<${Places} where=${where} setWhere=${setWhere} />`}
      <textarea ref=${box} class="composer-box" data-primary rows="1" maxlength=${LONGEST} value=${words} dir="auto" aria-label="Question"
        placeholder=${isFirst ? "Ask your papers" : "Ask a follow-up"} onInput=${(event) => setWords(event.target.value)} onKeyDown=${key}></textarea>
      <div class="composer-tools">
        <button type="button" class="button is-quiet" aria-label="Where to look" aria-expanded=${narrowing} onClick=${() => setNarrowing(!narrowing)}>
          <${Icon} name="filter" size="17" /><span>Where to look</span>
        </button>
        <button type="button" class="button is-quiet" aria-label="Asked before" aria-haspopup="dialog" onClick=${() => setLooking(true)}>
          <${Icon} name="past" size="17" /><span>Asked before</span>
        </button>
        ${words.length > TOLD && html`<span class="composer-count" role="status">${count(words.length)} of ${count(LONGEST)}</span>`}
        ${stop
          ? html`<button type="button" class="composer-send" aria-label="Stop" title="Stop" onClick=${stop}><${Icon} name="stop" /></button>`
          : html`<button class="composer-send" aria-label="Ask" title="Ask (Enter)" disabled=${!words.trim()}><${Icon} name="up" /></button>`}
      </div>
    </form>
    ${looking && html`<${Past} close=${() => setLooking(false)} />`}`;
}

/** As high as what is written in it. */
function useGrowing(box, words) {
  useLayoutEffect(() => {
    box.current.style.height = "auto";
    box.current.style.height = `${box.current.scrollHeight}px`;
  }, [words]);
}
