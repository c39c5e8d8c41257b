# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Recommendations from a checkpoint, as files to deploy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model_analyzer.app.delivery.files import (
    configuration_difference,
    configurations_of,
    head_of,
    is_of_openai,
    origin_of,
    originals_of,
    parts_of,
    places_of,
    results_text,
    told_apart,
    write_best,
)
from model_analyzer.app.selection import chosen_subjects, goals_of, priced, ranked, run_of
from model_analyzer.config.kinds import Number
from model_analyzer.config.nodes import Node
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.errors import CheckpointError, ConfigError, wrong
from model_analyzer.reports.build import ReportOrigin, Statement, state_answer
from model_analyzer.reports.kubernetes import manifest
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.answer import Answer, answer_of
from model_analyzer.results.ranking import Ranking
from model_analyzer.state.checkpoint import Checkpoint

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
        return results_text(self.answers, self.origin, complete=None)

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
        for answer, apart in told_apart(answers):
            changes = None
            if not _without_original(answer.ranking, self.originals):
                changes = configuration_difference(
                    answer.best, answer.ranking, self.originals, apart=apart
                )
            text = self._manifest(answer, throughput)
            yield from write_best(target, answer, changes, apart=apart)
            parts = (*places_of(answer.ranking), answer.ranking.model)
            yield target.write(text, *parts, "kubernetes.yaml")

    def _manifest(self, answer: Answer, throughput: float | None) -> str:
        if is_of_openai(answer.ranking):
            raise CheckpointError(
                f"{answer.ranking.model} was measured behind OpenAI's API, so how it is served is"
                " not known: there is no manifest"
            )
        texts = configurations_of(answer.ranking.results[0])
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
        origin=origin_of(profile, checkpoint.path),
        originals=originals_of(profile),
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
    texts = configurations_of(answer.ranking.results[0])
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
    return head_of(answer) + texts[name], calls


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
    text = configuration_difference(answer.best, answer.ranking, originals)
    return f"{head_of(answer)}{text}\n" if text else ""


def _without_original(ranking: Ranking, originals: Mapping[str, ModelConfig]) -> Sequence[str]:
    """The models whose original configuration is unknown."""
    parts = parts_of(ranking.results[0])
    return [part.model for part in parts if part.model not in originals]
