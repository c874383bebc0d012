// Documents on their way into the library, from the file to the paper; they go on whichever view is shown.
import { get, post, upload } from "../api.js";
import { signal } from "../events.js";
import { keep, kept } from "../store.js";

/** Each `{ key, name, state, sent, progress, step, problem, paperId … }`, the first handed over first.
 *
 * The state is `waiting`, `sending` or `working` while it is on its way; then `done`, `failed`, `known`, `refused` or
 * `cancelled`.
 */
export const intake = signal([]);

const UNDERWAY = new Set(["waiting", "sending", "working"]);
const AT_ONCE = 2;
// The server takes in a few at a time and in order: those behind need not be asked after.
const FOLLOWED = 4;
const SOON = 800;
const LATER = 5000;
let latest = 0;

export const isUnderway = (entry) => UNDERWAY.has(entry.state);
const found = (key) => intake.value.find((entry) => entry.key === key);

function change(key, values) {
  intake.set(intake.value.map((entry) => (entry.key === key ? { ...entry, ...values } : entry)));
  remember();
}

/** What a page that is loaded anew can go on with: jobs, for files are gone then. */
function remember() {
  const jobs = intake.value.filter((entry) => entry.jobId && entry.state !== "done");
  keep("intake", jobs.length ? jobs.slice(-200).map(({ name, jobId, documentId }) => ({ name, jobId, documentId })) : null);
}

const entered = (values) => ({ key: (latest += 1), sent: 0, progress: 0, step: "", problem: null, force: false, ...values });

const READERS = "PDF, Markdown, plain text, JATS, TEI and Marker's JSON can be read.";
export const ENDINGS = ["pdf", "md", "markdown", "mdown", "txt", "text", "xml", "nxml", "tei", "json"];
const LISTS = ["bib", "bibtex", "biblatex", "ris", "jsonl", "ndjson", "csljson", "sqlite", "sqlite3", "db"];
export const endingOf = (name) => (/[^/]\.([^./]+)$/.exec(name)?.[1] ?? "").toLowerCase();

/** Why a file is not sent at all; null if it is. */
function refusal(file) {
  const ending = endingOf(file.name);
  if (LISTS.includes(ending)) return { message: "Lists of references are read by 'carrel add'", hint: "" };
  if (ending && !ENDINGS.includes(ending)) return { message: `Nothing reads .${ending} documents`, hint: READERS };
  return file.size ? null : { message: "The file is empty", hint: "" };
}

/** Hand files over: `[{ file, name }]`. */
export function takeIn(files) {
  const added = files.map(({ file, name }) => {
    const problem = refusal(file);
    return entered({ name, file, problem, state: problem ? "refused" : "waiting" });
  });
  intake.set([...intake.value, ...added]);
  pump();
}

/** Tell that files of a folder were left out. */
export const leaveOut = (name, problem) => intake.set([...intake.value, entered({ name, problem, state: "refused" })]);

function pump() {
  const sending = intake.value.filter((entry) => entry.state === "sending").length;
  for (const entry of intake.value.filter((one) => one.state === "waiting").slice(0, AT_ONCE - sending)) send(entry);
}

async function send({ key, file, force }) {
  const calling = new AbortController();
  change(key, { state: "sending", sent: 0, progress: 0, problem: null, calling });
  const form = new FormData();
  form.append("file", file, file.name);
  if (force) form.append("force", "true");
  try {
    const ticket = await upload("/api/ingest", form, { progress: (sent) => change(key, { sent }), signal: calling.signal });
    change(key, { state: "working", sent: 1, jobId: ticket.jobId, documentId: ticket.documentId, step: "queued" });
    follow(SOON);
  } catch (problem) {
    if (problem.error === "QUEUE_FULL") setTimeout(() => found(key)?.state === "sending" && retry(key), LATER);
    else change(key, problem.name === "AbortError" ? { state: "cancelled" } : { state: problem.error === "DOCUMENT_EXISTS" ? "known" : "failed", problem });
  }
  pump();
}

let timer = null;

function follow(pause) {
  if (timer === null) timer = setTimeout(look, pause, pause);
}

/** Ask after the jobs; less often where nothing moves. */
async function look(pause) {
  const jobs = intake.value.filter((entry) => entry.state === "working").slice(0, FOLLOWED);
  const moved = await Promise.all(jobs.map(lookAfter));
  timer = null;
  if (jobs.length) follow(moved.some(Boolean) ? SOON : Math.min(pause * 1.5, LATER));
}

/** Whether something happened to a job. */
async function lookAfter({ key, jobId, documentId, progress, step }) {
  try {
    const job = await get(`/api/ingest/${jobId}/status`);
    if (job.status === "complete") await finish(key, documentId);
    else if (job.status === "failed") change(key, { state: "failed", problem: { message: job.errorMessage ?? "It failed", hint: "" } });
    else if (job.status === "cancelled") change(key, { state: "cancelled" });
    else change(key, { progress: job.progress / 100, step: job.status === "queued" ? "queued" : job.currentStep ?? "" });
    return job.progress / 100 !== progress || job.currentStep !== step;
  } catch (problem) {
    if (problem.status === 404) change(key, { state: "failed", problem });
    return false;
  }
}

async function finish(key, documentId) {
  const { documents } = await get("/api/ingest", { status: "active", limit: 200 });
  const document = documents.find((one) => one.documentId === documentId);
  change(key, { state: "done", progress: 1, paperId: document?.paperId, title: document?.title, file: null });
  announce();
}

let telling = null;

/** Once for many that end together. */
function announce() {
  telling ??= setTimeout(() => { telling = null; dispatchEvent(new Event("carrel:changed")); }, 300);
}

export function cancel(key) {
  const entry = found(key);
  if (entry.state === "sending") entry.calling.abort();
  if (entry.state === "waiting") change(key, { state: "cancelled" });
  if (entry.state === "working") post(`/api/ingest/${entry.jobId}/cancel`, {}).then(() => lookAfter(entry), (problem) => change(key, { problem }));
}

/** Send it once more; with `force`, although the library has it. */
export function retry(key, { force = false } = {}) {
  change(key, { state: "waiting", problem: null, jobId: null, force: force || found(key).force });
  pump();
}

/** Take those that are over off the list: one, or all. */
export function dismiss(key = null) {
  intake.set(intake.value.filter((entry) => isUnderway(entry) || (key !== null && entry.key !== key)));
  remember();
}

/** Go on with jobs that this page does not have yet. */
function join(jobs) {
  const known = new Set(intake.value.map((entry) => entry.jobId));
  const added = jobs.filter(({ jobId }) => jobId && !known.has(jobId)).map((job) => entered({ ...job, sent: 1, state: "working", step: "queued" }));
  if (!added.length) return;
  intake.set([...intake.value, ...added]);
  follow(0);
}

/** What others have handed in, or this page before it was loaded anew. */
export async function catchUp() {
  const { documents } = await get("/api/ingest", { status: ["pending", "processing"], limit: 50 });
  join(documents.reverse().map(({ title, documentUrl, documentId, job }) => ({
    name: title || documentUrl.split("/").at(-1), documentId, jobId: job?.jobId,
  })));
}

join(kept("intake", []) ?? []);
addEventListener("beforeunload", (event) => {
  if (intake.value.some(({ state }) => state === "waiting" || state === "sending")) event.preventDefault();
});
