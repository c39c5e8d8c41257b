# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`compare`: what changed between two checkpoints or servers, and whether that is allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from model_analyzer.cli.complete import complete_metrics, complete_model
from model_analyzer.cli.echo import echo
from model_analyzer.cli.run_options import given_run_options, run_options
from model_analyzer.cli.shared_options import (
    config_file_option,
    directory_options,
    format_option,
    goal_options,
    is_given,
    open_checkpoint,
    output_option,
    print_tables,
    put,
    warn_all,
)
from model_analyzer.errors import (
    EXIT_OK,
    EXIT_REGRESSION,
    EXIT_RUN_FAILED,
    UnusableCheckpoint,
    wrong,
)

if TYPE_CHECKING:
    from model_analyzer.config.given_options import GivenOptions
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.domain.trials import Load
    from model_analyzer.features.compare.comparison_report import ComparisonReport
    from model_analyzer.features.compare.live import LiveQuestion
    from model_analyzer.state.checkpoint import Checkpoint

_HTML = "html"
# Also compared between servers, unless the user chooses metrics.
_MEAN = "perf_latency_avg"


@dataclass(frozen=True, slots=True, kw_only=True)
class _LiveOptions:
    """The options of a comparison that measures."""

    budget: str
    concurrency: int | None
    request_rate: int | None
    models: Sequence[str]
    outputs: str | None
    config_file: Path | None


def _live_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`live`: None without --live. Refuses its options then."""
    options = (
        click.option(
            "--live",
            "is_live",
            is_flag=True,
            help="BASE and NEW are servers: grpc://HOST:PORT, a directory with models, or"
            " triton:VERSION with --model-repository. Measure them in turn until the difference is"
            " certain. Takes the options of profile for servers and perf_analyzer, too.",
        ),
        click.option(
            "--budget",
            default="10m",
            show_default=True,
            metavar="DURATION",
            help="Maximum time with --live.",
        ),
        click.option(
            "--concurrency",
            type=click.IntRange(1),
            metavar="N",
            help="Requests in flight with --live.  [default: twice as many as the instances of BASE"
            " take, at most 64; with -s, the load of the best]",
        ),
        click.option(
            "--request-rate",
            type=click.IntRange(1),
            metavar="N",
            help="Requests per second with --live, instead of a concurrency.",
        ),
        click.option(
            "-m",
            "--model",
            "models",
            multiple=True,
            metavar="MODEL",
            shell_complete=complete_model,
            help="Model to compare with --live. Can be repeated.  [default: all that both sides"
            " have]",
        ),
        click.option(
            "--outputs",
            type=click.Choice(["on", "off"]),
            help="Whether NEW has to give the outputs of BASE with --live.  [default: on]",
        ),
        config_file_option,
    )

    @wraps(command)
    def with_live(*arguments: Any, is_live: bool, **others: Any) -> Any:
        names = {each.name for each in fields(_LiveOptions)}
        chosen = {name: others.pop(name) for name in names}
        ctx = click.get_current_context()
        for parameter in ctx.command.params if not is_live else ():
            if parameter.name in names and is_given(ctx, parameter.name or ""):
                raise wrong(parameter.opts[-1], "only a --live comparison measures")
        live = _LiveOptions(**chosen) if is_live else None
        return command(*arguments, live=live, **others)

    decorated: Any = with_live
    for option in reversed(options):
        decorated = option(decorated)
    return cast("Callable[..., Any]", decorated)


@click.command("compare", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("base")
@click.argument("new")
@directory_options
@goal_options("the goal of the NEW run")
@click.option(
    "--metrics",
    "shown",
    default="perf_throughput,perf_latency_p99",
    show_default=True,
    metavar="METRIC,...",
    shell_complete=complete_metrics,
    help="Metrics to compare.",
)
@click.option(
    "--fail-on",
    "rules",
    multiple=True,
    metavar="RULE",
    help="Exit with status 3 if a model changed this much, for example 'perf_throughput<-3%', or"
    " if its best value in NEW meets the rule, for example 'perf_latency_p99>20'. Can be"
    " repeated.",
)
@click.option("--strict", is_flag=True, help="Fail even if a change may be noise.")
@_live_options
@run_options
@format_option(_HTML, "md", "markdown", "json", "junit")
@output_option
@click.pass_context
def compare(
    ctx: click.Context,
    base: str,
    new: str,
    directory: Path,
    prefix: str,
    asked: GoalOverride,
    shown: str,
    rules: Sequence[str],
    strict: bool,
    live: _LiveOptions | None,
    form: str,
    output: Path | None,
) -> int:
    """Show what changed from checkpoint BASE to checkpoint NEW, or from server to server.

    Each is a checkpoint directory, a file, DIR@WHICH, or WHICH in the checkpoint directory. WHICH
    is a number, a uuid or the beginning of a uuid, `best` or `latest`. Nothing is measured, unless
    the comparison is --live.

    \b
    Examples:
      model-analyzer compare old/checkpoints new/checkpoints
      model-analyzer compare old/checkpoints new/checkpoints --format html -o changes.html
      model-analyzer compare 0 1 --fail-on 'perf_throughput<-3%' --fail-on 'perf_latency_p99>20'
      model-analyzer compare --live triton:2.44 triton:2.51 --model-repository models
      model-analyzer compare --live grpc://old:8001 grpc://new:8001 --fail-on 'perf_latency_p99>5%'
    """
    from model_analyzer.config.kinds import Duration
    from model_analyzer.config.nodes import Node
    from model_analyzer.features.compare.comparison_page import (
        checkpoint_place,
        comparison,
        parse_metrics,
        parse_rule,
    )
    from model_analyzer.features.compare.live import LiveQuestion, loads_of
    from model_analyzer.reports.write import check_destination

    broken_by = [parse_rule(text) for text in rules]
    tags, is_whole = parse_metrics(shown), True
    if live is None:
        first, second = (
            _opened(*checkpoint_place(name, directory), prefix) for name in (base, new)
        )
        report = comparison((base, first), (new, second), asked, tags, broken_by, strict=strict)
    else:
        tags += [*([] if is_given(ctx, "shown") else [_MEAN]), *(rule.tag for rule in broken_by)]
        loads: Mapping[str, Load] = {}
        if is_given(ctx, "directory"):
            loads = loads_of(_opened("latest", directory, prefix), asked)
        question = LiveQuestion(
            tags=[*dict.fromkeys(tags)],
            rules=broken_by,
            strict=strict,
            budget_s=Duration().parse(Node(live.budget, "--budget")),
            load=_load(live),
            loads=loads,
        )
        check_destination(output, "-o")
        report, is_whole = _measured(ctx, (base, new), live, question)
    _show(report, form, output)
    if report.is_regression:
        return EXIT_REGRESSION
    return EXIT_OK if is_whole else EXIT_RUN_FAILED


def _load(live: _LiveOptions) -> Load | None:
    from model_analyzer.domain.trials import Load, LoadKind

    if live.concurrency is not None and live.request_rate is not None:
        raise wrong("--request-rate", "give this or --concurrency, not both")
    if live.request_rate is not None:
        return Load(kind=LoadKind.REQUEST_RATE, value=live.request_rate)
    return None if live.concurrency is None else Load(value=live.concurrency)


def _measured(
    ctx: click.Context,
    texts: Sequence[str],
    live: _LiveOptions,
    question: LiveQuestion,
) -> tuple[ComparisonReport, bool]:
    """The comparison of two servers, followed on standard error; False if it was interrupted."""
    from model_analyzer.cli.progress.at_terminal import caller_at_terminal
    from model_analyzer.features.compare.live import compare_live, targets

    def options(flags: Mapping[str, str], names: str) -> GivenOptions:
        outputs = {} if live.outputs is None else {"--outputs": live.outputs}
        return given_run_options(ctx, {**flags, **outputs}, live.config_file, names)

    base, new = targets(texts, options, live.models, (ctx.obj or {}).get("timings"))
    caller = caller_at_terminal(base.job.settings, 0, on_stderr=True)
    with closing(caller.tracker):
        return compare_live(base, new, question, caller), not caller.interrupts.requested


def _opened(which: str, directory: Path, prefix: str) -> Checkpoint:
    """The checkpoint, with warnings about it."""
    from model_analyzer.state.find import NoSuchCheckpoint

    try:
        checkpoint = open_checkpoint(which, directory, prefix)
    except NoSuchCheckpoint as error:
        raise UnusableCheckpoint(
            f"{which!r} is neither a directory or file nor a checkpoint of {directory}"
            f" (available: {error.present})"
        ) from error
    warn_all(checkpoint.remarks)
    return checkpoint


def _show(report: ComparisonReport, form: str, output: Path | None) -> None:
    from model_analyzer.cli.console import plain_table
    from model_analyzer.features.compare.comparison_report import (
        rendered,
        titled_tables,
        to_lines,
        verdict_lines,
    )
    from model_analyzer.reports.write import encoded

    content = _page(report) if form == _HTML else rendered(report, form)
    lines = [*to_lines(report), ""]
    if content is None and output is None:
        for line in lines:
            echo(line)
        print_tables(titled_tables(report))
        for line in verdict_lines(report):
            echo(line)
        return
    for title, table in titled_tables(report):
        lines += [line.rstrip() for line in plain_table(title, table)]
    text = "\n".join([*lines, *verdict_lines(report), ""])
    put(encoded(content or text), output, "the comparison")
    warn_all(verdict_lines(report, broken=True))


def _page(report: ComparisonReport) -> str:
    """The comparison as a page, with warnings about images that are missing in it."""
    from model_analyzer.features.compare.comparison_page import page_of

    text, remarks = page_of(report)
    warn_all(remarks)
    return text
