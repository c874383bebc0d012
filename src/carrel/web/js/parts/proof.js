// A quote where it stands: on the page as it was printed, or in the text it was read from.
import { html, useEffect, useRef, useState } from "../dom.js";
import { get, inPath } from "../api.js";
import { useAsked } from "../asking.js";
import { useKeys } from "../keys.js";
import { count, shortAuthors } from "../wording.js";
import { Copy } from "./copying.js";
import { Icon } from "./icons.js";
import { Notice, PaperLink } from "./papers.js";
import { proofAddress } from "./proof/address.js";
import { PageSheet } from "./proof/sheet.js";
import { SourceText, plain } from "./proof/source.js";
import { Asked } from "./states.js";

/** What stands at an address, `start` to `end` of its text, or all of it.
 *
 * With `quote`, what somebody said stands there, the two are compared. `close` makes it a panel; `number` is that of the
 * citation it proves.
 */
export function ProofPanel({ address, start = null, end = null, quote = null, number = null, close = null }) {
  const cited = { address, start, end };
  const [visited, setVisited] = useState(null);
  const isCited = visited?.from !== named(cited);
  const at = isCited ? cited : visited;
  const asked = useProof(at);
  const element = useRef(null);
  useEffect(() => { if (close) element.current.focus({ preventScroll: true }); }, [named(cited)]);
  useKeys(close ? { Escape: close } : {}, [close]);
  const visit = close ? (other) => setVisited({ from: named(cited), address: other, start: null, end: null }) : null;
  return html`
    <section class="proof" ref=${element} tabindex="-1" aria-label="Proof" aria-busy=${asked.loading}>
      <div class="proof-tools">
        ${number !== null && html`<span class="proof-number">${number}</span>`}
        <span class="proof-name">${number === null ? "Passage" : "Proof"}</span>
        ${close && html`
          <a class="icon-button" href=${proofAddress(at)} aria-label="Open by itself" title="Open by itself"><${Icon} name="out" size="18" /></a>
          <button class="icon-button" aria-label="Close the proof" title="Close (Esc)" onClick=${close}><${Icon} name="close" /></button>`}
      </div>
      ${!close && asked.problem && !asked.data && html`<h1 class="unseen">Proof</h1>`}
      <${Asked} asked=${asked} lines="6">${(proof) => html`
        <${Proved} key=${named(at)} proof=${proof} quote=${isCited ? quote : null} isWhole=${at.start === null} visit=${visit}
          back=${isCited ? null : () => setVisited(null)} heading=${close ? "h2" : "h1"} />`}
      <//>
    </section>`;
}

const named = ({ address, start, end }) => `${address} ${start} ${end}`;

/** What was asked before is no proof of this: it is not shown meanwhile. */
function useProof(at) {
  const asked = useAsked(
    async (signal) => ({ at: named(at), proof: await get(`/api/proof/${inPath(at.address)}`, { start: at.start, end: at.end }, { signal }) }),
    [named(at)],
  );
  const isThis = asked.data?.at === named(at);
  return { ...asked, data: isThis ? asked.data.proof : null, problem: asked.loading ? null : asked.problem };
}

const hasPlace = (proof) => proof.hasPages && proof.page !== null;

function Proved({ proof, quote, isWhole, visit, back, heading }) {
  const [shown, setShown] = useState(hasPlace(proof) ? "page" : "text");
  const [noPage, setNoPage] = useState(hasPlace(proof) ? "" : proof.noPages ?? "");
  const fail = (problem) => { setNoPage(problem.message); setShown("text"); };
  return html`
    <header class="proof-head">
      <${heading} class="proof-title">
        <${PaperLink} id=${proof.paperId} title=${proof.title} place=${chapter(proof)} /> <${Notice} notice=${proof.notice} />
      <//>
      <p class="proof-byline">
        ${proof.authors.length > 0 && html`<bdi>${shortAuthors(proof.authors)}</bdi>`}${proof.year && html`<span>${proof.year}</span>`}${proof.page && html`<span>page ${proof.page}</span>`}
      </p>
      <${Trail} names=${proof.sectionPath} />
      <${Verdict} proof=${proof} quote=${quote} />
      <div class="proof-bar">
        ${hasPlace(proof) && !noPage && html`
          <div class="segments" role="group" aria-label="Shown as">
            ${["page", "text"].map((name) => html`
              <button class="segment" key=${name} aria-pressed=${shown === name} onClick=${() => setShown(name)}>
                ${name === "page" ? "Page" : "Text"}
              </button>`)}
          </div>`}
        <${Copy} text=${proof.quote} label="Copy quote" />
        ${back && html`<button class="button is-quiet" onClick=${back}><${Icon} name="left" size="16" />Back to the quote</button>`}
      </div>
    </header>
    ${shown === "page"
      ? html`<${PageSheet} proof=${proof} fail=${fail} />`
      : html`<${SourceText} proof=${proof} isWhole=${isWhole} visit=${visit} noPage=${noPage} />`}`;
}

/** The chapter it stands in, as the outline of its paper has it. */
const chapter = ({ address, paperId }) => /^ch\d+/.exec(address.slice(paperId.length + 1))?.[0] ?? "";

const Trail = ({ names }) => names.length > 0 && html`
  <ol class="proof-trail" aria-label="Section">${names.map((name, index) => html`<li key=${index}><bdi>${plain(name)}</bdi></li>`)}</ol>`;

/** Whether what is quoted is what stands there. Where nobody quoted, only where it stands can be told. */
function Verdict({ proof, quote }) {
  if (quote === null) {
    return html`<p class="proof-verdict"><span class="faint">Characters ${count(proof.start)} to ${count(proof.end)} of the stored text.</span></p>`;
  }
  if (quote === proof.quote) {
    return html`<p class="proof-verdict is-true"><${Icon} name="check" size="17" />Checked: these words stand in the source, character for character.</p>`;
  }
  return html`
    <div class="proof-verdict is-false" role="alert">
      <p><${Icon} name="warning" size="18" />These are not the words of the answer. The source has changed since, or the quote is wrong.</p>
      <p>Quoted: <q class="serif">${quote}</q></p>
    </div>`;
}
