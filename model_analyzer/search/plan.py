# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a search starts from, and how a plan written as a generator becomes a `Search`."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from model_analyzer.domain.conclusions import Conclusion
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.groups import group_name
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import ModelFacts, ModelVariant, empty
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import ComposingSettings, ModelSettings, SearchSettings
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial, Workload, conditions_of

# For what a search leaves to chance. Any will do, as long as it stays: a search is continued by
# repeating it.
SEED = 0

# A plan yields trials, is sent their outcomes, and returns both.
Plan = Generator[Trial, Outcome, list[TrialRecord]]

# One that learns returns what it came to, if it came to anything.
LearningPlan = Generator[Trial, Outcome, Conclusion | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariedModel:
    """A model whose configuration a search varies: a profiled one, or one that it calls.

    `parameters` are the values that the user listed, by field of the configuration.
    """

    facts: ModelFacts
    cpu_only: bool
    parameters: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedModel:
    """One model to be searched: what it is, and what is wished.

    `inputs` is a fingerprint of the user's input files; of a language model the search
    `times_tokens`: see `Workload`. `composing` holds what was said about the models that it
    calls, by name.
    """

    facts: ModelFacts
    settings: ModelSettings
    inputs: str = ""
    times_tokens: bool = False
    composing: Mapping[str, ComposingSettings] = field(default_factory=empty)

    @property
    def conditions(self) -> str:
        """How it is measured, whatever variant and load: see `Workload.conditions`."""
        return conditions_of(self.settings.perf_analyzer_flags, self.inputs)

    @property
    def varied(self) -> Mapping[str, VariedModel]:
        """The model and, behind it, all that it calls at any depth, each once, by name."""
        own = VariedModel(
            facts=self.facts, cpu_only=self.settings.cpu_only, parameters=self.settings.parameters
        )
        found = {self.facts.name: own}
        for facts in _called(self.facts):
            said = self.composing.get(facts.name)
            found.setdefault(
                facts.name,
                VariedModel(
                    facts=facts,
                    cpu_only=own.cpu_only
                    if said is None or said.cpu_only is None
                    else said.cpu_only,
                    parameters=empty() if said is None else said.parameters,
                ),
            )
        return found

    def workload(self, variant: ModelVariant, value: int, batch_size: int) -> Workload:
        """`variant` under one load."""
        return Workload(
            variant=variant,
            load=Load(kind=self.settings.load_kind, value=value, batch_size=batch_size),
            flags=self.settings.perf_analyzer_flags,
            inputs=self.inputs,
            times_tokens=self.times_tokens,
            genai_perf=self.settings.genai_perf_flags if self.times_tokens else empty(),
            base=self.facts.identity,
        )


def _on_cpus(model: SearchedModel) -> SearchedModel:
    return replace(
        model,
        settings=replace(model.settings, cpu_only=True),
        composing={name: replace(said, cpu_only=True) for name, said in model.composing.items()},
    )


def _called(facts: ModelFacts) -> Iterator[ModelFacts]:
    for part in facts.composing:
        yield part
        yield from _called(part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a search is about: one model, or several that are measured together."""

    models: tuple[SearchedModel, ...]
    setup: ServerSetup

    @property
    def name(self) -> str:
        """Names of the models, joined as in file names and tables."""
        return group_name(model.facts.name for model in self.models)

    @property
    def goal(self) -> Goal:
        return Goal(models=tuple(model.settings.goal for model in self.models))

    @property
    def bases(self) -> tuple[str, ...]:
        """From which models the variants derive: see `Workload.base`."""
        return tuple(model.facts.identity for model in self.models)

    @property
    def lists_loads(self) -> bool:
        """Whether the user listed the loads of at least one model."""
        return any(model.settings.loads for model in self.models)

    def without_gpus(self) -> Subject:
        """The same for a machine without GPUs, where GPU instances cannot be searched."""
        return replace(self, models=tuple(map(_on_cpus, self.models)))

    def without_genai_perf(self) -> Subject:
        """The same where token metrics come from perf_analyzer, whatever genai-perf was told."""
        models = (
            replace(model, settings=replace(model.settings, genai_perf_flags=empty()))
            for model in self.models
        )
        return replace(self, models=tuple(models))

    def trial(self, *workloads: Workload) -> Trial:
        """The trial of one workload for each model, in their order."""
        return Trial(workloads=workloads, setup=self.setup)


class PlannedSearch:
    """A search whose next question follows from the answers so far, one at a time.

    Asking again before the answer is told gives the same trial again.
    """

    def __init__(self, plan: Plan | LearningPlan, most_trials: int | None) -> None:
        self._plan = plan
        self._most_trials = most_trials
        self._conclusion: Conclusion | None = None
        self._asked = next(plan, None)

    @property
    def most_trials(self) -> int | None:
        return self._most_trials

    def ask(self) -> Trial | None:
        return self._asked

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        try:
            self._asked = self._plan.send(outcome)
        except StopIteration as end:
            self._asked = None
            self._conclusion = end.value if isinstance(end.value, Conclusion) else None

    @property
    def conclusion(self) -> Conclusion | None:
        return self._conclusion


def doubling(low: int, high: int) -> Sequence[int]:
    """`low` (at least 1), twice as much, … as long as it is not above `high`."""
    values = []
    value = max(low, 1)
    while value <= high:
        values.append(value)
        value *= 2
    return values


def load_bounds(model: SearchedModel, settings: SearchSettings) -> tuple[int, int]:
    """Between which loads the model is searched, where none are listed."""
    if model.settings.load_kind is LoadKind.REQUEST_RATE:
        return settings.min_request_rate, settings.max_request_rate
    return settings.min_concurrency, settings.max_concurrency


def load_values(model: SearchedModel, settings: SearchSettings) -> Sequence[int]:
    """The listed loads of the model, or the doubling series between the search's bounds."""
    return model.settings.loads or doubling(*load_bounds(model, settings))


def legal_workloads(
    model: SearchedModel, variant: ModelVariant, settings: SearchSettings
) -> Iterator[Workload]:
    """The variant under every load that a server could run. What is illegal with a batch size is
    so with larger ones, whatever the load.
    """
    for batch_size in model.settings.batch_sizes:
        for value in load_values(model, settings):
            work = model.workload(variant, value, batch_size)
            if not work.is_legal:
                return
            yield work
