"""What the commands share: opening the library, printing results and errors, showing progress."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import click

from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click._termui_impl import ProgressBar

    from carrel.library import Library
    from carrel.types import Filter, Standing

    Command = TypeVar("Command", bound=Callable[..., Any])

session_option = click.option(
    "--session", metavar="NAME", default="", help="Keep the conversation, and go on with it, under this name."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@dataclass(frozen=True)
class State:
    """What was said before the command's name."""

    library: str | None
    overrides: tuple[str, ...]
    log_level: str | None

    @property
    def flags(self) -> dict[str, str]:
        """Settings given on the command line."""
        flags = {"log_level": self.log_level} if self.log_level else {}
        for text in self.overrides:
            key, equals, value = text.partition("=")
            if not equals:
                raise InvalidInput(f"--set {text!r} is not KEY=VALUE", hint="As in --set search.limit=20.")
            flags[key.strip()] = value.strip()
        return flags

    @property
    def folder(self) -> str:
        from carrel import settings

        return self.library or settings.library_from_environment() or "."

    def open(self) -> Library:
        from carrel import telemetry
        from carrel.library import Library

        library = Library.open(self.folder, overrides=self.flags)
        telemetry.configure(library.settings.log_level)
        return library


def warn_if_stale(library: Library) -> None:
    """A search of an index that is behind the papers says so, whatever it finds."""
    from carrel.health import IndexState

    match library.index_state():
        case IndexState.STALE:
            click.echo("warning: the index is stale; run 'carrel index build'", err=True)
        case IndexState.BUILDING:
            click.echo("warning: the index is being built by another process; results are incomplete", err=True)


def print_json(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_plain)
    # The half of a character that a shell may pass on becomes the escape that JSON has for it.
    click.echo(text.encode("utf-8", "backslashreplace").decode())


def fail(message: str, hint: str, code: int, *, as_json: bool = False) -> int:
    if as_json:
        click.echo(json.dumps({"error": message, "hint": hint}, ensure_ascii=False), err=True)
    else:
        click.echo(f"error: {message}", err=True)
        if hint:
            click.echo(f"\n{hint}", err=True)
    return code


def title(text: str) -> str:
    return click.style(text, bold=True)


def faint(text: str) -> str:
    return click.style(text, dim=True)


def preview(text: str, length: int = 200) -> str:
    """The beginning of a text on one line, cut at a word."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length].rsplit(' ', 1)[0]} …"


def printable(text: str) -> str:
    """A file may come from anywhere; what it says does not steer the terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def mark(notice: str) -> str:
    """A word of warning before a title."""
    return click.style(f"[{notice}] ", fg="red") if notice else ""


def print_flags(standing: Standing, before: str = "") -> None:
    """What became of a paper after it was published."""
    from carrel.retractions import sentence

    for flag in standing.flags:
        click.echo(f"{before}{click.style(printable(sentence(flag)), fg='red')}")


def in_bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.1f} {unit}" if unit != "B" else f"{size:.0f} B"
        size /= 1000
    return f"{size:.1f} GB"


@dataclass
class Progress:
    """Bars on stderr, one a stage, when somebody is there to watch."""

    _bar: ProgressBar[int] | None = None
    _stage: str = ""
    _done: int = 0
    _visible: bool = field(default_factory=sys.stderr.isatty)

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.close()
            self._begin(stage, total)
        if self._bar is not None:
            self._bar.update(done - self._done)
            self._done = done

    def close(self) -> None:
        if self._bar is not None:
            self._bar.render_finish()
        self._bar = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _begin(self, stage: str, total: int) -> None:
        self._stage, self._done = stage, 0
        if not total:
            click.echo(f"{stage} …", err=True)
        elif self._visible:
            self._bar = click.progressbar(length=total, label=stage, file=sys.stderr, show_eta=True, show_percent=True)
            self._bar.render_progress()


def filter_options(command: Command) -> Command:
    """The options that restrict a search."""
    for option in reversed(list(_filters())):
        command = option(command)
    return command


def _filters() -> Iterator[Callable[[Command], Command]]:
    yield click.option("--paper", "papers", metavar="ID", multiple=True, help="Only this paper; may be repeated.")
    yield click.option("--year", metavar="A:B", help="Only these years: 2020, 2016:2019, 2016: or :2019.")
    yield click.option("--venue", metavar="TEXT", help="Only venues whose name contains this.")
    yield click.option("--tag", "tags", metavar="T", multiple=True, help="Only papers with this tag; any of several.")
    yield click.option("--topic", metavar="T", help="Only texts of this topic.")
    yield click.option("--chapter", type=click.IntRange(0), metavar="N", help="Only this chapter; needs --paper.")
    yield click.option("--section", type=click.IntRange(0), metavar="N", help="Only this section; needs --chapter.")


def make_filter(
    papers: tuple[str, ...],
    year: str | None,
    venue: str | None,
    tags: tuple[str, ...],
    topic: str | None,
    chapter: int | None,
    section: int | None,
) -> Filter:
    from carrel.types import Filter

    if section is not None and chapter is None:
        raise InvalidInput("section requires chapter", hint="Add --chapter N.")
    if chapter is not None and not papers:
        raise InvalidInput("chapter requires paper", hint="Add --paper ID.")
    first, last = years(year)
    return Filter(
        paper_ids=frozenset(papers),
        year_min=first,
        year_max=last,
        venue=venue or "",
        tags=frozenset(tags),
        topic=topic or "",
        chapter=chapter,
        section=section,
    )


def years(text: str | None) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    first, colon, last = text.partition(":")
    last = last if colon else first
    try:
        return int(first) if first else None, int(last) if last else None
    except ValueError as error:
        raise InvalidInput(
            f"--year {text!r} is not a year or a range", hint="As in 2020, 2016:2019, 2016: or :2019."
        ) from error


def _plain(value: object) -> object:
    if isinstance(value, frozenset | set | tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")
