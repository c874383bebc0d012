// An answer as it grows: server-sent events over fetch, which can say who asks as EventSource cannot.
import { ask, Problem } from "./api.js";

const LOST = { error: "CUT_OFF", message: "The connection broke off in the middle of the answer", details: { hint: "Ask again: what is shown so far is not the whole of it." } };
const WAITS = [300, 1000, 2000];

/** Ask, and hear each event as `tell(type, data)`; comes back after the last one, or fails with a Problem.
 *
 * A connection that breaks off is taken up again where it was. A server that has forgotten the answer, as after a
 * restart, has nothing more to tell: then it fails, and what was heard is not the whole.
 */
export async function stream(question, tell, { signal } = {}) {
  let last = "";
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await opened(question, last, signal);
      if (answer.status === 204) throw new Problem(0, LOST);
      for await (const event of events(answer.body)) {
        if (event.id) last = event.id;
        const data = JSON.parse(event.data);
        tell(event.type, data);
        attempt = 0;
        if (event.type === "done") return;
        if (event.type === "error") throw new Problem(data.status ?? 500, { error: data.code, message: data.message, details: { hint: data.hint } });
      }
      throw new TypeError("ended without a word");
    } catch (failure) {
      if (failure.name === "AbortError") throw failure;
      const broken = failure instanceof TypeError || failure.isOffline;
      if (!broken || failure.error === "CUT_OFF") throw failure;
      if (!last || attempt >= WAITS.length) throw last ? new Problem(0, LOST) : failure;
      await pause(WAITS[attempt]);
    }
  }
}

const opened = (question, last, signal) => ask("/api/query/stream", {
  method: "POST",
  headers: { "Content-Type": "application/json", Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) },
  body: JSON.stringify(question),
  signal,
});

const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/** The events of a body: blocks of lines that end with an empty one. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const event = parsed(block);
        if (event.data) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(block) {
  const event = { type: "message", data: "", id: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event.type = value;
    else if (name === "data") event.data += value;
    else if (name === "id") event.id = value;
  }
  return event;
}
