# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Turns rankings into answers and files, for every command with results; and says how to deploy the
answers, on pages and in the terminal.
"""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from model_analyzer.app.delivery import files
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.models import ModelConfig, group_members
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import ExportSettings, ProfileSettings, ReportSettings
from model_analyzer.reports.alternatives import Deployment, goal_flags
from model_analyzer.reports.build import Page, ReportOrigin, build_page
from model_analyzer.reports.fleet import FleetModel
from model_analyzer.reports.formats import rows_of_formats
from model_analyzer.reports.images import Images
from model_analyzer.reports.renderer import Renderer
from model_analyzer.reports.tables import (
    Table,
    answer_table,
    gpu_table,
    inference_table,
    server_table,
)
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.answer import (
    Answer,
    ModelAnswer,
    answer_of,
    by_model,
    top,
    top_with_default,
)
from model_analyzer.results.ranking import Ranking, rank_across

_NO_GOALS: Mapping[str, Goal] = {}

_MANIFEST = " --format kubernetes"

# Pages have the configurations of so many of the best variants.
_MOST_CONFIGURATIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploying:
    """What a command needs to give the same recommendation again: the `checkpoint` in a `directory`
    with a `prefix`, and where the goals and prices come from. `other_goals` has, by subject, each
    goal that differs from the goal in the checkpoint. `originals` are the configurations in the
    model repository, by model.
    """

    checkpoint: Path | None
    directory: Path
    prefix: str
    config_file: Path | None
    prices: Path | None
    originals: Mapping[str, ModelConfig]
    other_goals: Mapping[str, Goal]

    @classmethod
    def of_run(
        cls,
        checkpoint: Path | None,
        settings: ProfileSettings,
        originals: Mapping[str, ModelConfig],
        other_goals: Mapping[str, Goal] = _NO_GOALS,
    ) -> Deploying:
        """With the settings of `profile` or `analyze`."""
        return cls(
            checkpoint=checkpoint,
            directory=settings.checkpoint.directory,
            prefix=settings.checkpoint.prefix,
            config_file=settings.config_file,
            prices=settings.prices,
            originals=originals,
            other_goals=other_goals,
        )

    @classmethod
    def of_report(
        cls,
        checkpoint: Path | None,
        settings: ReportSettings,
        originals: Mapping[str, ModelConfig],
        other_goals: Mapping[str, Goal],
    ) -> Deploying:
        """With the settings of `report`."""
        return cls(
            checkpoint=checkpoint,
            directory=settings.checkpoint_directory if checkpoint is None else checkpoint.parent,
            prefix=settings.checkpoint_prefix,
            config_file=settings.config_file,
            prices=settings.prices,
            originals=originals,
            other_goals=other_goals,
        )

    def deployment(self, answer: Answer) -> Deployment:
        """How to use an answer, for its page, with masked secrets."""
        ranking = answer.ranking
        return Deployment(
            configuration=files.head_of(answer) + files.masked_configurations(answer.best)
            if answer.best
            else "",
            difference=files.configuration_difference(
                answer.best, ranking, self.originals, masks=True
            ),
            command=self.command(answer),
            start=shlex.join(self._words(ranking)) if self._is_named(ranking) else "",
            configurations=tuple(
                (
                    files.masked_configurations(result),
                    files.configuration_difference(result, ranking, self.originals, masks=True),
                )
                for result in ranking.results[:_MOST_CONFIGURATIONS]
            ),
        )

    def command(self, answer: Answer) -> str:
        """The command that gives the same recommendation from the checkpoint; "" if there is none
        to deploy, or if the ranking is across models.
        """
        ranking = answer.ranking
        if not (self._is_named(ranking) and answer.is_met) or files.is_of_openai(ranking):
            return ""
        goal = self.other_goals.get(ranking.model)
        words = [*self._words(ranking)]
        if goal is not None and len(set(goal.models)) == 1:
            return f"{shlex.join(words)} {goal_flags(goal.models[0], ends=True)}{_MANIFEST}"
        if goal is not None and self.config_file is not None:
            words += ["-f", _short(self.config_file)]
        return f"{shlex.join(words)}{_MANIFEST}"

    def _is_named(self, ranking: Ranking) -> bool:
        """Whether a command can name the model of the ranking."""
        return self.checkpoint is not None and not ranking.is_across_models

    def _words(self, ranking: Ranking) -> Sequence[str]:
        """The beginning of the command, without the goals."""
        words = ["model-analyzer", "best", "-m", ranking.model]
        if self.checkpoint is not None and self.checkpoint.parent != self.directory:
            words.append(_short(self.checkpoint))
        else:
            words += ["-s", _short(self.directory)]
            if self.prefix:
                words += ["--checkpoint-prefix", self.prefix]
        if self.prices is not None:
            words += ["--prices", _short(self.prices)]
        if ranking.group is not None and len(ranking.groups) > 1:
            words += ["--conditions", str(ranking.group.number)]
        return words


def _short(path: Path) -> str:
    """The path relative to the current directory, if it is inside it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative


log = logging.getLogger(__name__)

_ACROSS_MODELS = "Best Configs Across All Models"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the measurements say: an answer for each model, and the values to show and to write.

    `answers` has an answer for each model on each kind of hardware; `searched` are the kinds of
    this run, None for all. `pages` come with a table for each of their parts, and the page across
    models is last; `tables` come with their titles and file names. `complete` says
    whether all searches ended normally; None means unknown.
    """

    rankings: Sequence[Ranking]
    answers: Sequence[Answer]
    sentences: Sequence[tuple[Answer, str]]
    searched: Collection[str] | None
    pages: Sequence[tuple[Page, Sequence[Table]]]
    tables: Sequence[tuple[str, str, Table]]
    deploying: Deploying
    origin: ReportOrigin
    complete: bool | None

    def is_success(self, export: ExportSettings) -> bool:
        """Whether something was measured of every model, and the answers meet the constraints
        where they have to. Kinds of hardware of earlier runs do not count.
        """
        answers = [
            answer
            for answer in self.answers
            if self.searched is None or answer.ranking.kind in ("", *self.searched)
        ]
        is_missed = export.fail_on_miss and not all(
            answer.is_met and not answer.is_unchecked for answer in answers
        )
        return all(answer.ranking.results for answer in answers) and not is_missed


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The written files: `paths` are those for the user to open; `remarks` are about images that
    are missing in them, and about models that answers configure differently. `deployments` are
    pairs of a model and the command that prints its manifest.
    """

    paths: Sequence[Path]
    remarks: Sequence[str]
    error_log: Path | None
    deployments: Sequence[tuple[str, str]]


def answers_to(
    rankings: Sequence[Ranking],
    profile: Profile,
    deploying: Deploying,
    settings: ProfileSettings,
    *,
    complete: bool | None,
    searched: Collection[str] | None = None,
) -> Answers:
    """The answers of these rankings, one for each model on each kind of hardware; writes nothing.
    For the parameters see `Answers` and `deliver`.
    """
    origin = files.origin_of(profile, deploying.checkpoint)
    _log_count(rankings, is_cut_short=complete is False)
    every = [*map(answer_of, _with_best_of_all(rankings, settings))]
    models = by_model(every)
    pages = [
        build_page(
            model,
            [*map(deploying.deployment, model.answers)],
            best=_shown(model, settings),
            origin=origin,
            complete=complete is not False,
            offline=settings.offline,
            always_gpus=settings.monitors.always_gpus,
        )
        for model in models
    ]
    return Answers(
        rankings=rankings,
        answers=[answer for answer in every if not answer.ranking.is_across_models],
        sentences=[
            (answer, part.statement.sentence)
            for model, page in zip(models, pages, strict=True)
            for answer, part in zip(model.answers, page.parts, strict=True)
            if not answer.ranking.is_across_models
        ],
        searched=searched,
        pages=[
            (page, [_answer_table(answer, settings) for answer in model.answers])
            for model, page in zip(models, pages, strict=True)
        ],
        tables=_tables(profile, rankings, settings),
        deploying=deploying,
        origin=origin,
        complete=complete,
    )


def deliver(
    answers: Answers,
    settings: ProfileSettings,
    directory: ExportDirectory,
    *,
    charts: Renderer | None = None,
) -> Delivery:
    """Writes tables, reports and configurations to deploy. There is a ranking for each model on
    each kind of hardware. `charts` draws the charts, if it has been started.
    """
    deployable: dict[Path, None] = {}
    remarks: list[str] = []
    for answer, apart in files.told_apart(answers.answers):
        originals = answers.deploying.originals
        difference = files.configuration_difference(
            answer.best, answer.ranking, originals, apart=apart
        )
        written = files.write_best(directory, answer, difference, "best", apart=apart)
        deployable |= dict.fromkeys(written)
        remarks += apart.values()
    paths, missing = _write_reports(answers, settings, directory, charts)
    return Delivery(
        paths=(*paths, *(path for path in deployable if path.suffix == ".pbtxt")),
        remarks=[*remarks, *missing],
        error_log=files.write_error_log(directory, answers.rankings),
        deployments=[*_deployments(answers.answers, answers.deploying)],
    )


def _deployments(answers: Sequence[Answer], deploying: Deploying) -> Iterator[tuple[str, str]]:
    """Each model with a configuration to deploy, and the command that prints its manifest. If it
    was measured on several kinds of hardware, the kind is beside its name.
    """
    for answer in answers:
        command = deploying.command(answer)
        if command:
            ranking = answer.ranking
            kind = f" ({ranking.hardware})" if ranking.hardware else ""
            yield f"{ranking.model}{kind}", command


def _shown(model: ModelAnswer, settings: ProfileSettings) -> int:
    """The number of best configurations on a page."""
    is_across_models = model.answers[0].ranking.is_across_models
    return settings.export.best_of_all if is_across_models else settings.export.best


def _answer_table(answer: Answer, settings: ProfileSettings) -> Table:
    """The table of an answer."""
    ranking, export = answer.ranking, settings.export
    shown = (
        top(ranking, export.best_of_all)
        if ranking.is_across_models
        else top_with_default(ranking, export.best)
    )
    return answer_table(shown, ranking.goal)


def _log_count(rankings: Sequence[Ranking], *, is_cut_short: bool) -> None:
    measured = sum(len(ranking.results) for ranking in rankings)
    models = dict.fromkeys(ranking.model for ranking in rankings)
    if measured:
        log.info(
            "Profile %s. Profiled %d configurations for models: %s",
            "interrupted" if is_cut_short else "complete",
            measured,
            [name for model in models for name in group_members(model)],
        )


def _write_reports(
    answers: Answers, settings: ProfileSettings, directory: ExportDirectory, charts: Renderer | None
) -> tuple[Sequence[Path], Sequence[str]]:
    """Writes tables, results for programs, and pages. Returns the paths for the user to open, and
    remarks about missing images.
    """
    export = settings.export
    if export.skip_summary:
        return (), ()
    paths: list[Path] = []
    with Images(charts=charts) as images:
        pages = [page for page, _ in answers.pages]
        drawn = [images.svg(page.charts, page.model) for page in pages]
        if any(row.has_tables for _, row in rows_of_formats(export.formats)):
            paths += _write_tables(directory, answers.tables)
        writer = files.ReportWriter(
            directory=directory,
            images=images,
            formats=export.formats,
            offline=settings.offline,
            always_gpus=settings.monitors.always_gpus,
        )
        paths += writer.results(answers.answers, answers.origin, complete=answers.complete)
        written = [
            writer.summary(page, drawings, related=_related(page, answers, export))
            for page, drawings in zip(pages, drawn, strict=True)
        ]
        paths += _write_overview(answers, written, directory)
        paths += chain.from_iterable(written)
        _write_details(answers, settings, writer)
        return paths, images.remarks()


def _related(page: Page, answers: Answers, export: ExportSettings) -> Sequence[files.Related]:
    """The pages that a summary links."""
    overview = [files.OVERVIEW] if _has_overview(answers) else []
    rankings = [ranking for ranking in answers.rankings if ranking.model == page.model]
    if export.skip_detailed:
        return overview
    return [
        *overview,
        *chain.from_iterable(files.details_of(each, export.best) for each in rankings),
    ]


def _has_overview(answers: Answers) -> bool:
    return len({answer.ranking.model for answer in answers.answers}) > 1


def _write_overview(
    answers: Answers, written: Sequence[Sequence[Path]], directory: ExportDirectory
) -> Sequence[Path]:
    """Writes the overview of several models, with links to their `written` pages; returns its path.
    It has no page across models: that is the last of the pages.
    """
    models = [
        FleetModel(
            answer=model,
            link=html.relative_to(directory.path / "reports").as_posix(),
            is_complete=answers.complete is not False,
        )
        for model, (html, *_) in zip(by_model(answers.answers), written, strict=False)
    ]
    return [files.write_fleet(directory, models)] if _has_overview(answers) else []


def _tables(
    profile: Profile, rankings: Sequence[Ranking], settings: ProfileSettings
) -> Sequence[tuple[str, str, Table]]:
    """Title, file name and content of each table."""
    export = settings.export
    gpu_metrics = gpu_table(rankings, export.gpu_fields, always=settings.monitors.always_gpus)
    return (
        (
            "Models (Inference)",
            export.inference_file,
            inference_table(rankings, export.inference_fields),
        ),
        ("Models (GPU Metrics)", export.gpu_file, gpu_metrics),
        (
            "Server Only",
            export.server_file,
            server_table(profile.server_only, export.server_fields),
        ),
    )


def _write_tables(
    directory: ExportDirectory, tables: Sequence[tuple[str, str, Table]]
) -> Sequence[Path]:
    paths = []
    for _, name, table in tables:
        if table.rows:
            paths.append(directory.write(table.to_csv(), "results", name))
        else:
            directory.remove("results", name)  # an earlier run may have written it
    return paths


def _with_best_of_all(rankings: Sequence[Ranking], settings: ProfileSettings) -> Sequence[Ranking]:
    """The rankings, plus a ranking across all models on each kind of hardware if requested."""
    if not settings.export.best_of_all:
        return rankings
    goal = Goal(models=(settings.goal,))
    return [*rankings, *rank_across(rankings, goal, _ACROSS_MODELS)]


def _write_details(answers: Answers, settings: ProfileSettings, writer: files.ReportWriter) -> None:
    export = settings.export
    for ranking in answers.rankings:
        best = top(ranking, export.best)
        if export.skip_detailed:
            if best:
                log.info(
                    "To generate detailed reports for the %d best %s configurations, run"
                    " `model-analyzer report --report-model-configs %s --export-path %s"
                    " --checkpoint-directory %s`",
                    len(best),
                    ranking.model,
                    ",".join(result.name for result in best),
                    export.path,
                    settings.checkpoint.directory,
                )
            continue
        for result in best:
            writer.detail(result, ranking, answers.origin, export.plots)
