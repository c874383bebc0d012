// Documents on their way in, the latest first.
import { html, useEffect, useState } from "../../dom.js";
import { get, post } from "../../api.js";
import { useAsked, useEvery } from "../../asking.js";
import { ago, plural } from "../../wording.js";
import { PaperLink } from "../../parts/papers.js";
import { Failure, Loading } from "../../parts/states.js";
import { say } from "../../parts/toasts.js";

const SOON = 2000;
const LATER = 10_000;
const FEW = 8;
const MOST = 100;
const STATES = {
  queued: "waiting", chunking: "being read", embedding: "being embedded", extracting: "its concepts are being found",
  complete: "taken in", failed: "failed", cancelled: "called off",
};
const isOver = (job) => !job || ["complete", "failed", "cancelled"].includes(job.status);

export function Jobs() {
  const [limit, setLimit] = useState(FEW);
  const asked = useAsked((until) => get("/api/ingest", { limit }, { signal: until }), [limit]);
  const documents = asked.data?.documents ?? [];
  const mayNot = asked.problem?.status === 403;
  const isBusy = documents.some(({ job }) => !isOver(job));
  useEvery(isBusy ? SOON : LATER, () => mayNot || asked.again(), [isBusy, mayNot]);
  useEffect(() => {
    addEventListener("carrel:changed", asked.again);
    return () => removeEventListener("carrel:changed", asked.again);
  }, []);
  return html`
    <section aria-labelledby="health-jobs">
      <h2 class="section-title" id="health-jobs">Documents submitted here</h2>
      ${mayNot && html`<p class="quiet">Your token may read; what is taken in is shown to those who may write.</p>`}
      ${asked.problem && !mayNot && !asked.problem.isOffline && html`<${Failure} problem=${asked.problem} again=${asked.again} />`}
      ${!asked.data && !asked.problem && html`<${Loading} lines="2" />`}
      ${asked.data && !mayNot && !documents.length && html`<p class="quiet">None yet. Drop files on the <a href="/library">library</a> to add them.</p>`}
      ${!mayNot && documents.length > 0 && html`
        <ul class="jobs">${documents.map((one) => html`<li class="job" key=${one.documentId}><${Job} document=${one} changed=${asked.again} /></li>`)}</ul>`}
      ${!mayNot && asked.data?.nextCursor && limit < MOST && html`<button class="button is-quiet" onClick=${() => setLimit(MOST)}>Show more</button>`}
    </section>`;
}

const nameOf = (document) => document.title || document.documentUrl.split("/").at(-1);

function Job({ document: submitted, changed }) {
  const { job } = submitted;
  const status = submitted.status === "archived" ? "taken out again" : STATES[job?.status] ?? submitted.status;
  const isFailed = submitted.status === "failed" || job?.status === "failed";
  const reason = job?.errorMessage ?? submitted.errorMessage;
  const cancel = () => post(`/api/ingest/${job.jobId}/cancel`, {}).then(changed, (problem) => say(problem.message, { kind: "is-danger" }));
  return html`
    <span class="job-name">${submitted.paperId && submitted.status === "active"
      ? html`<${PaperLink} id=${submitted.paperId} title=${nameOf(submitted)} />`
      : html`<bdi>${nameOf(submitted)}</bdi>`}</span>
    <span class=${isFailed ? "job-state is-failed" : "job-state"}>${status}${job?.attempts > 1 && `, ${plural(job.attempts, "attempt")}`}</span>
    <time class="job-time" datetime=${submitted.updatedAt}>${ago(job?.completedAt ?? submitted.updatedAt)}</time>
    ${!isOver(job) && html`
      <span class="job-progress">
        <progress max="100" value=${job.progress} aria-label=${`${nameOf(submitted)}: ${job.progress} %`}></progress>
        <button class="button is-quiet" onClick=${cancel} aria-label=${`Call off ${nameOf(submitted)}`}>Call off</button>
      </span>`}
    ${isFailed && reason && html`<span class="job-reason"><bdi>${reason}</bdi></span>`}`;
}
