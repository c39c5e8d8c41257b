# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer for a model on every kind of hardware. Kinds are never ranked together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model_analyzer.results.answer import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """An answer for each kind of hardware, sorted by the kind. `model` is the
    name of a model, of a group of models, or of a ranking across models.
    """

    model: str
    answers: tuple[Answer, ...]

    @property
    def is_of_several_kinds(self) -> bool:
        return len(self.answers) > 1


def by_model(answers: Iterable[Answer]) -> Sequence[ModelAnswer]:
    """The answers of each model together."""
    models: dict[str, list[Answer]] = {}
    for answer in answers:
        models.setdefault(answer.ranking.model, []).append(answer)
    return [ModelAnswer(model=model, answers=tuple(own)) for model, own in models.items()]
