// How questions end now, and how the library was used.
import { html } from "../../dom.js";
import { get } from "../../api.js";
import { useAsked, useEvery } from "../../asking.js";
import { goWith } from "../../router.js";
import { count, milliseconds, plural } from "../../wording.js";
import { Failure, Loading } from "../../parts/states.js";
import { Bars, Columns } from "../../parts/plots.js";

const OFTEN = 5000;
const SELDOM = 30_000;
const SPANS = { 7: "Week", 30: "Month", 365: "Year", 0: "All" };

export function Queries({ days }) {
  const span = Object.hasOwn(SPANS, days ?? "") ? days : "30";
  const now = useAsked((until) => get("/api/query/status", {}, { signal: until }), []);
  const asked = useAsked((until) => get("/api/stats", { days: span }, { signal: until }), [span]);
  const mayNot = asked.problem?.status === 403;
  useEvery(OFTEN, now.again);
  useEvery(SELDOM, () => mayNot || asked.again(), [mayNot]);
  return html`
    <section aria-labelledby="health-queries">
      <div class="section-head">
        <h2 class="section-title" id="health-queries">Questions and searches</h2>
        ${!mayNot && html`
          <div class="segments" role="group" aria-label="Over how long">
            ${["7", "30", "365", "0"].map((one) => html`
              <button class="segment" key=${one} aria-pressed=${one === span} onClick=${() => goWith({ days: one === "30" ? "" : one })}>${SPANS[one]}</button>`)}
          </div>`}
      </div>
      ${now.data && html`<${Now} status=${now.data} />`}
      ${mayNot && html`<p class="quiet">Your token may read; how the library is used is shown to its admin.</p>`}
      ${asked.problem && !mayNot && !asked.problem.isOffline && html`<${Failure} problem=${asked.problem} again=${asked.again} />`}
      ${!asked.data && !asked.problem && html`<${Loading} lines="3" />`}
      ${asked.data && !mayNot && html`<${Usage} usage=${asked.data} />`}
    </section>`;
}

function Now({ status: { capacity, metrics, health } }) {
  const ended = [
    [metrics.answered, "answered"], [metrics.unanswered, "of them without the evidence"], [metrics.left, "left by who asked"],
    [metrics.turnedAway, "turned away"], [metrics.timedOut, "out of time"], [metrics.failed, "failed"],
  ].filter(([number]) => number).map(([number, word]) => `${count(number)} ${word}`);
  const mean = metrics.meanLatencyMs === null ? "" : `, ${milliseconds(metrics.meanLatencyMs)} on average`;
  return html`
    <p class="now">
      <strong>${capacity.active}</strong> being answered, <strong>${capacity.queued}</strong> waiting; ${capacity.concurrent} at a time.
      ${" "}In the ${lasted(health.uptimeSeconds)} since the server began: ${ended.join(", ") || "no question yet"}${mean}.
    </p>`;
}

function lasted(seconds) {
  if (seconds < 90) return plural(Math.round(seconds), "second");
  if (seconds < 5400) return plural(Math.round(seconds / 60), "minute");
  return seconds < 172_800 ? plural(Math.round(seconds / 3600), "hour") : plural(Math.round(seconds / 86_400), "day");
}

function Usage({ usage }) {
  if (!usage.queries) return html`<p class="quiet">Nothing was asked in this time.</p>`;
  const answered = usage.answers - usage.unanswered;
  const degraded = usage.degraded ? `; a part failed in ${count(usage.degraded)}` : "";
  return html`
    <p class="now"><strong>${count(usage.queries)}</strong> ${usage.queries === 1 ? "query" : "queries"}, ${plural(usage.answers, "question")} among them,
      ${" "}${count(answered)} answered and ${count(usage.unanswered)} without the evidence for it${degraded}.</p>
    <div class="plots">
      <${Columns} title="Queries a day" head=${["Day", "Queries"]} values=${everyDay(usage.byDay, usage.days)} />
      <${Latency} latency=${usage.latency} />
      ${usage.confidence.length > 0 && html`<${Counted} title="Confidence of answers" head=${["Confidence", "Answers"]} shares=${ordered(usage.confidence, LEVELS)} kind=${(name) => `is-${name}`} />`}
      ${usage.ratings.length > 0 && html`<${Counted} title=${`Ratings, ${usage.meanRating.toFixed(1)} on average`} head=${["Rating", "Times"]} shares=${ordered(usage.ratings, ["5", "4", "3", "2", "1"])} />`}
    </div>
    ${usage.unansweredQuestions.length > 0 && html`
      <h3 class="plot-title">Lately without an answer</h3>
      <ul class="unanswered">${usage.unansweredQuestions.map((question, index) => html`
        <li key=${index}><a href=${`/ask?q=${encodeURIComponent(question)}`}><bdi>${question}</bdi></a></li>`)}</ul>`}`;
}

const LEVELS = ["high", "medium", "low", "insufficient"];
const ordered = (shares, names) => names.map((name) => shares.find((one) => one.name === name) ?? { name, count: 0 });

const Counted = ({ title, head, shares, kind = () => "" }) => html`
  <${Bars} title=${title} head=${head} label=${shares.map((one) => `${one.name} ${one.count}`).join(", ")}
    bars=${shares.map((one) => ({ name: one.name, value: one.count, said: count(one.count), kind: kind(one.name) }))}
    rows=${shares.map((one) => [one.name, count(one.count)])} />`;

const STAGES = {
  total: "In all", first_token: "First word", search: "Search", understanding: "Understanding", vector: "Meaning", keyword: "Words", graph: "Graph",
  rerank: "Reranking", evidence: "Evidence", generation: "Generation",
};

/** By stage: what half of the queries did not exceed and, faintly, what 95 of 100 did not. */
function Latency({ latency }) {
  const stages = Object.keys(STAGES).filter((stage) => stage in latency);
  const others = Object.keys(latency).filter((stage) => !Object.hasOwn(STAGES, stage));
  const row = (stage) => [STAGES[stage] ?? stage, ...["p50", "p95", "p99"].map((one) => milliseconds(latency[stage][one]))];
  return html`
    <${Bars} title="Latency: half within, and 95 of 100" head=${["Stage", "50 %", "95 %", "99 %"]}
      label=${stages.map((stage) => { const [name, half, most] = row(stage); return `${name} ${half}, ${most}`; }).join("; ")}
      bars=${stages.map((stage) => ({
        name: STAGES[stage], value: latency[stage].p50, more: latency[stage].p95,
        said: `${milliseconds(latency[stage].p50)} · ${milliseconds(latency[stage].p95)}`,
      }))}
      rows=${[...stages, ...others].map(row)} />`;
}

const DAY = 86_400_000;
const FEW_DAYS = 14;
const MOST_DAYS = 400;
const dayOf = (time) => new Date(time).toISOString().slice(0, 10);

/** Each day up to today, those without a query, too: of the time that was asked for, or of all that is kept. */
function everyDay(byDay, days) {
  const counts = new Map(byDay.map((one) => [one.name, one.count]));
  const today = Date.parse(dayOf(Date.now()));
  const kept = Math.round((today - Date.parse(byDay[0].name)) / DAY) + 1;
  const number = Math.min(MOST_DAYS, days || Math.max(kept, FEW_DAYS));
  return Array.from({ length: number }, (_, index) => {
    const name = dayOf(today - (number - 1 - index) * DAY);
    return { name, value: counts.get(name) ?? 0 };
  });
}
