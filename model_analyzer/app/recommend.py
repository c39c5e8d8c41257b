# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Recommendations from a checkpoint, as files to deploy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.app.delivery.files import (
    configuration_difference,
    configurations_of,
    head_of,
    origin_of,
    originals_of,
    parts_of,
    write_best,
)
from model_analyzer.app.selection.circumstances import ranked
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.errors import CheckpointError, wrong
from model_analyzer.reports.build import ReportOrigin
from model_analyzer.reports.kubernetes import manifest
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.answer import Answer, answer_of
from model_analyzer.results.ranking import Ranking
from model_analyzer.state.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendations:
    """The answers for some subjects of a checkpoint, and the configurations in its repository."""

    answers: Sequence[Answer]
    origin: ReportOrigin
    originals: Mapping[str, ModelConfig]


def recommend(
    checkpoint: Checkpoint,
    goals: Mapping[str, Goal],
    *,
    circumstances: int | None,
    run: ProfileSettings | None = None,
) -> Recommendations:
    """An answer for each subject, by its goal. `circumstances` is the number of the group of
    circumstances to rank; None means those of the `run`.
    """
    profile = checkpoint.profile
    return Recommendations(
        answers=[
            answer_of(ranked(profile, name, goal, circumstances, run))
            for name, goal in goals.items()
        ],
        origin=origin_of(profile, checkpoint.path),
        originals=originals_of(profile),
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
    text = configuration_difference(answer.ranking, originals)
    return f"{head_of(answer)}{text}\n" if text else ""


def manifest_of(answer: Answer, origin: ReportOrigin, throughput: float | None) -> str:
    """The Kubernetes manifest, with enough replicas for this total `throughput` (inferences/s)."""
    texts = configurations_of(answer.ranking.results[0])
    return manifest(answer, origin, texts, throughput=throughput)


def write(
    directory: ExportDirectory,
    answer: Answer,
    recommendations: Recommendations,
    throughput: float | None,
) -> Sequence[Path]:
    """Writes configurations, their diffs and a manifest into the directory; returns the paths."""
    ranking, originals = answer.ranking, recommendations.originals
    has_originals = not _without_original(ranking, originals)
    changes = configuration_difference(ranking, originals) if has_originals else None
    text = manifest_of(answer, recommendations.origin, throughput)
    return [
        *write_best(directory, answer, changes),
        directory.write(text, ranking.model, "kubernetes.yaml"),
    ]


def _without_original(ranking: Ranking, originals: Mapping[str, ModelConfig]) -> Sequence[str]:
    """The models whose original configuration is unknown."""
    parts = parts_of(ranking.results[0])
    return [part.model for part in parts if part.model not in originals]
