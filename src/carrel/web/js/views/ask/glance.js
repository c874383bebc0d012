// A glance at a citation: what it quotes, without leaving the answer.
import { html, useCallback, useEffect, useLayoutEffect, useRef, useState } from "../../dom.js";
import { useKeys } from "../../keys.js";
import { shortAuthors } from "../../wording.js";
import { Notice } from "../../parts/papers.js";

const COMES = 120;
const GOES = 180;

/** `{ glance, look, stay, close }`: what is glanced at, and how marks tell of it. */
export function useGlance() {
  const [glance, setGlance] = useState(null);
  const timer = useRef(0);
  const look = useCallback((citation, element) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setGlance(citation && { citation, element }), citation ? COMES : GOES);
  }, []);
  const stay = useCallback(() => clearTimeout(timer.current), []);
  const close = useCallback(() => { clearTimeout(timer.current); setGlance(null); }, []);
  useEffect(() => stay, []);
  return { glance, look, stay, close };
}

const GAP = 8;

/** Under its mark or over it, and within the window. */
function placed(card, mark) {
  const { width, height } = card.getBoundingClientRect();
  const at = mark.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(at.left + at.width / 2 - width / 2, document.documentElement.clientWidth - width - GAP));
  const below = at.bottom + GAP;
  return { left: `${left}px`, top: `${below + height < innerHeight ? below : Math.max(GAP, at.top - GAP - height)}px` };
}

export function Glance({ glance: { citation, element }, look, stay, close }) {
  const card = useRef(null);
  const [place, setPlace] = useState({ visibility: "hidden" });
  useLayoutEffect(() => { setPlace(placed(card.current, element)); }, [element]);
  useEffect(() => {
    addEventListener("scroll", close, { passive: true, capture: true });
    return () => removeEventListener("scroll", close, { capture: true });
  }, []);
  useKeys({ Escape: close });
  return html`
    <div class="glance" role="tooltip" ref=${card} style=${place} onMouseEnter=${stay} onMouseLeave=${() => look(null)}>
      <blockquote class="glance-quote" dir="auto">${citation.quote}</blockquote>
      <p class="glance-title"><bdi>${citation.title}</bdi> ${citation.flags.map((flag) => html`<${Notice} key=${flag.notice} notice=${flag.notice} />`)}</p>
      <p class="glance-by">${[shortAuthors(citation.authors), citation.year, citation.page && `page ${citation.page}`].filter(Boolean).join(" · ")}</p>
    </div>`;
}
