// Who asks: a library that is not only for this machine wants to know.
import { html, useEffect, useState } from "../dom.js";
import { reachable, token, useToken } from "../api.js";
import { Dialog } from "./dialogs.js";

const REFUSED = "This token is not good, or not any more.";

/** Whether the server takes it; what is no token at all cannot even be sent. */
const isGood = (secret) =>
  fetch("/api/tags?limit=1", { headers: { Authorization: `Bearer ${secret}` }, cache: "no-store" })
    .then((answer) => answer.status !== 401, () => false);

/** Asked for where the server wants to know who asks; what failed for want of it is asked again. */
export function TokenDialog() {
  const [how, setHow] = useState(reachable.value);
  const [refused, setRefused] = useState("");
  useEffect(() => reachable.listen(setHow), []);
  if (how !== "denied") return null;
  const give = async (event) => {
    event.preventDefault();
    const secret = new FormData(event.target).get("token").trim();
    if (!await isGood(secret)) { setRefused(REFUSED); return; }
    setRefused("");
    useToken(secret);
  };
  const told = refused || (token() && REFUSED);
  return html`
    <${Dialog} title="This library asks for a token">
      <form onSubmit=${give}>
        <p>Whoever runs it makes one with <code>carrel token create NAME</code>. It is kept in this browser.</p>
        <label class="label" for="token">Token</label>
        <input class="field" id="token" name="token" type="password" autocomplete="off" required autofocus
          aria-invalid=${told ? "true" : null} aria-describedby=${told ? "token-refused" : null} />
        <p class="refused" id="token-refused" role="alert">${told}</p>
        <button class="button is-main">Go on</button>
      </form>
    <//>`;
}

/** What this browser knows, and the way to make it forget. */
export function KeptToken() {
  const [held, setHeld] = useState(Boolean(token()));
  const forget = () => { useToken(""); setHeld(false); };
  return held && html`
    <p class="kept-token">This browser keeps a token for this library. <button class="button is-quiet" onClick=${forget}>Forget it</button></p>`;
}
