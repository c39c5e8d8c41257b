# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Recommendations from a checkpoint, as files to deploy.

Writes what checkpoints say, without a server: details of variants, the overview of many models, and
the tables and reports of a run again (`analyze`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from pathlib import Path

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.delivery import files
from model_analyzer.app.delivery.answer import Answers, Delivery, Deploying, answers_to, deliver
from model_analyzer.app.selection import (
    chosen_subjects,
    given_or_of_run,
    goals_of,
    measured_subjects,
    other_goals,
    priced,
    ranked,
    run_of,
)
from model_analyzer.config.kinds import Number
from model_analyzer.config.nodes import Node
from model_analyzer.config.sources import read_prices
from model_analyzer.domain.goals import Goal, GoalOverride, ModelGoal
from model_analyzer.domain.models import ModelConfig, group_members, group_name
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import ProfileSettings, ReportSettings
from model_analyzer.domain.words import closest, first_few
from model_analyzer.errors import CheckpointError, ConfigError, Problem, UnusableCheckpoint, wrong
from model_analyzer.reports.build import ReportOrigin, Statement, build_page, state_answer
from model_analyzer.reports.fleet import FleetModel
from model_analyzer.reports.images import Images
from model_analyzer.reports.kubernetes import manifest
from model_analyzer.reports.libraries import writable
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.answer import Answer, answer_of, by_model
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.state.checkpoint import Checkpoint, load_chosen, load_existing

log = logging.getLogger(__name__)


def report(settings: ReportSettings) -> Iterator[Path]:
    """Writes a detailed report for each variant, and yields each path after writing it. Models are
    ranked by the goals that the user gives, and without any by those of the run in the checkpoint.

    Raises ConfigError, before it writes anything, if a variant was not measured.
    """
    settings = replace(settings, formats=writable(settings.formats))
    loaded = load_chosen(
        settings.checkpoint_file, settings.checkpoint_directory, settings.checkpoint_prefix
    )
    for warning in loaded.damage_warnings:
        log.warning("%s", warning)
    prices = None if settings.prices is None else read_prices(settings.prices)
    profile = replace(loaded.profile, prices=prices)
    results = _results(loaded, profile, settings)
    names = [name for name in settings.variants if name not in results]
    if names:
        raise ConfigError(*(_unknown(name, profile) for name in names))
    origin = files.origin_of(profile, loaded.path)
    with Images() as images:
        writer = files.ReportWriter.of_report(settings, images)
        for name in settings.variants:
            for result, ranking in results[name]:
                yield from writer.detail(result, ranking, origin, settings.plots[name])
                yield from writer.measurements(result, ranking)
        for remark in images.remarks():
            log.warning("%s", remark)


def _results(
    checkpoint: Checkpoint, profile: Profile, settings: ReportSettings
) -> Mapping[str, Sequence[tuple[VariantResult, Ranking]]]:
    """The results of each variant, by name: under the ranked conditions, or else under different
    ones, with a warning for requested variants. A name may have several results, with different
    composing variants, or on several kinds of hardware.
    """
    run_settings = run_of(settings.config_file)
    results: dict[str, Sequence[tuple[VariantResult, Ranking]]] = {}
    requested = {
        frozenset(group_members(record.trial.models))
        for record in profile.records
        if record.trial.variants in settings.variants
    }
    subjects = [
        subject
        for subject in measured_subjects(checkpoint)
        if frozenset(group_members(subject)) in requested
    ]
    goals, remarks = given_or_of_run(
        checkpoint, {subject: _given_goal(subject, settings) for subject in subjects}
    )
    for remark in remarks:
        log.info("%s", remark)
    for model, goal in goals.items():
        rankings = ranked(profile, model, goal, settings.conditions, run_settings)
        results |= _by_name(rankings)
        for part in chain.from_iterable(ranking.left_out for ranking in rankings):
            if settings.conditions is None and part.conditions is not None:
                more = _by_name(ranked(profile, model, goal, part.conditions))
                new = {name: pairs for name, pairs in more.items() if name not in results}
                results |= new
                for name in filter(new.__contains__, settings.variants):
                    log.warning("%s was %s", name, part.reason)
    return results


def _given_goal(subject: str, settings: ReportSettings) -> Goal | None:
    """The goal of a subject, if the user gave a part of it for any of its models."""
    asked = [settings.asked_goal(name) for name in group_members(subject)]
    if all(each == GoalOverride() for each in asked):
        return None
    return Goal(models=tuple(each.over(ModelGoal()) for each in asked))


def _by_name(
    rankings: Sequence[Ranking],
) -> Mapping[str, Sequence[tuple[VariantResult, Ranking]]]:
    by_name: dict[str, list[tuple[VariantResult, Ranking]]] = {}
    for ranking in rankings:
        for result in ranking.results:
            by_name.setdefault(result.name, []).append((result, ranking))
    return by_name


def _unknown(name: str, profile: Profile) -> Problem:
    measured = list(dict.fromkeys(item.trial.variants for item in profile.measured))
    if name in measured:
        message = "was measured before the model changed, or under different conditions"
        return Problem(
            where=name, message=message, hint="`model-analyzer checkpoint trials` shows it"
        )
    match = closest(name, measured)
    hint = f"did you mean {match!r}?" if match else f"available: {first_few(measured)}"
    return Problem(
        where=name, message="the checkpoint has no measurement of this variant", hint=hint
    )


# The subdirectory that a run writes its checkpoints to by default.
_USUAL = "checkpoints"

# Configurations of each model on its page.
_BEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A checkpoint, and what its directory is called on the page; "" if it is the only one."""

    checkpoint: Checkpoint
    name: str


def fleet(settings: ReportSettings, directories: Sequence[Path]) -> Iterator[Path]:
    """Writes the page of each model in the checkpoints of these directories, and the overview of
    all; yields each path after writing it.

    What cannot be read is left out, and mentioned on the overview. Raises CheckpointError about it
    at the end, or before anything is written if nothing can be read.
    """
    settings = replace(settings, formats=writable(settings.formats))
    sources, errors = _read(directories, settings.checkpoint_prefix)
    if not sources:
        raise _together(errors)
    models: list[FleetModel] = []
    with Images() as images:
        writer = files.ReportWriter.of_report(settings, images)
        for source in sources:
            for model in _models(source, settings, writer):
                yield writer.directory.path / "reports" / model.link
                models.append(model)
        for remark in images.remarks():
            log.warning("%s", remark)
    yield files.write_fleet(
        writer.directory, models, remarks=[f"Left out: {error}" for error in errors]
    )
    if errors:
        raise _together(errors)


def _together(errors: Sequence[CheckpointError]) -> CheckpointError:
    """One error for all."""
    is_usage = all(isinstance(error, UnusableCheckpoint) for error in errors)
    kind = UnusableCheckpoint if is_usage else CheckpointError
    return kind("; ".join(map(str, errors)))


def _read(
    directories: Sequence[Path], prefix: str
) -> tuple[Sequence[_Source], Sequence[CheckpointError]]:
    """The checkpoints of the directories, and why others cannot be used."""
    distinct = list({path.resolve(): path for path in reversed(directories)}.values())[::-1]
    names = source_names([os.path.abspath(path) for path in distinct])
    sources: list[_Source] = []
    errors: list[CheckpointError] = []
    for path, name in zip(distinct, names, strict=True):
        try:
            checkpoint = _load(path, prefix)
            if not measured_subjects(checkpoint):
                raise UnusableCheckpoint(f"{path}: no measurements")
        except CheckpointError as error:
            errors.append(error)
            continue
        for warning in checkpoint.damage_warnings:
            log.warning("%s", warning)
        sources.append(_Source(checkpoint=checkpoint, name=name))
    return sources, errors


def _load(path: Path, prefix: str) -> Checkpoint:
    """The checkpoint in a directory, or in the usual subdirectory of it."""
    try:
        return load_existing(path, prefix)
    except UnusableCheckpoint:
        if not (path / _USUAL).is_dir():
            raise
        return load_existing(path / _USUAL, prefix)


def source_names(paths: Sequence[str]) -> Sequence[str]:
    """The parts that tell these absolute paths apart, without what all begin or end with; "" for
    the only path.
    """
    if len(paths) == 1:
        return [""]
    parts = [Path(path).parts for path in paths]
    start = _shared(parts)
    end = _shared([list(reversed(each[start:])) for each in parts])
    names = ["/".join(each[start : len(each) - end]) for each in parts]
    return names if all(names) else ["/".join(each[1:]) for each in parts]


def _shared(lists: Sequence[Sequence[str]]) -> int:
    """The number of first items that all lists have in common."""
    return sum(1 for _ in takewhile(lambda items: len(set(items)) == 1, zip(*lists, strict=False)))


def _models(
    source: _Source, settings: ReportSettings, writer: files.ReportWriter
) -> Iterator[FleetModel]:
    """The models of a checkpoint, after their pages were written."""
    checkpoint = source.checkpoint
    profile = priced(checkpoint.profile, settings.prices, GoalOverride())
    goals, _ = goals_of(checkpoint, list(measured_subjects(checkpoint)), GoalOverride(), settings)
    run = run_of(settings.config_file)
    rankings = [
        ranking
        for subject, goal in goals.items()
        for ranking in ranked(profile, subject, goal, settings.conditions, run)
    ]
    origin = files.origin_of(profile, checkpoint.path)
    deploying = Deploying.of_report(
        checkpoint.path, settings, files.originals_of(profile), other_goals(checkpoint, goals)
    )
    for answer in by_model(map(answer_of, rankings)):
        page = build_page(
            answer,
            [*map(deploying.deployment, answer.answers)],
            best=_BEST,
            origin=origin,
            complete=True,
            offline=settings.offline,
            always_gpus=settings.always_gpus,
        )
        drawings = writer.images.svg(page.charts, page.model)
        folders = tuple(filter(None, source.name.split("/")))
        path, *_ = writer.summary(page, drawings, *folders, related=[files.OVERVIEW])
        link = path.relative_to(writer.directory.path / "reports").as_posix()
        yield FleetModel(answer=answer, link=link, source=source.name)


def analyze(job: Job) -> tuple[Answers, Delivery]:
    """The answers for the models of the job, and the written files. The models are ranked by the
    goals that the user gives, and without any by those of the run in the checkpoint.
    """
    settings = job.settings
    log.warning(
        "analyze is a legacy command: `profile` on the same checkpoint measures what is missing"
    )
    for remark in job.remarks:
        log.warning("%s", remark)
    if not settings.export.skip_summary:
        export = replace(settings.export, formats=writable(settings.export.formats))
        settings = replace(settings, export=export)
    checkpoint = settings.checkpoint
    loaded = load_chosen(checkpoint.load_file, checkpoint.directory, checkpoint.prefix)
    for warning in loaded.damage_warnings:
        log.warning("%s", warning)
    profile = replace(loaded.profile, prices=job.prices)
    subjects = _subjects(loaded, settings)
    goals, remarks = given_or_of_run(
        loaded, {subject: _goal_of_job(subject, job) for subject in subjects}
    )
    for remark in remarks:
        log.info("%s", remark)
    if not job.places.has_goal():
        settings = replace(settings, goal=_common(goals.values()) or settings.goal)
    rankings = [
        ranking
        for subject, goal in goals.items()
        for ranking in ranked(profile, subject, goal, settings.export.conditions, settings)
    ]
    deploying = Deploying.of_run(
        loaded.path, settings, files.originals_of(profile), other_goals(loaded, goals)
    )
    answers = answers_to(rankings, profile, deploying, settings, complete=None)
    return answers, deliver(answers, settings, ExportDirectory(settings.export.path))


def _goal_of_job(subject: str, job: Job) -> Goal | None:
    """The goal of a subject, if the user gave a part of it for any of its models."""
    names = group_members(subject)
    if not any(map(job.places.has_goal, names)):
        return None
    of_models = {model.name: model.goal for model in job.settings.models}
    return Goal(models=tuple(of_models.get(name, job.settings.goal) for name in names))


def _common(goals: Iterable[Goal]) -> ModelGoal | None:
    """The goal of all models, if it is the same."""
    of_models = {model for goal in goals for model in goal.models}
    return of_models.pop() if len(of_models) == 1 else None


def _subjects(checkpoint: Checkpoint, settings: ProfileSettings) -> Sequence[str]:
    """The measured subjects of the requested models: each model alone, or else the groups in which
    it was measured. The models of a group are in the order in which they were measured.
    """
    names = [model.name for model in settings.models]
    measured = measured_subjects(checkpoint)
    if settings.search.together:
        matches = (models for models in measured if sorted(group_members(models)) == sorted(names))
        return [next(matches, group_name(names))]
    subjects: dict[str, None] = {}
    for name in names:
        groups = [models for models in measured if name in group_members(models)]
        if group_name([name]) in measured or not groups:
            groups = [group_name([name])]
        else:
            log.warning("%s was measured together with others: %s", name, "; ".join(groups))
        subjects |= dict.fromkeys(groups)
    return list(subjects)


_NOTHING_TO_CHANGE = (
    "the configuration in the model repository is the recommended one: nothing to change"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendations:
    """The answers for some subjects of a checkpoint, the configurations in its repository, and
    remarks about the goals.
    """

    answers: Sequence[Answer]
    origin: ReportOrigin
    originals: Mapping[str, ModelConfig]
    remarks: Sequence[str]

    @property
    def document(self) -> str:
        """All results for programs."""
        return files.results_text(self.answers, self.origin, complete=None)

    @property
    def statements(self) -> Sequence[Statement]:
        """What is recommended for each subject, in words."""
        return [state_answer(answer, complete=True) for answer in self.answers]

    def deployable(
        self, answer: Answer, form: str, model: str | None, throughput: float | None
    ) -> tuple[str, str]:
        """The recommendation as `pbtxt`, `diff` or `kubernetes`; and a remark, or ""."""
        match form:
            case "kubernetes":
                return self._manifest(answer, throughput), ""
            case "diff":
                text = difference(answer, self.originals)
                return text, "" if text else _NOTHING_TO_CHANGE
        text, calls = configuration(answer, model)
        name = answer.ranking.model if model is None else model
        others = (
            f"{name} calls {', '.join(calls)}: use --model for one of them, --output-dir for all"
        )
        return text, others if calls else ""

    def write(
        self, directory: Path, answers: Sequence[Answer], throughput: float | None
    ) -> Iterator[Path]:
        """Writes configurations, what they change, and a manifest for each answer; the paths."""
        target = ExportDirectory(directory, "--output-dir")
        for answer, apart in files.told_apart(answers):
            changes = None
            if not _without_original(answer.ranking, self.originals):
                changes = files.configuration_difference(
                    answer.best, answer.ranking, self.originals, apart=apart
                )
            text = self._manifest(answer, throughput)
            yield from files.write_best(target, answer, changes, apart=apart)
            parts = (*files.places_of(answer.ranking), answer.ranking.model)
            yield target.write(text, *parts, "kubernetes.yaml")

    def _manifest(self, answer: Answer, throughput: float | None) -> str:
        if files.is_of_openai(answer.ranking):
            raise CheckpointError(
                f"{answer.ranking.model} was measured behind OpenAI's API, so how it is served is"
                " not known: there is no manifest"
            )
        texts = files.configurations_of(answer.ranking.results[0])
        return manifest(answer, self.origin, texts, throughput=throughput)


def parse_throughput(text: str | None, *, has_manifest: bool) -> float | None:
    """The value of --throughput. Raises ConfigError where it is not a positive number, or there is
    no manifest to use it.
    """
    if text is None:
        return None
    value = Number(0, above=True).parse(Node(text, "--throughput"))
    if not has_manifest:
        raise wrong(
            "--throughput", "only a Kubernetes manifest has replicas: add --format kubernetes"
        )
    return value


def recommend(
    checkpoint: Checkpoint,
    asked: GoalOverride,
    *,
    model: str | None = None,
    several: bool = False,
    settings: ReportSettings | None = None,
    config_file: Path | None = None,
    conditions: int | None = None,
    variant: str | None = None,
) -> Recommendations:
    """An answer for the model; without one, for the only subject, or all if there may be `several`.
    There is one for each kind of hardware; only if there may be `several`, there may be more than
    one kind.

    The goals are those that are `asked` for, then those of `settings` and of the run.
    `conditions` is the number of the group to rank; None means that of the `config_file`. A
    `variant` (its name) takes the place of the recommended one. Raises ConfigError if it was not
    measured, or misses constraints that others meet.
    """
    profile = priced(checkpoint.profile, None if settings is None else settings.prices, asked)
    names = chosen_subjects(checkpoint, model, several=several)
    goals, remarks = goals_of(checkpoint, names, asked, settings)
    run = run_of(config_file)
    rankings = [
        ranking
        for name, goal in goals.items()
        for ranking in ranked(profile, name, goal, conditions, run)
    ]
    if len(rankings) > 1 and not several:
        raise _several_kinds(rankings)
    if variant is not None:
        rankings = [_of_variant(ranking, variant) for ranking in rankings]
    return Recommendations(
        answers=[answer_of(ranking) for ranking in rankings],
        origin=files.origin_of(profile, checkpoint.path),
        originals=files.originals_of(profile),
        remarks=remarks,
    )


def _of_variant(ranking: Ranking, name: str) -> Ranking:
    """The ranking of one variant and of the default."""
    chosen = next((result for result in ranking.results if result.name == name), None)
    if chosen is None:
        raise wrong("--variant", f"{name} is not among the variants of {ranking.model}")
    if ranking.any_passes and not chosen.passes:
        raise wrong("--variant", f"{name} misses the constraints: relax them with --constraint")
    others = [result for result in ranking.results if result.is_default and result is not chosen]
    return replace(ranking, results=(chosen, *others), ties=(), conclusion=None)


def _several_kinds(rankings: Sequence[Ranking]) -> ConfigError:
    kinds = [
        f"{ranking.group.number} for {ranking.kind}"
        for ranking in rankings
        if ranking.group is not None
    ]
    return wrong(
        "--conditions",
        f"several kinds of hardware were measured: choose one of {', '.join(kinds)}, or write all"
        " with --output-dir",
    )


def configuration(answer: Answer, model: str | None) -> tuple[str, Sequence[str]]:
    """The config.pbtxt of `model` (None: of the only model), and its composing models. Raises
    ConfigError if the answer does not contain the model.
    """
    texts = files.configurations_of(answer.ranking.results[0])
    name = answer.ranking.model if model is None else model
    if name not in texts:
        raise wrong(
            "--model", f"each model has its own config.pbtxt: choose one of {', '.join(texts)}"
        )
    calls = [
        part.model
        for variant in answer.ranking.results[0].variants
        if variant.model == name
        for part in variant.with_parts()
        if part is not variant
    ]
    return files.head_of(answer) + texts[name], calls


def difference(answer: Answer, originals: Mapping[str, ModelConfig]) -> str:
    """The diff from the configuration in the model repository to the recommended one; "" if they
    are equal. Raises CheckpointError if the original is unknown.
    """
    unknown = _without_original(answer.ranking, originals)
    if unknown:
        raise CheckpointError(
            f"{', '.join(unknown)}: the configuration in the model repository was not measured,"
            " so a diff is not possible: use --format pbtxt"
        )
    text = files.configuration_difference(answer.best, answer.ranking, originals)
    return f"{files.head_of(answer)}{text}\n" if text else ""


def _without_original(ranking: Ranking, originals: Mapping[str, ModelConfig]) -> Sequence[str]:
    """The models whose original configuration is unknown."""
    parts = files.parts_of(ranking.results[0])
    return [part.model for part in parts if part.model not in originals]
