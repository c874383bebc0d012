// The one way to the server: who asks, what failed, and whether it can be reached at all.
import { signal } from "./events.js";
import { kept, keep } from "./store.js";

/** What went wrong, as the server says it: `{ status, error, message, hint }`; status 0 when it did not answer. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.message);
    this.status = status;
    this.error = body.error;
    this.hint = Array.isArray(body.details)
      ? body.details.map((one) => `${one.field}: ${one.message}`).join("; ")
      : body.details?.hint ?? "";
  }

  get isOffline() { return this.status === 0; }
}

/** Whether the server answers: "yes", "no", or "denied" until a token is given. */
export const reachable = signal("yes");

const AGAIN = 2000;
let waiting = null;

function watch() {
  waiting ??= setInterval(async () => {
    const answer = await fetch("/api/health/live", { cache: "no-store" }).catch(() => null);
    if (!answer?.ok) return;
    clearInterval(waiting);
    waiting = null;
    reachable.set("yes");
  }, AGAIN);
}

/** What cannot be a token is none. */
export const token = () => [kept("token", "")].find((found) => typeof found === "string" && /^[!-~]+$/.test(found)) ?? "";

export function useToken(secret) {
  keep("token", secret || null);
  reachable.set("yes");
}

/** `fetch` with what the server must know of who asks; fails with a Problem, but for statuses that are answers, `also`. */
export async function ask(path, { also = [], ...options } = {}) {
  const headers = new Headers(options.headers);
  if (token()) headers.set("Authorization", `Bearer ${token()}`);
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (failure) {
    if (failure.name === "AbortError") throw failure;
    reachable.set("no");
    watch();
    throw new Problem(0, { error: "OFFLINE", message: "Carrel does not answer", details: { hint: "Is 'carrel serve' still running? This page goes on by itself once it is." } });
  }
  if (answer.status === 401) reachable.set("denied");
  if (!answer.ok && !also.includes(answer.status)) throw await problemOf(answer);
  return answer;
}

async function problemOf(answer) {
  const body = await answer.json().catch(() => null);
  return new Problem(answer.status, body?.message ? body : { error: "FAILED", message: `The server answered ${answer.status}` });
}

/** A path with its parameters; what is empty is left out, lists are repeated. */
export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "" && one !== false) query.append(name, one);
    }
  }
  return query.size ? `${path}?${query}` : path;
}

/** An address of the library in a path: its slashes stand, all else is encoded. */
export const inPath = (name) => String(name).split("/").map(encodeURIComponent).join("/");

export const get = async (path, parameters, { signal: until, also } = {}) =>
  (await ask(address(path, parameters), { signal: until, also })).json();

export const text = async (path, parameters) => (await ask(address(path, parameters))).text();

export const blob = async (path, { signal: until } = {}) => (await ask(path, { signal: until })).blob();

export const post = async (path, body, { signal: until } = {}) =>
  (await ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: until })).json();

export const remove = async (path) => (await ask(path, { method: "DELETE" })).json();

/** Send a file, telling how much of it has gone: `progress(0…1)`. */
export function upload(path, form, { progress = () => {}, signal: until } = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.responseType = "json";
    if (token()) request.setRequestHeader("Authorization", `Bearer ${token()}`);
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onload = () => {
      const body = request.response;
      if (request.status < 300) resolve(body);
      else reject(new Problem(request.status, body?.message ? body : { error: "FAILED", message: `The server answered ${request.status}` }));
    };
    request.onerror = () => {
      reachable.set("no");
      watch();
      reject(new Problem(0, { error: "OFFLINE", message: "Carrel does not answer" }));
    };
    request.onabort = () => reject(new DOMException("called off", "AbortError"));
    until?.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}
