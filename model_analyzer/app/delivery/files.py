# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes tables, reports and configurations to deploy into the export directory."""

from __future__ import annotations

import difflib
import json
import posixpath
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from model_analyzer import __version__
from model_analyzer.domain.hardware import kind_folder
from model_analyzer.domain.models import (
    PARAMETER,
    ModelConfig,
    ModelVariant,
    differing_parameters,
    group_members,
    is_openai,
)
from model_analyzer.domain.profiles import FailedTrial, MeasuredTrial, Profile, TrialRecord
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.settings import OutputFormat, PlotSettings, ReportSettings
from model_analyzer.domain.words import printable
from model_analyzer.reports.build import Detail, Page, PageLink, ReportOrigin, build_detail
from model_analyzer.reports.document import results_document, variant_document
from model_analyzer.reports.fleet import FleetModel, fleet_page, render_fleet
from model_analyzer.reports.formats import rows_of_formats
from model_analyzer.reports.images import Drawings, Images, render_card
from model_analyzer.reports.remarks import miss_text
from model_analyzer.reports.renderer import Picture
from model_analyzer.reports.write import ExportDirectory, safe_name
from model_analyzer.results.answer import Answer, top
from model_analyzer.results.columns import rows_of
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.runner.model_config import to_text

_TOOL = f"model-analyzer {__version__}"


def origin_of(profile: Profile, checkpoint: Path | None) -> ReportOrigin:
    """The origin of the measurements in `profile`, with the current time as the report time."""
    return ReportOrigin(
        host=profile.host,
        cores=profile.cores,
        devices=profile.devices,
        written=_now(),
        checkpoint=str(checkpoint) if checkpoint else "none",
        tool=_TOOL,
    )


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S %Z")


def parts_of(result: VariantResult) -> Sequence[ModelVariant]:
    """The variants and their composing variants, each model once."""
    parts: dict[str, ModelVariant] = {}
    for variant in result.variants:
        for part in variant.with_parts():
            parts.setdefault(part.model, part)
    return list(parts.values())


def configurations_of(result: VariantResult) -> Mapping[str, str]:
    """The config.pbtxt of the variants and of their composing variants, by model."""
    return {part.model: to_text(part.config) for part in parts_of(result)}


def masked_configurations(result: VariantResult) -> str:
    """All of them together, with secrets in parameters masked, for report pages."""
    return "\n".join(to_text(masked_values(part.config)) for part in parts_of(result))


def originals_of(profile: Profile) -> Mapping[str, ModelConfig]:
    """The measured configurations of the model repository, by model. If a model has changed
    meanwhile, its newest one.
    """
    return {
        part.model: part.config
        for variant in profile.variants
        if variant.is_default
        for part in variant.with_parts()
    }


def configuration_difference(
    result: VariantResult | None,
    ranking: Ranking,
    originals: Mapping[str, ModelConfig],
    *,
    masks: bool = False,
    apart: Collection[str] = (),
) -> str:
    """Unified diffs from the original config.pbtxt files to those of a result of the ranking; "" if
    there is none.

    `originals` are the configurations in the model repository, by model. With `masks`, secrets in
    parameters are masked, for report pages. `apart` as in `write_best`.
    """
    shown: Callable[[ModelConfig], ModelConfig] = masked_values if masks else dict
    if result is None or ranking.is_across_models:
        return ""
    lines: list[str] = []
    for variant in parts_of(result):
        if variant.model in originals:
            lines += difflib.unified_diff(
                to_text(shown(originals[variant.model])).splitlines(),
                to_text(shown(variant.config)).splitlines(),
                f"{variant.model}/config.pbtxt",
                "/".join(("best", *_place_of(ranking, variant.model, apart), "config.pbtxt")),
                lineterm="",
            )
    return "\n".join(lines)


def head_of(answer: Answer) -> str:
    """The first lines of a file: the hardware, if the model was measured on several kinds, whether
    the configuration is not known, and whether the answer does not meet the constraints.

    They are comments in config.pbtxt; programs that apply a diff skip lines before it.
    """
    hardware = answer.ranking.hardware
    place = f"# For {hardware}\n" if hardware else ""
    if is_of_openai(answer.ranking):
        place += "# Measured behind OpenAI's API: the configuration on the server is not known\n"
    return place if answer.is_met else f"{place}# {miss_text(answer)}\n"


def is_of_openai(ranking: Ranking) -> bool:
    """Whether the model was measured behind OpenAI's API."""
    return any(is_openai(part.config) for each in ranking.results[:1] for part in each.variants)


def places_of(ranking: Ranking) -> tuple[str, ...]:
    """The directory of a kind of hardware, if the model was measured on several; otherwise none."""
    return (kind_folder(ranking.hardware),) if ranking.hardware else ()


def _place_of(ranking: Ranking, model: str, apart: Collection[str]) -> tuple[str, ...]:
    """The directory of a recommended model: below that of the subject if it is written `apart`."""
    return (*places_of(ranking), *([ranking.model] if model in apart else []), model)


def told_apart(answers: Sequence[Answer]) -> Sequence[tuple[Answer, Mapping[str, str]]]:
    """The answers in the order to write them, those with the most models first; each with its
    models that another answer for the same hardware configures differently, and remarks on them.

    A model that was profiled itself is as its own answer says. Of others, no answer comes first.
    """
    parts = [parts_of(each.best) if each.best else () for each in answers]
    models = [{part.model: part for part in each} for each in parts]
    found = sorted(zip(answers, models, strict=True), key=lambda each: -len(each[1]))
    return [(answer, dict(_apart(answer.ranking, its, found))) for answer, its in found]


def _apart(
    ranking: Ranking,
    parts: Mapping[str, ModelVariant],
    found: Sequence[tuple[Answer, Mapping[str, ModelVariant]]],
) -> Iterator[tuple[str, str]]:
    for model, part in parts.items():
        users = [
            (other.ranking.model, theirs[model])
            for other, theirs in found
            if model in theirs and places_of(other.ranking) == places_of(ranking)
        ]
        place = "/".join((*_place_of(ranking, model, [model]), "config.pbtxt"))
        for other, its in [each for each in users if each[0] == model] or users:
            if to_text(its.config) != to_text(part.config):
                remark = (
                    f"{ranking.model} needs {model} with {_differing(part, its)} (recommended for"
                    f" {other}): one server cannot have both. For {ranking.model} it is in {place}"
                )
                yield model, remark


def _differing(part: ModelVariant, other: ModelVariant) -> str:
    """What the configuration of a model has instead of another's; secrets are masked."""
    alone = [replace(each, composing=()) for each in (part, other)]
    mine, theirs = map(differing_parameters(alone).__getitem__, (each.identity for each in alone))
    changes = (
        f"{name.removeprefix(PARAMETER)} {mine.get(name, 'not set')} instead of"
        f" {theirs.get(name, 'not set')}"
        for name in {**mine, **theirs}
    )
    return ", ".join(changes) or "other parameters"


def write_best(
    directory: ExportDirectory,
    answer: Answer,
    difference: str | None,
    *folders: str,
    apart: Collection[str] = (),
) -> Sequence[Path]:
    """Writes the recommended configurations to deploy and their `difference` from the originals
    (None: unknown) below the `folders`, and with several kinds of hardware in a directory for each;
    models that are `apart` are below the directory of the subject. Returns the paths. Files of an
    earlier run that are out of date are removed.
    """
    ranking, places = answer.ranking, places_of(answer.ranking)
    directory.remove_below(*folders, *places, ranking.model, file="config.pbtxt")
    if answer.best is None:
        for model in group_members(ranking.model):
            directory.remove(*folders, *places, model)
        return []
    for part in parts_of(answer.best):
        for file in ("config.pbtxt", "config.diff"):
            if places and folders:
                directory.remove(*folders, part.model, file)
            if part.model in apart:
                directory.remove(*folders, *places, part.model, file)
    head, texts = head_of(answer), configurations_of(answer.best)
    files = [(model, "config.pbtxt", text) for model, text in texts.items()]
    if difference is not None:
        files += [(each.model, "config.diff", f"{difference}\n") for each in answer.best.variants]
    return [
        directory.write(head + text, *folders, *_place_of(ranking, model, apart), file)
        for model, file, text in files
    ]


def write_variants(directory: ExportDirectory, answer: Answer, count: int) -> Sequence[Path]:
    """Writes the `count` best variants and their composing variants as
    `MODEL/VARIANT/config.pbtxt`, with their measurements beside them; with several kinds of
    hardware in a directory for each. Returns the paths of the configurations.
    """
    paths = []
    head, ranking = head_of(answer), answer.ranking
    places = places_of(ranking)
    for result in top(ranking, count):
        for variant in parts_of(result):
            text = head + to_text(variant.config)
            parts = (*places, variant.model, variant.folder)
            paths.append(directory.write(text, *parts, "config.pbtxt"))
        document = _document_text(variant_document(result, ranking))
        for variant in result.variants:
            parts = (*places, variant.model, variant.folder)
            directory.write(document, *parts, "measurements.json")
    return list(dict.fromkeys(paths))


def write_fleet(
    directory: ExportDirectory, models: Sequence[FleetModel], *, remarks: Sequence[str] = ()
) -> Path:
    """Writes the overview of these models; returns its path."""
    page = fleet_page(models, written=_now(), tool=_TOOL, remarks=remarks)
    return directory.write(render_fleet(page), "reports", "index.html")


class Related(NamedTuple):
    """A related page: the text of links to it, and its folders below `reports` with its file name
    without suffix.
    """

    text: str
    place: tuple[str, ...]


OVERVIEW = Related("All models", ("index",))


def details_of(ranking: Ranking, count: int) -> Sequence[Related]:
    """The detailed reports of the `count` best variants."""
    on = f" on {ranking.hardware}" if ranking.hardware else ""
    return [
        Related(f"Details of {result.telling_name}{on}", _place_of_detail(result, ranking))
        for result in top(ranking, count)
    ]


def _place_of_detail(result: VariantResult, ranking: Ranking) -> tuple[str, ...]:
    return ("detailed", *places_of(ranking), result.folder, "detailed_report")


def _links(pages: Sequence[Related], place: tuple[str, ...]) -> tuple[PageLink, ...]:
    """Links to the pages from the one at a `place`, which also work for files."""
    start = posixpath.dirname(_file_of(place))
    return tuple(
        PageLink(text=page.text, target=posixpath.relpath(_file_of(page.place), start))
        for page in pages
    )


def _file_of(place: tuple[str, ...]) -> str:
    return "/".join(map(safe_name, (*place[:-1], f"{place[-1]}.html")))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWriter:
    """Writes pages, pictures and documents for programs into the `directory`, in these `formats`.
    Each method returns the paths. With `always_gpus`, GPU metrics of CPU-only variants are shown.
    """

    directory: ExportDirectory
    images: Images
    formats: Collection[OutputFormat]
    offline: bool
    always_gpus: bool

    @classmethod
    def of_report(cls, settings: ReportSettings, images: Images) -> ReportWriter:
        """What writes as the settings of `report` say."""
        return cls(
            directory=ExportDirectory(settings.export_path),
            images=images,
            formats=settings.formats,
            offline=settings.offline,
            always_gpus=settings.always_gpus,
        )

    def summary(
        self, page: Page, drawings: Drawings, *folders: str, related: Sequence[Related] = ()
    ) -> Sequence[Path]:
        """The summary page of one model (HTML first), and its charts (`drawings`) and answers as
        images beside it, below the `folders`. It links the `related` pages.
        """
        pictures = self._pictures(drawings)
        place = ("summaries", *folders, page.model, "result_summary")
        paths = self._pages(replace(page, links=_links(related, place)), drawings, place)
        self._charts(drawings, pictures, "simple", *folders, page.model)
        cards = {}
        for part in page.parts:  # for each kind of hardware its own
            name = "-".join(["answer", kind_folder(part.hardware)] if part.hardware else ["answer"])
            cards[name] = Picture(render_card(part).encode())
        for form, drawn in self._pictures(cards).items():
            for name, picture in drawn.items():
                self._picture(picture, "reports", *place[:-1], f"{name}.{form}")
        return paths

    def detail(
        self,
        result: VariantResult,
        ranking: Ranking,
        origin: ReportOrigin,
        plots: Sequence[PlotSettings],
    ) -> Sequence[Path]:
        """The pages of the detailed report of one variant, and its charts as images beside them. It
        links the summary of the model and the overview, if they exist.
        """
        detail = build_detail(
            result,
            goal=ranking.goal,
            hardware=ranking.hardware,
            currency=ranking.currency,
            origin=origin.on_kind_of(ranking),
            configuration=masked_configurations(result),
            plots=plots,
            offline=self.offline,
            always_gpus=self.always_gpus,
        )
        drawings = self.images.svg(detail.charts, detail.variant)
        pictures = self._pictures(drawings)
        place, summary = _place_of_detail(result, ranking), ("summaries", ranking.model)
        related = [OVERVIEW, Related(f"Summary of {ranking.model}", (*summary, "result_summary"))]
        present = [each for each in related if self._exists(each)]
        paths = self._pages(replace(detail, links=_links(present, place)), drawings, place)
        breakdown, *plot_names = (chart.key for chart in detail.charts)
        for kind, names in (("detailed", [breakdown]), ("simple", plot_names)):
            chosen = {name: drawings[name] for name in names if name in drawings}
            self._charts(chosen, pictures, kind, *place[1:-1])
        return paths

    def results(
        self, answers: Sequence[Answer], origin: ReportOrigin, *, complete: bool | None
    ) -> Sequence[Path]:
        """All results for programs."""
        rankings = [answer.ranking for answer in answers]
        wishes = [tag for ranking in rankings for tag in ranking.goal.wishes_first(())]
        trials: Iterator[MeasuredTrial | FailedTrial] = chain.from_iterable(
            chain(ranking.measured, ranking.failed) for ranking in rankings
        )
        documents = {
            form: row.results(answers, origin, complete=complete)
            for form, row in rows_of_formats(self.formats)
            if row.results is not None
        }
        paths = self._documents(documents, "results", "results")
        return [*paths, *self._rows(trials, wishes, "results")]

    def measurements(self, result: VariantResult, ranking: Ranking) -> Sequence[Path]:
        """The measurements of one variant for programs, beside its detailed report."""
        folders = ("reports", "detailed", *places_of(ranking), result.folder)
        documents = {
            form: row.variant(result, ranking)
            for form, row in rows_of_formats(self.formats)
            if row.variant is not None
        }
        paths = self._documents(documents, "measurements", *folders)
        return [*paths, *self._rows(result.measured, ranking.goal.wishes_first(()), *folders)]

    def _documents(
        self, documents: Mapping[str, Mapping[str, Any]], name: str, *folders: str
    ) -> Sequence[Path]:
        return [
            self.directory.write(_document_text(document), *folders, f"{name}.{form}")
            for form, document in documents.items()
        ]

    def _rows(
        self,
        trials: Iterable[MeasuredTrial | FailedTrial],
        wishes: Sequence[str],
        *folders: str,
    ) -> Sequence[Path]:
        """The trials as tables, with the `wishes` as the first metrics."""
        forms = rows_of_formats(self.formats)
        encoders = [(form, row.rows) for form, row in forms if row.rows is not None]
        rows = rows_of(map(_record, trials)) if encoders else ()
        return [
            self.directory.write(encode(rows, wishes), *folders, f"measurements.{form}")
            for form, encode in encoders
        ]

    def _exists(self, page: Related) -> bool:
        return (self.directory.path / "reports" / _file_of(page.place)).is_file()

    def _pages(
        self, report: Page | Detail, drawings: Drawings, place: tuple[str, ...]
    ) -> Sequence[Path]:
        """The report as pages, HTML first, with images beside those that need them. `place` are
        its folders below `reports`, and the file name without suffix.
        """
        *folders, file = place
        paths: list[Path] = []
        for form, row in rows_of_formats(self.formats):
            if row.pages is None:
                continue
            text = row.pages.render(report, drawings)
            parts = ("reports", *folders, f"{file}.{form}")
            if row.are_printed:
                printed = self.images.pdf(text, f"{file} of {folders[-1]}")
                paths += self._picture(printed, *parts)
            else:
                paths.append(self.directory.write(text, *parts))
            if row.have_images:
                for key, drawing in drawings.items():
                    self._picture(drawing, "reports", *folders, *f"{key}.svg".split("/"))
        return paths

    def _pictures(self, drawings: Drawings) -> Mapping[str, Drawings]:
        """The drawings as images, by the name of the format."""
        return {
            form: row.images(self.images, drawings)
            for form, row in rows_of_formats(self.formats)
            if row.images is not None
        }

    def _charts(self, drawings: Drawings, pictures: Mapping[str, Drawings], *folders: str) -> None:
        """Writes the charts as images into these folders below `plots`."""
        for form, images in pictures.items():
            for chart, drawing in drawings.items():
                parts = f"{chart}.{form}".split("/")
                self._picture(images.get(chart, drawing), "plots", *folders, *parts)

    def _picture(self, picture: Picture, *parts: str) -> Sequence[Path]:
        """Writes an image; nothing if it could not be drawn."""
        if picture.content is None:
            self.directory.remove(*parts)  # the image of an earlier run is out of date
            return []
        return [self.directory.write(picture.content, *parts)]


def results_text(answers: Sequence[Answer], origin: ReportOrigin, *, complete: bool | None) -> str:
    """The content of results.json."""
    return _document_text(results_document(answers, origin, complete=complete))


def _document_text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1) + "\n"


def _record(item: MeasuredTrial | FailedTrial) -> tuple[str, TrialRecord]:
    outcome = item.measurement if isinstance(item, MeasuredTrial) else item.failure
    return item.trial.key, TrialRecord(trial=item.trial, outcome=outcome)


def write_error_log(directory: ExportDirectory, rankings: Sequence[Ranking]) -> Path | None:
    """Writes commands, messages and log lines of failed trials to the file that scripts read."""
    failures = [failed for ranking in rankings for failed in ranking.failed]
    if not failures:
        directory.remove("perf_analyzer_error.log")
        return None
    parts = []
    for failed in failures:
        parts += [f"Trial: {failed.trial}", *(f"Command: {c}" for c in failed.failure.commands)]
        parts += ["", failed.failure.message, *failed.failure.log, ""]
    return directory.write("\n".join(map(printable, parts)), "perf_analyzer_error.log")
