// The one box: what is written in it is searched for after a pause, and at Enter.
import { html, useEffect, useRef, useState } from "../../dom.js";
import { goWith } from "../../router.js";
import { Icon } from "../../parts/icons.js";

const PAUSE = 350;
const SHORTEST = 2;
const LONGEST = 2000;

/** Who came by keys goes on by them: the page was not opened here, and no link was followed. */
const cameByKeys = () =>
  performance.getEntriesByType("navigation")[0]?.name !== location.href && !document.activeElement?.matches("a");

export function Box({ query, down }) {
  const [typed, setTyped] = useState(query);
  const input = useRef(null);
  const sent = useRef(query);
  // One step back leads to what was there before the writing, not to each pause in it.
  const isWriting = useRef(false);
  const timer = useRef(null);
  useEffect(() => {
    if (query === sent.current) return;
    sent.current = query;
    setTyped(query);
  }, [query]);
  useEffect(() => {
    // Where there are results, the keys are for them; on a phone a keyboard would hide the page.
    if (!query && !cameByKeys() && matchMedia("(hover: hover)").matches) input.current.focus();
    return () => clearTimeout(timer.current);
  }, []);
  const send = (text) => {
    clearTimeout(timer.current);
    const asked = text.trim();
    if (asked === sent.current) return;
    sent.current = asked;
    goWith({ q: asked, figure: "" }, { replace: isWriting.current });
    isWriting.current = true;
  };
  const write = (text) => {
    setTyped(text);
    clearTimeout(timer.current);
    if (!text.trim() || text.trim().length >= SHORTEST) timer.current = setTimeout(() => send(text), PAUSE);
  };
  const submit = (event) => {
    event.preventDefault();
    send(typed);
    isWriting.current = false;
  };
  const clear = () => {
    setTyped("");
    send("");
    input.current.focus();
  };
  const keyed = (event) => {
    if (event.key === "ArrowDown" && down()) event.preventDefault();
    if (event.key === "Escape") event.target.blur();
  };
  return html`
    <form class="search-box" role="search" onSubmit=${submit}>
      <${Icon} name="search" size="22" />
      <input data-primary type="search" name="q" value=${typed} maxlength=${LONGEST} autocomplete="off" ref=${input} spellcheck=${false}
        enterkeyhint="search" dir="auto" aria-label="Search the papers" placeholder="Search the papers"
        onInput=${(event) => write(event.target.value)} onKeyDown=${keyed} onBlur=${() => { isWriting.current = false; }} />
      ${typed && html`<button type="button" class="icon-button" aria-label="Clear" onClick=${clear}><${Icon} name="close" size="18" /></button>`}
    </form>`;
}
