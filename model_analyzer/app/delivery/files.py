# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rankings to files: tables, reports and configurations to deploy, in the export directory."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from model_analyzer import __version__
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.groups import group_members
from model_analyzer.domain.models import ModelConfig, ModelVariant
from model_analyzer.domain.printable import printable
from model_analyzer.domain.profiles import FailedTrial, MeasuredTrial, Profile, TrialRecord
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.settings import OutputFormat, PlotSettings
from model_analyzer.reports import html, markdown, parquet, pdf
from model_analyzer.reports.build import Detail, ReportOrigin, Summary, build_detail
from model_analyzer.reports.document import results_document, variant_document
from model_analyzer.reports.flat_text import to_csv
from model_analyzer.reports.images import Drawings, Images
from model_analyzer.reports.remarks import miss_text
from model_analyzer.reports.renderer import Picture
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.answer import Answer
from model_analyzer.results.flat_rows import Row, rows_of
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.results.selection import top
from model_analyzer.runner.model_config import to_text

# Formats that hold a row for each measurement.
_R = TypeVar("_R", Summary, Detail)

_TABLES = frozenset({OutputFormat.CSV, OutputFormat.PARQUET})


def check_installed(formats: Collection[OutputFormat]) -> None:
    """Makes sure that the formats can be written, so that nobody finds out after hours.

    Raises OutputError, with what to install.
    """
    if OutputFormat.PDF in formats:
        pdf.check_library()
    if OutputFormat.PARQUET in formats:
        parquet.library()


def origin_of(profile: Profile, checkpoint: Path | None) -> ReportOrigin:
    """Where the numbers of `profile` come from; it is written now."""
    return ReportOrigin(
        host=profile.host,
        cores=profile.cores,
        devices=profile.devices,
        written=time.strftime("%Y-%m-%d %H:%M:%S %Z"),
        checkpoint=str(checkpoint) if checkpoint else "none",
        tool=f"model-analyzer {__version__}",
    )


def parts_of(result: VariantResult) -> Sequence[ModelVariant]:
    """The variants with all that they are composed of, each model once."""
    found: dict[str, ModelVariant] = {}
    for variant in result.variants:
        for part in variant.with_parts():
            found.setdefault(part.model, part)
    return list(found.values())


def configurations_of(result: VariantResult) -> Mapping[str, str]:
    """The config.pbtxt of the variants and of all that they call, by name of model."""
    return {part.model: to_text(part.config) for part in parts_of(result)}


def originals_of(profile: Profile) -> Mapping[str, ModelConfig]:
    """The configurations in the model repository, as far as they were measured, by name of model.

    Of those that changed meanwhile, the newest.
    """
    return {
        part.model: part.config
        for variant in profile.variants
        if variant.is_default
        for part in variant.with_parts()
    }


def configuration_difference(
    ranking: Ranking, originals: Mapping[str, ModelConfig], *, masks: bool = False
) -> str:
    """What turns the models' own config.pbtxt into the recommended ones, as unified diffs.

    `originals` are the configurations in the model repository, by name of model. With `masks`,
    secrets in parameters are masked: for pages, which nobody deploys.
    """
    shown: Callable[[ModelConfig], ModelConfig] = masked_values if masks else dict
    if not ranking.results or ranking.is_across_models:
        return ""
    lines: list[str] = []
    for variant in parts_of(ranking.results[0]):
        if variant.model in originals:
            lines += difflib.unified_diff(
                to_text(shown(originals[variant.model])).splitlines(),
                to_text(shown(variant.config)).splitlines(),
                f"{variant.model}/config.pbtxt",
                f"best/{variant.model}/config.pbtxt",
                lineterm="",
            )
    return "\n".join(lines)


def head_of(answer: Answer) -> str:
    """The first line of files with an answer that misses the constraints; for others "".

    A comment in config.pbtxt; programs that apply a diff skip what stands before it.
    """
    return "" if answer.is_met else f"# {miss_text(answer)}\n"


def write_best(
    directory: ExportDirectory, answer: Answer, difference: str | None, *folders: str
) -> Sequence[Path]:
    """The recommended configurations, ready to deploy, below the `folders`, and the `difference`
    from the original ones, if it is known; the paths. What misses the constraints says so first.
    """
    if answer.best is None:
        for model in group_members(answer.ranking.model):
            directory.remove(*folders, model)  # what an earlier run wrote is no longer true
        return []
    head = head_of(answer)
    paths = [
        directory.write(head + text, *folders, model, "config.pbtxt")
        for model, text in configurations_of(answer.best).items()
    ]
    if difference is not None:
        paths += [
            directory.write(f"{head}{difference}\n", *folders, variant.model, "config.diff")
            for variant in answer.best.variants
        ]
    return paths


def write_variants(
    directory: ExportDirectory, answer: Answer, count: int, *, gpus: int
) -> Sequence[Path]:
    """The `count` best variants, each with what it calls, as `MODEL/VARIANT/config.pbtxt`, and
    beside it its measurements, on a machine with so many `gpus`; the paths of the configurations.
    """
    paths = []
    head, ranking = head_of(answer), answer.ranking
    for result in top(ranking, count):
        for variant in parts_of(result):
            text = head + to_text(variant.config)
            paths.append(directory.write(text, variant.model, variant.folder, "config.pbtxt"))
        document = _variant_text(result, ranking, gpus)
        for variant in result.variants:
            directory.write(document, variant.model, variant.folder, "measurements.json")
    return list(dict.fromkeys(paths))


def write_summary(
    directory: ExportDirectory,
    summary: Summary,
    images: Images,
    drawings: Drawings,
    formats: Collection[OutputFormat],
) -> Sequence[Path]:
    """The summary of one model, with its charts (as `drawings`) as images beside it; the paths of
    its pages.
    """
    pictures = _pictures(images, drawings, formats)
    renderers = _Renderers(
        html=html.render_summary, paper=pdf.paper_of_summary, markdown=markdown.render_summary
    )
    place = ("summaries", summary.model, "result_summary")
    paths = _write_pages(directory, summary, images, drawings, renderers, formats, place)
    _write_charts(directory, drawings, pictures, "simple", summary.model)
    return paths


def write_detail(
    directory: ExportDirectory,
    result: VariantResult,
    goal: Goal,
    origin: ReportOrigin,
    images: Images,
    *,
    plots: Sequence[PlotSettings],
    offline: bool,
    always_gpus: bool,
    formats: Collection[OutputFormat],
) -> Sequence[Path]:
    """The detailed report of one variant, with its charts as images beside it; the paths of its
    pages.
    """
    detail = build_detail(
        result,
        goal=goal,
        origin=origin,
        configuration="\n".join(to_text(masked_values(part.config)) for part in parts_of(result)),
        plots=plots,
        offline=offline,
        always_gpus=always_gpus,
    )
    drawings = images.svg(detail.charts, detail.variant)
    pictures = _pictures(images, drawings, formats)
    renderers = _Renderers(
        html=html.render_detail, paper=pdf.paper_of_detail, markdown=markdown.render_detail
    )
    place = ("detailed", result.folder, "detailed_report")
    paths = _write_pages(directory, detail, images, drawings, renderers, formats, place)
    breakdown, *others = (chart.name for chart in detail.charts)
    for kind, names in (("detailed", [breakdown]), ("simple", others)):
        chosen = {name: drawings[name] for name in names if name in drawings}
        _write_charts(directory, chosen, pictures, kind, result.folder)
    return paths


@dataclass(frozen=True, slots=True, kw_only=True)
class _Renderers(Generic[_R]):
    """What makes a report a page for the browser, for paper, and for a pull request."""

    html: Callable[[_R, Drawings], str]
    paper: Callable[[_R, Drawings], str]
    markdown: Callable[[_R], str]


def _write_pages(
    directory: ExportDirectory,
    report: _R,
    images: Images,
    drawings: Drawings,
    renderers: _Renderers[_R],
    formats: Collection[OutputFormat],
    place: tuple[str, str, str],
) -> Sequence[Path]:
    """The report as HTML and in those of the `formats` that are pages; `place` is its folder, the
    name of what it is about, and its file without the ending.
    """
    folder, name, file = place

    def parts(form: OutputFormat) -> Sequence[str]:
        return "reports", folder, name, f"{file}.{form.value}"

    page = renderers.html(report, drawings)
    paths = [directory.write(page, *parts(OutputFormat.HTML))]
    if OutputFormat.PDF in formats:
        printed = images.pdf(renderers.paper(report, drawings), f"{file} of {name}")
        paths += _write_picture(directory, printed, *parts(OutputFormat.PDF))
    if OutputFormat.MARKDOWN in formats:
        paths.append(directory.write(renderers.markdown(report), *parts(OutputFormat.MARKDOWN)))
    return paths


# Charts as the images that are written, by the form of these.
_Pictures = Mapping[OutputFormat, Drawings]


def _pictures(images: Images, drawings: Drawings, formats: Collection[OutputFormat]) -> _Pictures:
    pictures: dict[OutputFormat, Drawings] = {}
    if OutputFormat.PNG in formats:
        pictures[OutputFormat.PNG] = images.png(drawings)
    if OutputFormat.SVG in formats:
        pictures[OutputFormat.SVG] = drawings
    return pictures


def _write_charts(
    directory: ExportDirectory, drawings: Drawings, pictures: _Pictures, kind: str, name: str
) -> None:
    """The charts as images, below a folder for their kind and one for what they are about."""
    for form, images in pictures.items():
        for chart, drawing in drawings.items():
            picture = images.get(chart, drawing)
            _write_picture(directory, picture, "plots", kind, name, f"{chart}.{form.value}")


def _write_picture(directory: ExportDirectory, picture: Picture, *parts: str) -> Sequence[Path]:
    """Writes what was drawn; its path, none where it could not be drawn."""
    if picture.content is None:
        directory.remove(*parts)  # what an earlier run drew is no longer true
        return []
    return [directory.write(picture.content, *parts)]


def write_results(
    directory: ExportDirectory,
    answers: Sequence[Answer],
    origin: ReportOrigin,
    formats: Collection[OutputFormat],
    *,
    complete: bool | None,
) -> Sequence[Path]:
    """All results for machines; the paths."""
    paths = []
    if OutputFormat.JSON in formats:
        text = results_text(answers, origin, complete=complete)
        paths.append(directory.write(text, "results", "results.json"))
    tables = _TABLES.intersection(formats)
    rows = _rows([answer.ranking for answer in answers]) if tables else ()
    return [*paths, *_write_rows(directory, rows, tables, "results")]


def results_text(answers: Sequence[Answer], origin: ReportOrigin, *, complete: bool | None) -> str:
    """The content of results.json."""
    return json.dumps(results_document(answers, origin, complete=complete), indent=1) + "\n"


def _rows(rankings: Sequence[Ranking]) -> Sequence[Row]:
    """Every trial of the rankings, measured (best first) or failed."""
    trials: list[MeasuredTrial | FailedTrial] = []
    for ranking in rankings:
        trials += [*ranking.measured, *ranking.failed]
    return rows_of(map(_record, trials))


def _record(item: MeasuredTrial | FailedTrial) -> tuple[str, TrialRecord]:
    outcome = item.measurement if isinstance(item, MeasuredTrial) else item.failure
    return item.trial.key, TrialRecord(trial=item.trial, outcome=outcome)


def _write_rows(
    directory: ExportDirectory,
    rows: Sequence[Row],
    formats: Collection[OutputFormat],
    *folders: str,
) -> Sequence[Path]:
    """Rows as `measurements.…` in each of the formats for tables; the paths."""
    paths = []
    if OutputFormat.CSV in formats:
        paths.append(directory.write(to_csv(rows), *folders, "measurements.csv"))
    if OutputFormat.PARQUET in formats:
        paths.append(directory.write(parquet.to_parquet(rows), *folders, "measurements.parquet"))
    return paths


def write_measurements(
    directory: ExportDirectory,
    result: VariantResult,
    ranking: Ranking,
    formats: Collection[OutputFormat],
    *,
    gpus: int,
) -> Sequence[Path]:
    """The measurements of one variant beside its detailed report, for machines; the paths."""
    folders = ("reports", "detailed", result.folder)
    paths = []
    if OutputFormat.JSON in formats:
        text = _variant_text(result, ranking, gpus)
        paths.append(directory.write(text, *folders, "measurements.json"))
    tables = _TABLES.intersection(formats)
    rows = rows_of(map(_record, result.measured)) if tables else ()
    return [*paths, *_write_rows(directory, rows, tables, *folders)]


def _variant_text(result: VariantResult, ranking: Ranking, gpus: int) -> str:
    return json.dumps(variant_document(result, ranking, gpus=gpus), indent=1) + "\n"


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
    return directory.write("\n".join(map(printable, parts)), "perf_analyzer_error.log")
