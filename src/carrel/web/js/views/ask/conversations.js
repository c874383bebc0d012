// Conversations of this tab: what was asked in each, and how each answer stands. They go on while another view is looked at.
import { useEffect, useState } from "../../dom.js";
import { reachable } from "../../api.js";
import { signal } from "../../events.js";
import { remember } from "../../store.js";
import { stream } from "../../stream.js";

const MOST = 12;
const INDEX = "carrel.conversations";
const named = (id) => `carrel.conversation.${id}`;
const open = new Map();
const working = new Map();

/** A new one's name, which the server knows it by. */
export const newConversation = () => crypto.randomUUID?.() ?? uuid(crypto.getRandomValues(new Uint8Array(16)));

// Pages that came unencrypted from another machine have no randomUUID.
function uuid(bytes) {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}

function stored(name, otherwise) {
  try {
    const found = JSON.parse(sessionStorage.getItem(name));
    return Array.isArray(found) ? found : otherwise;
  } catch {
    return otherwise;
  }
}

/** Its turns, `[]` where there is no such conversation in this tab. */
function conversation(id) {
  if (!open.has(id)) open.set(id, signal(stored(named(id), []).filter((turn) => typeof turn?.question === "string")));
  return open.get(id);
}

function save(id, turns) {
  const others = stored(INDEX, []).filter((one) => one !== id);
  try {
    for (const gone of others.slice(MOST - 1)) sessionStorage.removeItem(named(gone));
    sessionStorage.setItem(named(id), JSON.stringify(turns));
    sessionStorage.setItem(INDEX, JSON.stringify([id, ...others.slice(0, MOST - 1)]));
  } catch {
    // It is there until the page is closed.
  }
}

/** The one that was last spoken in, if any. */
export const latest = () => stored(INDEX, []).find((id) => conversation(id).value.length > 0) ?? null;

function change(id, at, changes, { lasting = true } = {}) {
  const turns = conversation(id).value.map((turn, index) => (index === at ? { ...turn, ...changes } : turn));
  conversation(id).set(turns);
  if (lasting) save(id, turns);
}

/** Turns are `{ question, where, state, text, citations, confidence, response, problem, rating }`.
 *
 * `state` is "asking", then "done", or "stopped" by the reader, or "broken": what came is not the whole.
 */
export function useConversation(id) {
  const [turns, setTurns] = useState(() => conversation(id).value);
  useEffect(() => {
    setTurns(conversation(id).value);
    return conversation(id).listen(setTurns);
  }, [id]);
  return turns;
}

export const turnsOf = (id) => conversation(id).value;

/** Go on in a conversation; gives the number of the turn. */
export function say(id, question, where) {
  const at = turnsOf(id).length;
  conversation(id).set([...turnsOf(id), { question, where }]);
  remember(question);
  answer(id, at);
  return at;
}

/** Whatever came of a turn, ask it again. */
export function answer(id, at) {
  stop(id, at);
  const { question, where } = turnsOf(id)[at];
  const calling = new AbortController();
  working.set(`${id} ${at}`, calling);
  change(id, at, { state: "asking", text: "", citations: [], confidence: null, response: null, problem: null, rating: null });
  stream({ query: question, sessionId: id, ...where }, (type, data) => hear(id, at, calling, type, data), { signal: calling.signal })
    .catch((problem) => fail(id, at, calling, problem))
    .finally(() => { if (working.get(`${id} ${at}`) === calling) working.delete(`${id} ${at}`); });
}

export function stop(id, at) {
  const calling = working.get(`${id} ${at}`);
  if (!calling) return;
  working.delete(`${id} ${at}`);
  calling.abort();
  change(id, at, { state: "stopped" });
}

function hear(id, at, calling, type, data) {
  if (calling.signal.aborted) return;
  const turn = turnsOf(id)[at];
  const tell = (changes, lasting) => change(id, at, changes, { lasting });
  if (type === "confidence") tell({ confidence: data }, false);
  else if (type === "citation") tell({ citations: [...turn.citations, data.citation] }, false);
  else if (type === "token") tell({ text: turn.text + data.content }, false);
  else if (type === "done") tell({ response: data.response, citations: data.response.citations, state: "done" }, true);
}

function fail(id, at, calling, problem) {
  if (calling.signal.aborted) return;
  const { message, hint = "", status = 0 } = problem;
  change(id, at, { state: "broken", problem: { message, hint, status } });
  // Asked for a token, the reader gives one, and then has not to ask again.
  if (status === 401) again(id, at);
}

function again(id, at) {
  const heard = reachable.listen((how) => {
    if (how !== "yes") return;
    heard();
    if (turnsOf(id)[at]?.state === "broken") answer(id, at);
  });
}

/** What was being answered when the page was left is asked again. */
export function takeUp(id) {
  turnsOf(id).forEach((turn, at) => {
    if (turn.state === "asking" && !working.has(`${id} ${at}`)) answer(id, at);
  });
}

export const rated = (id, at, rating) => change(id, at, { rating });
