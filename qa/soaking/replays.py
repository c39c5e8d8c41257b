# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the questions that runs with several slots have recorded.

A run that was killed goes on as if it had not been. So its questions stay as they are; the next run
first starts what was asked in vain; and a search that is told the outcomes in the recorded order
asks all the recorded questions again, and is then at its end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from model_analyzer.app.bench.searched_subjects import read_models, searched_subjects
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.protocols import Search
from model_analyzer.domain.slots import NOTHING_NOW, Asked, Lane
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.search.choose import choose
from model_analyzer.state.checkpoint import load

_LANE = Lane("add_sub")


@dataclass(frozen=True)
class Book:
    """The questions in a checkpoint directory, and the outcomes by the key of the trial. `example`
    is any trial with an outcome.
    """

    asked: Sequence[Asked] = ()
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    example: Trial | None = None

    @classmethod
    def of(cls, checkpoints: Path) -> Book:
        checkpoint = load(checkpoints)
        return cls(
            asked=checkpoint.asked.get(_LANE, ()),
            outcomes={record.trial.key: record.outcome for record in checkpoint.records},
            example=next((record.trial for record in checkpoint.records), None),
        )

    @property
    def without_answer(self) -> Sequence[str]:
        """The trials that were asked for and have no outcome, in order."""
        keys = dict.fromkeys(asked.key for asked in self.asked)
        return [key for key in keys if key != NOTHING_NOW and key not in self.outcomes]

    @property
    def failed(self) -> Set[str]:
        """The trials that failed. A run that tries them again may then ask for others."""
        return {key for key, outcome in self.outcomes.items() if isinstance(outcome, Failure)}

    def before_failures(self) -> Sequence[Asked]:
        """The questions before the first one that came after a failure."""
        failed = self.failed
        first = (n for n, asked in enumerate(self.asked) if not failed.isdisjoint(asked.after))
        return self.asked[: next(first, len(self.asked))]


def forgotten(before: Sequence[Asked], after: Sequence[Asked]) -> list[str]:
    """Questions that a run has changed or forgotten."""
    if [*after[: len(before)]] == [*before]:
        return []
    pairs = zip(before, after, strict=False)
    number = next((n for n, (old, new) in enumerate(pairs) if old != new), len(after))
    return [f"question {number} of {len(before)} is not the same any more"]


def out_of_order(before: Book, after: Sequence[Asked], started: Iterable[str]) -> list[str]:
    """Trials that a resumed run has started in another order than a replay: first those without an
    answer, and then those of the new questions.
    """
    keys = [asked.key for asked in after[len(before.asked) :]]
    new = [key for key in keys if key != NOTHING_NOW and key not in before.outcomes]
    expected = [*dict.fromkeys([*before.without_answer, *new])]
    real = [*dict.fromkeys(started)]
    pairs = zip(real, expected, strict=False)
    problems = [n for n, (key, wanted) in enumerate(pairs) if key != wanted]
    if not problems and len(real) <= len(expected):
        return []
    number = problems[0] if problems else len(expected)
    return [f"trial {real[number]} was started as number {number}: a replay starts another one"]


def unlike(search: Search, book: Book) -> list[str]:
    """Differences between the questions of a book and those of the search."""
    waiting: dict[str, list[Trial]] = {}

    def ask() -> str:
        trial = search.ask()
        if trial is None:
            return NOTHING_NOW
        waiting.setdefault(trial.key, []).append(trial)
        return trial.key

    for number, asked in enumerate(book.asked):
        for key in asked.after:
            if key not in waiting or key not in book.outcomes:
                return [f"question {number} comes after trial {key}, which has no outcome yet"]
            for trial in waiting.pop(key):
                search.tell(trial, book.outcomes[key])
        if (key := ask()) != asked.key:
            return [f"question {number}: the search asks for {key}, the run for {asked.key}"]
    if not waiting and (key := ask()) != NOTHING_NOW:
        return [f"the search is not at its end: it asks for {key}"]
    return [f"trial {key} has no outcome" for key in waiting]


def unasked(book: Book) -> list[str]:
    """Outcomes of trials that nobody asked for."""
    asked = {asked.key for asked in book.asked}
    return [f"trial {key} was not asked for" for key in book.outcomes if key not in asked]


def search_of(config: Path, example: Trial) -> Search:
    """A new search with this configuration, for the server and the files of the example."""
    resolved = GivenOptions.of_file(config, os.environ, config.parent).profile()
    settings = resolved.settings
    repository = replace(settings.repository, source=config.parent / "models")
    facts = read_models(replace(settings, repository=repository), resolved.places).facts
    [work] = example.workloads
    complete = {name: replace(fact, files=work.variant.files) for name, fact in facts.items()}
    [subject] = searched_subjects(settings, complete)
    placed = replace(subject, setup=example.setup).without_gpus()
    return choose(placed, settings.search, VariantNames())
