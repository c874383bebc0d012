// The passages that were found, and the keys that lead through them.
import { html, useEffect, useMemo, useRef, useState } from "../../dom.js";
import { get } from "../../api.js";
import { useKeys } from "../../keys.js";
import { go } from "../../router.js";
import { Icon } from "../../parts/icons.js";
import { paperAddress } from "../../parts/papers.js";
import { Failure, Loading } from "../../parts/states.js";
import { Hit, proofOf } from "./hit.js";
import { termsOf } from "./marking.js";
import { Nothing } from "./nothing.js";
import { usePages, usePapers } from "./pages.js";
import { Account, Degraded, Understood } from "./understood.js";
import { parametersOf } from "./wanted.js";

const PATH = "/api/search";

export function Passages({ wanted }) {
  const parameters = parametersOf(wanted);
  const asked = usePages(PATH, parameters);
  const hits = asked.pages.flatMap((page) => page.results);
  const papers = usePapers([...hits.map((hit) => hit.paperId), ...wanted.paper]);
  const explaining = useExplaining(asked.pages, parameters);
  const list = useRef(null);
  useChoosing(list, hits, explaining.toggle);
  const [first] = asked.pages;
  const terms = useMemo(() => termsOf(first?.query ?? "", first?.understood), [first]);
  if (asked.problem) return html`<${Failure} problem=${asked.problem} again=${asked.again} />`;
  if (!first) return html`<${Loading} lines="9" label="Searching" />`;
  return html`
    <div class="found" aria-busy=${asked.loading}>
      <${Understood} query=${first.query} understood=${first.understood} />
      <${Degraded} degraded=${first.degraded} />
      ${hits.length === 0 && html`<${Nothing} wanted=${wanted} found=${first} />`}
      ${hits.length > 0 && html`
        <${Account} found=${first} shown=${hits.length}><a class="ask-this" href=${`/ask?q=${encodeURIComponent(wanted.query)}`}>Ask this</a><//>
        <ol class="hits" ref=${list}>
          ${hits.map((hit) => html`
            <li key=${hit.address}><${Hit} hit=${hit} paper=${papers.get(hit.paperId)} terms=${terms} explained=${explaining.of(hit)} /></li>`)}
        </ol>`}
      <${More} asked=${asked} />
    </div>`;
}

export const More = ({ asked }) => html`
  ${asked.moreProblem && html`<${Failure} problem=${asked.moreProblem} again=${asked.more} />`}
  ${asked.next && !asked.moreProblem && html`
    <p class="show-more"><button class="button" disabled=${asked.moreLoading} onClick=${asked.more}>
      <${Icon} name="down" size="16" />${asked.moreLoading ? "Searching" : "Show more"}</button></p>`}`;

/** Which ledgers are open. A page of results is asked for again, with them, when the first of its ledgers is. */
function useExplaining(pages, parameters) {
  const [open, setOpen] = useState(new Set());
  const [told, setTold] = useState(new Map());
  const [first] = pages;
  useEffect(() => { setOpen(new Set()); setTold(new Map()); }, [first]);
  const explain = (page) => {
    const cursor = pages[pages.indexOf(page) - 1]?.nextCursor ?? "";
    const tell = (state) => setTold((old) => new Map(old).set(page, state));
    tell({ loading: true });
    get(PATH, { ...parameters, cursor, explain: true }).then(
      (found) => tell({ hits: new Map(found.results.map((hit) => [hit.address, hit])) }),
      (problem) => tell({ problem, again: () => explain(page) }),
    );
  };
  const toggle = (hit) => {
    const page = pages.find((one) => one.results.includes(hit));
    if (!told.has(page)) explain(page);
    setOpen((old) => (old.has(hit.address) ? new Set([...old].filter((one) => one !== hit.address)) : new Set(old).add(hit.address)));
  };
  const heard = (hit) => {
    const state = told.get(pages.find((one) => one.results.includes(hit))) ?? { loading: true };
    return { ...state, hit: state.hits?.get(hit.address) };
  };
  return { toggle, of: (hit) => ({ open: open.has(hit.address), toggle: () => toggle(hit), asked: heard(hit) }) };
}

/** j and k from hit to hit, and what can be done with the one that is chosen. */
function useChoosing(list, hits, explain) {
  const articles = () => [...(list.current?.querySelectorAll("article") ?? [])];
  const chosen = () => articles().findIndex((one) => one.contains(document.activeElement));
  const move = (by) => {
    const shown = articles();
    const next = Math.min(shown.length - 1, Math.max(0, chosen() < 0 ? 0 : chosen() + by));
    if (!shown.length) return false;
    shown[next].focus({ preventScroll: true });
    shown[next].scrollIntoView({ block: "nearest" });
    return true;
  };
  // A link or button that is reached by Tab does what it always does.
  const withChosen = (work) => (event) => {
    const hit = hits[chosen()];
    return hit && !(event.key === "Enter" && event.target.closest("a, button")) ? work(hit) : false;
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: withChosen((hit) => go(proofOf(hit.address))),
    e: withChosen((hit) => explain(hit)),
    o: withChosen((hit) => go(paperAddress(hit.paperId))),
  }, [hits, explain]);
}
