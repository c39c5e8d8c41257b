# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rankings to files: tables, reports and configurations to deploy, in the export directory."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Sequence
from pathlib import Path

from model_analyzer.domain.profiles import Profile
from model_analyzer.reports.build import Origin, Summary, build_detail, results_document
from model_analyzer.reports.html import render_detail, render_summary
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.runner.model_config import to_text


def origin_of(profile: Profile, checkpoint: Path | None) -> Origin:
    """Where the numbers of `profile` come from; it is written now."""
    return Origin(
        host=profile.host,
        devices=profile.devices,
        written=time.strftime("%Y-%m-%d %H:%M:%S %Z"),
        checkpoint=str(checkpoint) if checkpoint else "none",
    )


def configuration_difference(ranking: Ranking) -> str:
    """What turns the model's own config.pbtxt into the recommended one, as a unified diff."""
    if not ranking.results or ranking.default is None:
        return ""
    best = ranking.results[0].variant
    lines = difflib.unified_diff(
        to_text(ranking.default.variant.config).splitlines(),
        to_text(best.config).splitlines(),
        f"{ranking.model}/config.pbtxt",
        f"best/{ranking.model}/config.pbtxt",
        lineterm="",
    )
    return "\n".join(lines)


def write_best(directory: ExportDirectory, ranking: Ranking, difference: str) -> None:
    """The recommended configuration, ready to deploy."""
    if ranking.results:
        text = to_text(ranking.results[0].variant.config)
        directory.write(text, "best", ranking.model, "config.pbtxt")
        directory.write(difference + "\n", "best", ranking.model, "config.diff")


def write_summary(directory: ExportDirectory, summary: Summary) -> Path:
    text = render_summary(summary)
    return directory.write(text, "reports", "summaries", summary.model, "result_summary.html")


def write_detail(
    directory: ExportDirectory, result: VariantResult, origin: Origin, *, always_gpus: bool
) -> Path:
    detail = build_detail(
        result,
        origin=origin,
        configuration=to_text(result.variant.config),
        always_gpus=always_gpus,
    )
    return directory.write(
        render_detail(detail), "reports", "detailed", result.variant.name, "detailed_report.html"
    )


def write_results(directory: ExportDirectory, rankings: Sequence[Ranking], origin: Origin) -> Path:
    """All results for machines."""
    document = results_document(rankings, origin)
    return directory.write(json.dumps(document, indent=1) + "\n", "results", "results.json")


def write_error_log(directory: ExportDirectory, rankings: Sequence[Ranking]) -> Path | None:
    """Commands and telling lines of the trials that failed, where scripts look for them."""
    failures = [failed for ranking in rankings for failed in ranking.failed]
    if not failures:
        return None
    parts = []
    for failed in failures:
        parts += [f"Trial: {failed.trial}", *(f"Command: {c}" for c in failed.failure.commands)]
        parts += ["", failed.failure.message, *failed.failure.log, ""]
    return directory.write("\n".join(parts), "perf_analyzer_error.log")
