# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint best`: another question to the same measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.checkpoint.goal import goal_options
from model_analyzer.cli.checkpoint.options import (
    checkpoint_argument,
    directory_options,
    path_option,
)
from model_analyzer.cli.circumstances import circumstances_option
from model_analyzer.cli.complete import complete_model
from model_analyzer.cli.miss import allow_miss_option, is_shown
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED

if TYPE_CHECKING:
    from model_analyzer.domain.goals import GoalOverride


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--model", metavar="MODEL", shell_complete=complete_model, help="Show only this model."
)
@goal_options("those of the run, otherwise perf_throughput")
@click.option(
    "--top-n", type=click.IntRange(1), default=3, metavar="N", show_default=True,
    help="Number of variants of each model to show and write.",
)  # fmt: skip
@circumstances_option
@allow_miss_option
@path_option(
    "--output-dir",
    metavar="DIR",
    help="Write DIR/MODEL/VARIANT/config.pbtxt, with the measurements beside it.",
)
def best(
    which: str,
    directory: Path,
    prefix: str,
    model: str | None,
    asked: GoalOverride,
    top_n: int,
    circumstances: int | None,
    allow_miss: bool,
    output_dir: Path | None,
) -> int:
    """Show the best variants for the goals of the run, or for other goals.

    Nothing is measured.

    \b
    Example:
      model-analyzer checkpoint best --constraint 'perf_latency_p99<20' --output-dir deploy
    """
    from model_analyzer.app.delivery.files import write_variants
    from model_analyzer.app.recommend import chosen_subjects, recommend
    from model_analyzer.app.selection.goals import goals_of
    from model_analyzer.cli.checkpoint.output import found, warn
    from model_analyzer.cli.console import View
    from model_analyzer.reports.build import build_summary
    from model_analyzer.reports.tables import answer_table
    from model_analyzer.reports.write import ExportDirectory
    from model_analyzer.results.selection import top_with_default

    checkpoint = found(which, directory, prefix)
    goals, remarks = goals_of(checkpoint, chosen_subjects(checkpoint, model, several=True), asked)
    for remark in remarks:
        warn(remark)
    recommendations = recommend(checkpoint, goals, circumstances=circumstances)
    view = View(0)
    origin = recommendations.origin
    has_all = True
    paths: list[Path] = []
    target = ExportDirectory(output_dir, "--output-dir") if output_dir is not None else None
    for answer in recommendations.answers:
        ranking = answer.ranking
        summary = build_summary(answer, best=top_n, origin=origin, difference="", complete=True)
        view.answer(
            summary,
            answer_table(top_with_default(ranking, top_n), ranking.goal, gpus=len(origin.devices)),
        )
        for remark in summary.remarks:
            warn(remark)
        is_usable = is_shown(answer, allow_miss=allow_miss)
        has_all = has_all and is_usable
        if target is not None and is_usable:
            paths += write_variants(target, answer, top_n, gpus=len(origin.devices))
    for path in paths:
        view.print(f"wrote {path}")
    return EXIT_OK if has_all else EXIT_RUN_FAILED
