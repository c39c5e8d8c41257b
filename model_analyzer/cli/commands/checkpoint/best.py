# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint best`: another question to the same measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.complete import complete_model
from model_analyzer.cli.options import (
    allow_miss_option,
    checkpoint_argument,
    circumstances_option,
    directory_options,
    goal_options,
    path_option,
    prices_of,
    prices_option,
    remarks_option,
    shows_remarks,
)
from model_analyzer.cli.output import is_shown, open_checkpoint, warn_all
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
@prices_option
@circumstances_option
@allow_miss_option
@remarks_option
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
    from model_analyzer.app.checkpoints.best import best_variants
    from model_analyzer.cli.console import TerminalView

    variants = best_variants(
        open_checkpoint(which, directory, prefix),
        asked,
        count=top_n,
        model=model,
        circumstances=circumstances,
        directory=output_dir,
        prices=prices_of(click.get_current_context()),
    )
    warn_all(variants.remarks)
    view = TerminalView(0, with_remarks=shows_remarks(click.get_current_context()))
    has_all = True
    paths: list[Path] = []
    for each in variants.models:
        for answer in each.answers:
            statement, table = variants.statement(answer)
            view.answer(statement, table, variants.swept(answer), more="shown with -v")
            is_usable = is_shown(answer, allow_miss=allow_miss)
            has_all = has_all and is_usable
            paths += variants.write(answer) if is_usable else ()
        if each.is_of_several_kinds:
            view.hardware(each.model, variants.hardware(each))
    for path in paths:
        view.print(f"wrote {path}")
    return EXIT_OK if has_all else EXIT_RUN_FAILED
