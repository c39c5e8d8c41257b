# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rankings to files: tables, reports and configurations to deploy, in the export directory."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from model_analyzer.domain.models import ModelConfig, ModelVariant
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import OutputFormat, PlotSettings
from model_analyzer.reports.build import (
    Origin,
    Summary,
    build_detail,
    results_document,
    variant_document,
)
from model_analyzer.reports.html import render_detail, render_png, render_summary
from model_analyzer.reports.pdf import render_pdf
from model_analyzer.reports.plots import Chart
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.results.selection import top
from model_analyzer.runner.model_config import to_text


def origin_of(profile: Profile, checkpoint: Path | None) -> Origin:
    """Where the numbers of `profile` come from; it is written now."""
    return Origin(
        host=profile.host,
        devices=profile.devices,
        written=time.strftime("%Y-%m-%d %H:%M:%S %Z"),
        checkpoint=str(checkpoint) if checkpoint else "none",
    )


def parts_of(result: VariantResult) -> Sequence[ModelVariant]:
    """The variants with all that they are composed of, each model once."""
    found: dict[str, ModelVariant] = {}
    pending = list(result.variants)
    while pending:
        variant = pending.pop(0)
        found.setdefault(variant.model, variant)
        pending += variant.composing
    return list(found.values())


def configuration_difference(ranking: Ranking, originals: Mapping[str, ModelConfig]) -> str:
    """What turns the models' own config.pbtxt into the recommended ones, as unified diffs.

    `originals` are the configurations in the model repository, by name of model.
    """
    if not ranking.results or ranking.is_across_models:
        return ""
    lines: list[str] = []
    for variant in parts_of(ranking.results[0]):
        if variant.model in originals:
            lines += difflib.unified_diff(
                to_text(originals[variant.model]).splitlines(),
                to_text(variant.config).splitlines(),
                f"{variant.model}/config.pbtxt",
                f"best/{variant.model}/config.pbtxt",
                lineterm="",
            )
    return "\n".join(lines)


def write_best(directory: ExportDirectory, ranking: Ranking, difference: str) -> None:
    """The recommended configurations, ready to deploy."""
    if not ranking.results:
        for model in ranking.model.split(","):
            directory.remove("best", model)  # what an earlier run wrote is no longer true
        return
    for variant in parts_of(ranking.results[0]):
        directory.write(to_text(variant.config), "best", variant.model, "config.pbtxt")
    for variant in ranking.results[0].variants:
        directory.write(difference + "\n", "best", variant.model, "config.diff")


def write_variants(directory: ExportDirectory, ranking: Ranking, count: int) -> Sequence[Path]:
    """The `count` best variants, each with what it calls, as `MODEL/VARIANT/config.pbtxt`, and
    beside it its measurements; the paths of the configurations.
    """
    paths = []
    for result in top(ranking, count):
        for variant in parts_of(result):
            text = to_text(variant.config)
            paths.append(directory.write(text, variant.model, variant.name, "config.pbtxt"))
        document = json.dumps(variant_document(result, ranking), indent=1) + "\n"
        for variant in result.variants:
            directory.write(document, variant.model, variant.name, "measurements.json")
    return list(dict.fromkeys(paths))


def write_summary(directory: ExportDirectory, summary: Summary) -> Path:
    """The summary of one model, with its charts as images beside it."""
    _write_charts(directory, summary.charts, "simple", summary.model)
    return _write_report(
        directory, render_summary(summary), (), "summaries", summary.model, "result_summary"
    )


def write_detail(
    directory: ExportDirectory,
    result: VariantResult,
    origin: Origin,
    *,
    plots: Sequence[PlotSettings],
    offline: bool,
    always_gpus: bool,
    formats: Sequence[OutputFormat] = (),
) -> Path:
    """The detailed report of one variant, with its charts as images beside it."""
    detail = build_detail(
        result,
        origin=origin,
        configuration="\n".join(to_text(part.config) for part in parts_of(result)),
        plots=plots,
        offline=offline,
        always_gpus=always_gpus,
    )
    breakdown, *others = detail.charts
    _write_charts(directory, [breakdown], "detailed", result.name)
    _write_charts(directory, others, "simple", result.name)
    return _write_report(
        directory, render_detail(detail), formats, "detailed", result.name, "detailed_report"
    )


def _write_charts(
    directory: ExportDirectory, charts: Sequence[Chart], kind: str, name: str
) -> None:
    for chart in charts:
        directory.write(render_png(chart), "plots", kind, name, f"{chart.name}.png")


def _write_report(
    directory: ExportDirectory,
    text: str,
    formats: Sequence[OutputFormat],
    *parts: str,
) -> Path:
    """Writes a page, and the same as PDF where that is wanted; the path of the page."""
    *folders, name = parts
    path = directory.write(text, "reports", *folders, f"{name}.html")
    if OutputFormat.PDF in formats:
        directory.write(render_pdf(text), "reports", *folders, f"{name}.pdf")
    return path


def write_results(directory: ExportDirectory, rankings: Sequence[Ranking], origin: Origin) -> Path:
    """All results for machines."""
    document = results_document(rankings, origin)
    return directory.write(json.dumps(document, indent=1) + "\n", "results", "results.json")


def write_error_log(directory: ExportDirectory, rankings: Sequence[Ranking]) -> Path | None:
    """Commands and telling lines of the trials that failed, where scripts look for them."""
    failures = [failed for ranking in rankings for failed in ranking.failed]
    if not failures:
        directory.remove("perf_analyzer_error.log")
        return None
    parts = []
    for failed in failures:
        parts += [f"Trial: {failed.trial}", *(f"Command: {c}" for c in failed.failure.commands)]
        parts += ["", failed.failure.message, *failed.failure.log, ""]
    return directory.write("\n".join(parts), "perf_analyzer_error.log")
