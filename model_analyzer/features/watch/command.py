# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer watch`: what was promised, beside what running servers show."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from model_analyzer.cli.complete import complete_model
from model_analyzer.cli.echo import echo
from model_analyzer.cli.output import open_checkpoint, print_table, put, warn
from model_analyzer.cli.shared_options import (
    directory_options,
    format_option,
    is_given,
    output_option,
    path_option,
)
from model_analyzer.errors import EXIT_OK, EXIT_REGRESSION, EXIT_RUN_FAILED, wrong

if TYPE_CHECKING:
    from model_analyzer.features.watch.facts.server_counts import Look
    from model_analyzer.features.watch.server_readings import WatchedPlace
    from model_analyzer.features.watch.watching import Promises, WatchReport

_ONCE_S = 10.0
# While it watches, what is known is judged again after so many seconds.
_SHOWN_EVERY_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """The options that say what is read, and how long. `metrics` and `servers` are URLs."""

    metrics: Sequence[str]
    prometheus: str | None
    query_labels: str
    servers: Sequence[str]
    duration: str
    every: str
    once: bool


def _source_options(command: Callable[..., int]) -> Callable[..., int]:
    """`sources`: what is read, and how long."""
    option: Any = click.option
    many, shown = {"multiple": True}, {"show_default": True, "metavar": "DURATION"}
    options = (
        option(
            "--metrics-url", "metrics", metavar="URL", **many,
            help="Metrics of a server, such as http://host:8002/metrics; repeat it for replicas.",
        ),
        option(
            "--prometheus", metavar="URL",
            help="A Prometheus that reads the servers, instead: its last minutes (--for) count.",
        ),
        option(
            "--query-labels", default="", metavar="NAME=VALUE,...",
            help="Labels of the series in Prometheus, for example namespace=shop.",
        ),
        option(
            "--server-url", "servers", metavar="HOST:PORT", **many,
            help="HTTP address of a server, to compare its configuration, too; can be repeated.",
        ),
        option("--for", "duration", default="10m", help="Time to watch.", **shown),
        option("--every", default="1s", help="Time between two readings.", **shown),
        option("--once", is_flag=True, help="Take a short look, of 10 seconds."),
    )  # fmt: skip

    @wraps(command)
    def with_sources(*arguments: Any, **others: Any) -> int:
        ctx = click.get_current_context()
        sources = _Sources(**{each.name: others.pop(each.name) for each in fields(_Sources)})
        if bool(sources.metrics) == (sources.prometheus is not None):
            raise wrong("--metrics-url", "give the metrics of servers, or --prometheus instead")
        if sources.query_labels and sources.prometheus is None:
            raise wrong("--query-labels", "only --prometheus has labels")
        if sources.once and is_given(ctx, "duration"):
            raise wrong("--once", "not together with --for: give one of them")
        return command(*arguments, sources=sources, **others)

    decorated: Any = with_sources
    for add in reversed(options):
        decorated = add(decorated)
    return cast("Callable[..., int]", decorated)


@click.command("watch", context_settings={"help_option_names": ["-h", "--help"]})
@directory_options
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=complete_model,
    help="Model to watch.  [default: all of the checkpoint]",
)
@click.option(
    "--variant", metavar="NAME", help="Variant that is deployed.  [default: the recommended one]"
)
@_source_options
@click.option(
    "--replicas",
    type=click.IntRange(1),
    metavar="N",
    help="Replicas that should be there.  [default: one for each --metrics-url]",
)
@click.option(
    "--model-version", metavar="N", help="Version of the model that was measured, if you know it."
)
@path_option(
    "--write-load",
    metavar="FILE",
    help="Write the traffic that was seen as a configuration for profile.",
)
@format_option("json", default="text")
@output_option
def watch(
    directory: Path,
    prefix: str,
    model: str | None,
    variant: str | None,
    sources: _Sources,
    replicas: int | None,
    model_version: str | None,
    write_load: Path | None,
    form: str,
    output: Path | None,
) -> int:
    """Compare running servers with what was measured: is production as promised?

    Reads the metrics of the servers, changes nothing, and says for each model whether it is as
    promised or what differs: failures, missing replicas, the servers, the time of requests, memory
    or the traffic. The exit status is 0 if all is as promised, 3 if something differs, and 1 if
    there was nothing to judge.

    \b
    Examples:
      model-analyzer watch --metrics-url http://localhost:8002/metrics --for 1m
      model-analyzer watch --metrics-url http://a:8002/metrics --metrics-url http://b:8002/metrics
      model-analyzer watch --prometheus http://prometheus:9090 --query-labels namespace=shop
      model-analyzer watch --metrics-url http://localhost:8002/metrics --write-load traffic.yaml
    """
    from model_analyzer.app.recommend import recommend
    from model_analyzer.config.kinds import Duration
    from model_analyzer.config.nodes import Node
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.features.monitoring.facts.service import FAILED, NEARLY_ALL
    from model_analyzer.features.watch.facts.deviations import WatchLimits
    from model_analyzer.features.watch.server_readings import (
        parse_labels,
        place_of,
        read_prometheus,
    )
    from model_analyzer.features.watch.watching import promises_of

    seconds = _ONCE_S if sources.once else Duration().parse(Node(sources.duration, "--for"))
    every_s = Duration().parse(Node(sources.every, "--every"))
    labels = parse_labels(sources.query_labels)
    places = [place_of(url, "--metrics-url", "/metrics") for url in sources.metrics]
    servers = [place_of(url, "--server-url") for url in sources.servers]
    limits = WatchLimits(
        failed=FAILED, nearly_all=NEARLY_ALL, replicas=replicas, version=model_version
    )
    checkpoint = open_checkpoint("latest", directory, prefix)
    goal, several = GoalOverride(), model is None
    recommended = recommend(checkpoint, goal, model=model, several=several, variant=variant)
    promises = promises_of(checkpoint, recommended.answers, limits)
    if sources.prometheus is None:
        looks = _followed(places, promises, seconds, every_s)
    else:
        source = place_of(sources.prometheus, "--prometheus")
        looks = read_prometheus(source, labels, time.time(), seconds)
    reports = promises.reports(looks, servers, are_replicas=bool(places))
    _show(reports, looks, form, output)
    _write_load(reports, write_load)
    if any(report.watched.deviations for report in reports):
        return EXIT_REGRESSION
    is_known = any(report.watched.scene.busy for report in reports)
    return EXIT_OK if is_known else EXIT_RUN_FAILED


def _followed(
    places: Sequence[WatchedPlace], promises: Promises, seconds: float, every_s: float
) -> Sequence[Look]:
    """What the servers say meanwhile; a line on the terminal follows it. An interrupt ends it."""
    from model_analyzer.cli.signals import SignalInterrupts
    from model_analyzer.features.watch.watch_text import verdict_line
    from model_analyzer.features.watch.watching import look_for

    interrupts = SignalInterrupts(lambda text: None)  # the answer comes at once
    interrupts.install()
    shown_s = 0.0
    with _live_line() as tell:

        def show(lasted: float, looks: Sequence[Look]) -> None:
            nonlocal shown_s
            if lasted < shown_s + _SHOWN_EVERY_S or all(look.why_not for look in looks):
                return
            shown_s = lasted
            reports = promises.reports(looks, (), are_replicas=True)
            lines = [verdict_line(report) for report in reports]
            tell(f"{lasted:.0f} of {seconds:.0f} s  {'  '.join(lines)}")

        return look_for(places, seconds, every_s, stopped=lambda: interrupts.requested, show=show)


@contextmanager
def _live_line() -> Iterator[Callable[[str], None]]:
    """What shows a line in place of the last one; nothing without a terminal."""
    from rich.console import Console
    from rich.text import Text

    from model_analyzer.domain.printable import one_line

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("watching") as status:
        yield lambda text: status.update(Text(one_line(text)))


def _show(
    reports: Sequence[WatchReport], looks: Sequence[Look], form: str, output: Path | None
) -> None:
    from model_analyzer.cli.console import plain_table
    from model_analyzer.features.watch.watch_document import watch_document
    from model_analyzer.features.watch.watch_text import other_lines, seen_table, verdict_line
    from model_analyzer.reports.write import encoded

    lines = []
    for report in reports:
        title, table = f"{report.watched.model}, newest windows", seen_table(report)
        words = [verdict_line(report), *(f"  {line}" for line in other_lines(report)), ""]
        if form == "text" and output is None:
            for line in words:
                echo(line)
            print_table(title, table)
        lines += [*words, *(line.rstrip() for line in plain_table(title, table))]
    text = "\n".join([*lines, ""])
    if form == "json":
        text = json.dumps(watch_document(reports, looks[-1].at - looks[0].at), indent=1) + "\n"
    if form == "json" or output is not None:
        put(encoded(text), output, "what was seen")


def _write_load(reports: Sequence[WatchReport], path: Path | None) -> None:
    from model_analyzer.features.watch.traffic_file import traffic_file
    from model_analyzer.reports.write import encoded, write_file

    if path is None:
        return
    text = traffic_file(reports)
    if text is None:
        warn(f"--write-load: too little traffic, so {path} was not written")
        return
    write_file(encoded(text), path, "--write-load")
    echo(f"wrote the traffic to {path}", err=True)
