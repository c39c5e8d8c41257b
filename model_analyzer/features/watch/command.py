# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer watch`: what was promised, beside what running servers show."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from model_analyzer.cli.complete import complete_model
from model_analyzer.cli.echo import echo
from model_analyzer.cli.shared_options import (
    directory_options,
    is_given,
    json_option,
    open_checkpoint,
    path_option,
    print_json,
    print_table,
    put,
    warn,
)
from model_analyzer.errors import EXIT_OK, EXIT_REGRESSION, EXIT_RUN_FAILED, wrong

if TYPE_CHECKING:
    from model_analyzer.features.watch.facts.server_counts import Look
    from model_analyzer.features.watch.server_readings import Promises, WatchedPlace, WatchReport

_ONCE_S = 10.0
# The line on the terminal is renewed after so many seconds.
_SHOWN_EVERY_S = 5.0

F = TypeVar("F", bound=Callable[..., int])


def _options(command: F) -> F:
    """What is watched, and how: `given` by name."""
    many: dict[str, Any] = {"multiple": True}
    times: dict[str, Any] = {"show_default": True, "metavar": "DURATION"}
    options = (
        click.option(
            "-m", "--model", metavar="MODEL", shell_complete=complete_model,
            help="Model to watch.  [default: all of the checkpoint]",
        ),
        click.option(
            "--variant", metavar="NAME",
            help="Variant that is deployed.  [default: the recommended one]",
        ),
        click.option(
            "--metrics-url", "metrics", metavar="URL", **many,
            help="Metrics of a server, such as http://host:8002/metrics; repeat it for replicas.",
        ),
        click.option(
            "--prometheus", metavar="URL",
            help="A Prometheus that reads the servers, instead: its last minutes (--for) count.",
        ),
        click.option(
            "--query-labels", "labels", default="", metavar="NAME=VALUE,...",
            help="Labels of the series in Prometheus, for example namespace=shop.",
        ),
        click.option(
            "--server-url", "servers", metavar="HOST:PORT", **many,
            help="HTTP address of a server, to compare its configuration, too; can be repeated.",
        ),
        click.option("--for", "duration", default="10m", help="Time to watch.", **times),
        click.option("--every", default="1s", help="Time between two readings.", **times),
        click.option("--once", is_flag=True, help="Take a short look, of 10 seconds."),
        click.option(
            "--replicas", type=click.IntRange(1), metavar="N",
            help="Replicas that should be there.  [default: one for each --metrics-url]",
        ),
        click.option(
            "--model-version", "version", metavar="N",
            help="Version of the model that was measured, if you know it.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command("watch", context_settings={"help_option_names": ["-h", "--help"]})
@directory_options
@_options
@path_option("--write-load", metavar="FILE", help="Write the traffic as a load for profile.")
@path_option("-o", "--output", metavar="FILE", help="Write what was seen as an HTML page, too.")
@json_option
def watch(directory: Path, prefix: str, **given: Any) -> int:
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
      model-analyzer watch --prometheus http://prometheus:9090 --replicas 3 -o watch.html
    """
    from model_analyzer.app.recommend import recommend
    from model_analyzer.config.kinds import Duration
    from model_analyzer.config.nodes import Node
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.features.watch.server_readings import (
        parse_labels,
        place_of,
        promises_of,
        read_prometheus,
    )
    from model_analyzer.features.watch.watch_text import watch_document, watch_page
    from model_analyzer.reports.write import encoded

    _check(given)
    seconds = _ONCE_S if given["once"] else Duration().parse(Node(given["duration"], "--for"))
    every_s = Duration().parse(Node(given["every"], "--every"))
    labels = parse_labels(given["labels"])
    places = [place_of(url, "--metrics-url", "/metrics") for url in given["metrics"]]
    servers = [place_of(url, "--server-url") for url in given["servers"]]
    checkpoint, model = open_checkpoint("latest", directory, prefix), given["model"]
    goal, several, variant = GoalOverride(), model is None, given["variant"]
    found = recommend(checkpoint, goal, model=model, several=several, variant=variant)
    promises = promises_of(checkpoint, found.answers, given["replicas"], given["version"])
    if places:
        looks = _followed(places, promises, seconds, every_s)
    else:
        source = place_of(given["prometheus"], "--prometheus")
        looks = read_prometheus(source, labels, time.time(), seconds)
    reports = promises.reports(looks, servers, are_replicas=bool(places))
    lasted = looks[-1].at - looks[0].at
    if given["as_json"]:
        print_json(watch_document(reports, lasted))
    else:
        _show(reports)
    if given["output"] is not None:
        put(encoded(watch_page(reports, lasted, looks[-1].at)), given["output"], "the page")
    _write_load(reports, given["write_load"])
    if any(report.watched.deviations for report in reports):
        return EXIT_REGRESSION
    return EXIT_OK if any(report.watched.scene.busy for report in reports) else EXIT_RUN_FAILED


def _check(given: Mapping[str, Any]) -> None:
    """Raises an error for options that do not fit together, and files that cannot be written."""
    from model_analyzer.reports.write import check_destination

    if bool(given["metrics"]) == (given["prometheus"] is not None):
        raise wrong("--metrics-url", "give the metrics of servers, or --prometheus instead")
    if given["labels"] and given["prometheus"] is None:
        raise wrong("--query-labels", "only --prometheus has labels")
    if given["once"] and is_given(click.get_current_context(), "duration"):
        raise wrong("--once", "not together with --for: give one of them")
    check_destination(given["output"], "-o")
    check_destination(given["write_load"], "--write-load")


def _followed(
    places: Sequence[WatchedPlace], promises: Promises, seconds: float, every_s: float
) -> Sequence[Look]:
    """What the servers say meanwhile; a line on the terminal follows it. An interrupt ends it."""
    from rich.console import Console
    from rich.text import Text

    from model_analyzer.cli.signals import SignalInterrupts
    from model_analyzer.domain.words import one_line
    from model_analyzer.features.watch.server_readings import look_for
    from model_analyzer.features.watch.watch_text import verdict_line

    interrupts = SignalInterrupts(lambda text: None)  # the answer comes at once
    interrupts.install()
    console, shown_s = Console(file=sys.stderr), 0.0
    with console.status("watching") if console.is_terminal else nullcontext() as status:

        def show(lasted: float, looks: Sequence[Look]) -> None:
            nonlocal shown_s
            is_time = status is not None and lasted >= shown_s + _SHOWN_EVERY_S
            if status is not None and is_time and not all(look.why_not for look in looks):
                shown_s = lasted
                reports = promises.reports(looks, (), are_replicas=True)
                text = "  ".join(verdict_line(report) for report in reports)
                status.update(Text(one_line(f"{lasted:.0f} of {seconds:.0f} s  {text}")))

        return look_for(places, seconds, every_s, stopped=lambda: interrupts.requested, show=show)


def _show(reports: Sequence[WatchReport]) -> None:
    from model_analyzer.features.watch.watch_text import other_lines, seen_table, verdict_line

    for report in reports:
        echo(verdict_line(report))
        for line in other_lines(report):
            echo(f"  {line}")
        table = seen_table(report)
        if table.rows:
            echo()
            print_table(f"{report.watched.model}, newest windows", table)


def _write_load(reports: Sequence[WatchReport], path: Path | None) -> None:
    from model_analyzer.features.watch.watch_text import traffic_file
    from model_analyzer.reports.write import encoded, write_file

    text = None if path is None else traffic_file(reports)
    if path is not None and text is None:
        warn(f"--write-load: too little traffic, so {path} was not written")
    if path is not None and text is not None:
        write_file(encoded(text), path, "--write-load")
        echo(f"wrote the traffic to {path}", err=True)
