from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from carrel.cli.common import Progress, State, json_option, print_json, warn_if_stale
from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from carrel.trials import Options

_FOLDER = click.Path(file_okay=False, path_type=Path)


class _Report(Protocol):
    """What was measured, in every form."""

    def as_dict(self, *, with_scores: bool = False) -> dict[str, Any]: ...

    def as_markdown(self) -> str: ...

    def as_svg(self) -> str: ...


@click.command("eval")
@click.argument("folder", metavar="DIR", required=False, type=_FOLDER)
@click.option("--part", metavar="NAME", default="test", help="Which queries and judgements: test, train …")
@click.option("--queries", metavar="N", type=click.IntRange(1), help="Ask only so many queries, drawn by chance.")
@click.option("--beside", metavar="EMBEDDER", multiple=True, help="Measure this embedder's vectors, too; repeatable.")
@click.option("--compare", metavar="A B", nargs=2, help="Say which is better: saved reports or settings KEY=VALUE,…")
@click.option("--calibrate", is_flag=True, help="Fit the threshold of answers: ask with and without what answers.")
@click.option("--write", is_flag=True, help="With --calibrate: put the threshold into the library's config.")
@click.option("--seed", metavar="N", type=click.IntRange(0), default=0, help="Where chance starts; 0 if not given.")
@click.option("--work", metavar="FOLDER", type=_FOLDER, help="Keep the index in this folder for the next time.")
@click.option("--out", metavar="FOLDER", type=_FOLDER, help="Write report.md, report.json and plot.svg there.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    folder: Path | None,
    part: str,
    queries: int | None,
    beside: tuple[str, ...],
    compare: tuple[str, str] | None,
    calibrate: bool,  # noqa: FBT001
    write: bool,  # noqa: FBT001
    seed: int,
    work: Path | None,
    out: Path | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Measure how well a test collection is searched: DIR has corpus.jsonl, queries.jsonl and qrels.tsv.

    Without DIR, the library is asked questions made of its own papers.
    """
    from carrel import trials

    state: State = context.obj
    options = trials.Options(part, queries, seed, work)
    if compare:
        _check_compared(beside, out)
        _compare(compare, folder, state, options, as_json=as_json)
        return
    if write and not calibrate:
        raise InvalidInput("--write has no part without --calibrate", hint="Leave it out, or add --calibrate.")
    if folder is None and (beside or work):
        raise InvalidInput("--beside and --work need a test collection", hint="Name its folder, or leave them out.")
    # Found before the long work begins.
    config = state.open().layout.config if write else None
    start = time.monotonic()
    with Progress() as progress:
        report = _measured(folder, state, options, beside, progress, calibrate=calibrate)
    click.echo(f"measured in {time.monotonic() - start:.1f} s", err=True)
    _show(report, out, as_json=as_json)
    if config:
        _keep(report, config)


def _measured(
    folder: Path | None,
    state: State,
    options: Options,
    beside: tuple[str, ...],
    progress: Progress,
    *,
    calibrate: bool,
) -> _Report:
    from carrel import trials
    from carrel.trials import calibrating, own

    if folder is not None:
        if calibrate:
            return calibrating.calibrate(folder, settings=state.flags, options=options, progress=progress)
        return trials.evaluate(folder, settings=state.flags, beside=beside, options=options, progress=progress)
    with state.open() as library:
        warn_if_stale(library)
        measure: Callable[..., _Report] = calibrating.calibrate_own if calibrate else own.evaluate
        return measure(library, count=options.queries or own.COUNT, seed=options.seed, progress=progress)


def _keep(report: _Report, config: Path) -> None:
    from carrel.evaluate.calibration_reports import CalibrationReport
    from carrel.trials import calibrating

    if isinstance(report, CalibrationReport):
        kept = calibrating.write(report, config)
        click.echo(f"{calibrating.KEY} = {kept} is in {str(config)!r}", err=True)


def _check_compared(beside: tuple[str, ...], out: Path | None) -> None:
    for option, value in {"--beside": beside, "--out": out}.items():
        if value:
            raise InvalidInput(f"{option} has no part in --compare", hint="Leave one of them out.")


def _compare(compared: tuple[str, str], folder: Path | None, state: State, options: Options, *, as_json: bool) -> None:
    from carrel import trials

    with Progress() as progress:
        found = trials.compare(*compared, folder=folder, settings=state.flags, options=options, progress=progress)
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(found.as_markdown(), nl=False)


def _show(report: _Report, out: Path | None, *, as_json: bool) -> None:
    if out:
        _write(report, out)
    if as_json:
        print_json(report.as_dict())
    else:
        click.echo(report.as_markdown(), nl=False)


def _write(report: _Report, out: Path) -> None:
    from carrel.files import write_atomically, writing

    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    told = json.dumps(report.as_dict(with_scores=True), ensure_ascii=False, indent=1)
    for name, text in {
        "report.md": report.as_markdown(),
        "report.json": f"{told}\n",
        "plot.svg": report.as_svg(),
    }.items():
        write_atomically(out / name, text.encode())
    click.echo(f"report.md, report.json and plot.svg are in {str(out)!r}", err=True)
