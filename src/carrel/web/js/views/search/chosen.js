// What narrows the search, as chips that can be taken away.
import { html } from "../../dom.js";
import { goWith } from "../../router.js";
import { Icon } from "../../parts/icons.js";
import { usePapers } from "./pages.js";
import { applies, EVERYWHERE, isNarrowed } from "./wanted.js";

export function Chosen({ wanted, chapters }) {
  const papers = usePapers(wanted.paper);
  const chips = chipsOf(wanted, papers, chapters).filter(({ name }) => applies(wanted, name));
  if (!isNarrowed(wanted)) return null;
  return html`
    <div class="chosen" role="group" aria-label="Narrowed by">
      ${chips.map(({ key, text, changes }) => html`
        <button class="chip is-on" key=${key} aria-label=${`Drop: ${text}`} onClick=${() => goWith({ ...changes, figure: "" })}>
          <bdi>${text}</bdi><${Icon} name="close" size="12" /></button>`)}
      ${chips.length > 1 && html`<button class="plain-link" onClick=${() => goWith(EVERYWHERE)}>drop all</button>`}
    </div>`;
}

function chipsOf(wanted, papers, chapters) {
  const chapter = chapters.find((one) => String(one.chapter) === wanted.chapter);
  const section = chapter?.sections.find((one) => String(one.section) === wanted.section);
  const chip = (name, text, changes, key = name) => ({ key, name, text, changes });
  return [
    wanted.yearMin && chip("yearMin", `from ${wanted.yearMin}`, { yearMin: "" }),
    wanted.yearMax && chip("yearMax", `to ${wanted.yearMax}`, { yearMax: "" }),
    wanted.venue && chip("venue", wanted.venue, { venue: "" }),
    ...wanted.tag.map((tag) => chip("tag", tag, { tag: wanted.tag.filter((one) => one !== tag) }, `tag ${tag}`)),
    ...wanted.paper.map((id) => chip(
      "paper", papers.get(id)?.title || id, { paper: wanted.paper.filter((one) => one !== id), chapter: "", section: "" }, `paper ${id}`)),
    wanted.chapter && chip("chapter", chapter?.chapterTitle || `chapter ${wanted.chapter}`, { chapter: "", section: "" }),
    wanted.section && chip("section", section?.sectionTitle || `section ${wanted.section}`, { section: "" }),
  ].filter(Boolean);
}
