// A picture of the library, which the server may want to know of who asks.
import { html, useEffect, useState } from "../dom.js";
import { blob, token } from "../api.js";

/** `<img>` of an address of ours; `failed` is shown where there is none. */
export function Picture({ src, alt, failed = null, ...rest }) {
  const [url, setUrl] = useState(token() ? null : src);
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    setBroken(false);
    if (!token()) { setUrl(src); return undefined; }
    const calling = new AbortController();
    let made = null;
    blob(src, { signal: calling.signal }).then(
      (content) => { made = URL.createObjectURL(content); setUrl(made); },
      () => calling.signal.aborted || setBroken(true),
    );
    return () => { calling.abort(); if (made) URL.revokeObjectURL(made); };
  }, [src]);
  if (broken) return failed;
  return url && html`<img src=${url} alt=${alt} loading="lazy" decoding="async" onError=${() => setBroken(true)} ...${rest} />`;
}
