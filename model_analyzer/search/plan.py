# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The input of a search, and the form of its plan: a generator of trials. `PlannedSearch` makes a
`Search` of it, with several trials under way at once.
"""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import ModelFacts, ModelVariant, empty, group_name, is_cached
from model_analyzer.domain.profiles import Conclusion, Outlook, TrialRecord
from model_analyzer.domain.settings import ComposingSettings, ModelSettings, SearchSettings
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.trials import (
    Failure,
    Load,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
    client_setup_of,
)
from model_analyzer.domain.words import first_few

log = logging.getLogger(__name__)

# The default seed. Any value will do, but it must not change: resuming repeats the search.
SEED = 0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fork:
    """Parts of a plan whose trials may be measured at the same time.

    `branches` is asked for the next part when all earlier parts wait for outcomes. None means that
    the next part depends on outcomes that are missing, or, if none is missing, that there is none.
    """

    branches: Iterator[PartialPlan[Any] | None]


# A plan yields trials and forks. It receives the `Outcome` of a trial, and the list of the results
# of a fork's branches, in their order.
PartialPlan: TypeAlias = Generator[Trial | Fork, Any, T]

# A whole plan returns the records of all its trials.
Plan: TypeAlias = PartialPlan[list[TrialRecord]]

# A learning plan returns its conclusion, if there is one.
LearningPlan: TypeAlias = PartialPlan[Conclusion | None]


def recorded(trial: Trial) -> PartialPlan[TrialRecord]:
    """The plan of a single trial."""
    outcome = yield trial
    return TrialRecord(trial=trial, outcome=outcome)


def side_by_side(branches: Iterable[PartialPlan[T] | None]) -> PartialPlan[list[T]]:
    """Runs parts of a plan at the same time, as far as there are slots; returns their results, in
    order.
    """
    results: list[T] = yield Fork(iter(branches))
    return results


@dataclass(frozen=True, slots=True, kw_only=True)
class VariedModel:
    """A model whose configuration a search varies: a profiled or a called one.

    `parameters` are the values that the user listed, by field of the configuration.
    """

    facts: ModelFacts
    cpu_only: bool
    parameters: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedModel:
    """One profiled model: its facts and its settings.

    `inputs` is a fingerprint of the user's input files, `own_s` the length of a load with its own
    times (otherwise 0); `replay` says what is sent if it is a log. `times_tokens` is set for
    language models: see `Workload`. `composing` has the settings of the models that it calls, by
    name.
    """

    facts: ModelFacts
    settings: ModelSettings
    inputs: str = ""
    own_s: float = 0.0
    replay: str = ""
    times_tokens: bool = False
    composing: Mapping[str, ComposingSettings] = field(default_factory=empty)

    @property
    def client_setup(self) -> str:
        """The conditions of its measurements that no search varies: see `Workload.client_setup`."""
        settings = self.settings
        return client_setup_of(settings.perf_analyzer_flags, self.inputs, settings.traffic)

    @property
    def varied(self) -> Mapping[str, VariedModel]:
        """The model, then all models that it calls at any depth, each once, by name."""
        own = VariedModel(
            facts=self.facts, cpu_only=self.settings.cpu_only, parameters=self.settings.parameters
        )
        models = {self.facts.name: own}
        for facts in _called(self.facts):
            settings = self.composing.get(facts.name)
            models.setdefault(
                facts.name,
                VariedModel(
                    facts=facts,
                    cpu_only=own.cpu_only
                    if settings is None or settings.cpu_only is None
                    else settings.cpu_only,
                    parameters=empty() if settings is None else settings.parameters,
                ),
            )
        return models

    def workload(self, variant: ModelVariant, value: int, batch_size: int) -> Workload:
        """The workload of `variant` under one load."""
        return Workload(
            variant=variant,
            load=Load(kind=self.settings.load_kind, value=value, batch_size=batch_size),
            flags=self.settings.perf_analyzer_flags,
            inputs=self.inputs,
            traffic=self.settings.traffic,
            times_tokens=self.times_tokens,
            genai_perf=self.settings.genai_perf_flags if self.times_tokens else empty(),
            base=self.facts.identity,
        )


def is_uncached(model: SearchedModel) -> bool:
    """Whether the model, or one that it calls, has a response cache that it is measured without."""
    parts = model.facts.with_parts()
    return not model.settings.keeps_cache and any(is_cached(part.config) for part in parts)


def _on_cpus(model: SearchedModel) -> SearchedModel:
    return replace(
        model,
        settings=replace(model.settings, cpu_only=True),
        composing={
            name: replace(settings, cpu_only=True) for name, settings in model.composing.items()
        },
    )


def _called(facts: ModelFacts) -> Iterator[ModelFacts]:
    for part in facts.composing:
        yield part
        yield from _called(part)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRuns:
    """Outcomes that may teach something. `bases` are the identities of all models of this run."""

    records: Sequence[TrialRecord] = ()
    bases: frozenset[str] = frozenset()

    def beside(self, setup: ServerSetup) -> Iterator[TrialRecord]:
        """All without those of this run on such a server: a resumed run must not learn from itself,
        because it would ask other questions.
        """
        for record in self.records:
            is_own = not self.bases.isdisjoint(record.trial.bases)
            if not (is_own and record.trial.setup.identity == setup.identity):
                yield record


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The models that a search covers: one, or several that are measured together."""

    models: tuple[SearchedModel, ...]
    setup: ServerSetup
    earlier: EarlierRuns = field(default_factory=EarlierRuns, repr=False)

    @property
    def name(self) -> str:
        """The names of the models, joined as in file names and tables."""
        return group_name(model.facts.name for model in self.models)

    @property
    def lane(self) -> Lane:
        """Its search on the hardware of the setup."""
        return Lane(self.name, self.setup.kind)

    @property
    def goal(self) -> Goal:
        return Goal(models=tuple(model.settings.goal for model in self.models))

    @property
    def bases(self) -> tuple[str, ...]:
        """The identities of the models that the variants derive from: see `Workload.base`."""
        return tuple(model.facts.identity for model in self.models)

    @property
    def own_s(self) -> float:
        """The length of the longest load with its own times; 0 if no model has one."""
        return max(model.own_s for model in self.models)

    @property
    def lists_loads(self) -> bool:
        """Whether the user listed the loads of at least one model."""
        return any(model.settings.loads for model in self.models)

    def goes_on_after(self, failure: Failure, *, has_measured: bool) -> bool:
        """Whether a sweep tries further loads after a failure: if the user listed them, it has
        measured one, and the failure may be of one load alone.
        """
        return self.lists_loads and has_measured and failure.may_be_of_one_load

    @property
    def uncached(self) -> bool:
        """Whether its variants are loaded without the response cache of their configurations."""
        return any(map(is_uncached, self.models))

    def without_gpus(self) -> Subject:
        """The same subject for a machine without GPUs, where no GPU instances can run."""
        return replace(self, models=tuple(map(_on_cpus, self.models)))

    def without_genai_perf(self) -> Subject:
        """The same subject with token metrics from perf_analyzer instead of genai-perf."""
        models = (
            replace(model, settings=replace(model.settings, genai_perf_flags=empty()))
            for model in self.models
        )
        return replace(self, models=tuple(models))

    @property
    def in_rounds(self) -> bool:
        """Whether trials are measured in rounds: all their models have to be."""
        return all(model.settings.in_rounds for model in self.models)

    def trial(self, *workloads: Workload) -> Trial:
        """A trial with one workload for each model, in their order; its first round is as long
        as the runner chooses.
        """
        first_s = 0.0 if self.in_rounds else None
        return Trial(workloads=workloads, setup=self.setup, round_s=first_s)


def by_name(subjects: Iterable[Subject]) -> Sequence[Sequence[Subject]]:
    """The subjects with the same name together: one for each kind of hardware."""
    groups: dict[str, list[Subject]] = {}
    for subject in subjects:
        groups.setdefault(subject.name, []).append(subject)
    return list(groups.values())


def log_skipped(trial: Trial) -> None:
    """Logs that an illegal trial is left out, and why."""
    log.info("Skipping illegal run configuration: %s (%s)", trial, trial.why_illegal)


def goes_on(
    subject: Subject, trial: Trial, failure: Failure, rest: Sequence[int], *, has_measured: bool
) -> bool:
    """Whether a sweep tries the `rest` of its loads after a failure; logs the listed ones that are
    not tried.
    """
    is_tried = subject.goes_on_after(failure, has_measured=has_measured)
    if subject.lists_loads and rest and not is_tried:
        log.warning(
            "%s: further loads (%s) are not tried, because %s; --retry-failed tries them, too",
            trial,
            first_few([*map(str, rest)]),
            failure.reason.value,
        )
    return is_tried


def doubling(low: int, high: int) -> Sequence[int]:
    """`low` (at least 1), then doubled as long as the value does not exceed `high`."""
    values = []
    value = max(low, 1)
    while value <= high:
        values.append(value)
        value *= 2
    return values


def load_bounds(model: SearchedModel, settings: SearchSettings) -> tuple[int, int]:
    """The lowest and the highest load of the search, where the user lists no loads."""
    if model.settings.load_kind is LoadKind.REQUEST_RATE:
        return settings.min_request_rate, settings.max_request_rate
    return settings.min_concurrency, settings.max_concurrency


def load_values(model: SearchedModel, settings: SearchSettings) -> Sequence[int]:
    """The loads that the user lists, or the doubling series between the bounds of the search."""
    return model.settings.loads or doubling(*load_bounds(model, settings))


def legal_workloads(
    model: SearchedModel, variant: ModelVariant, settings: SearchSettings
) -> Iterator[Workload]:
    """The workloads of a variant that a server could run. If one batch size is illegal, all larger
    ones are too, whatever the load.
    """
    for batch_size in model.settings.batch_sizes:
        for value in load_values(model, settings):
            workload = model.workload(variant, value, batch_size)
            if not workload.is_legal:
                return
            yield workload


class PlannedSearch:
    """A search that runs a plan.

    The trials depend on the outcomes told so far, and on nothing else: the same calls of `ask` and
    `tell` in the same order give the same trials. `outlook` says what a learning plan expects.
    """

    def __init__(
        self,
        plan: Plan | LearningPlan,
        most_trials: int | None,
        outlook: Callable[[], Outlook | None] = lambda: None,
        *,
        usual: int | None = None,
    ) -> None:
        self._root = _Strand(plan)
        self._most_trials = most_trials
        self._usual = usual
        self._outlook = outlook
        self._waiting: defaultdict[tuple[str, str], deque[_Strand]] = defaultdict(deque)

    @property
    def most_trials(self) -> int | None:
        return self._most_trials

    @property
    def usual_trials(self) -> int | None:
        """The limit that few searches exceed; None if unknown."""
        return self._most_trials if self._usual is None else self._usual

    def ask(self) -> Trial | None:
        strand = self._root.next_ready()
        if strand is None:
            return None
        trial = strand.take()
        self._waiting[_identity(trial)].append(strand)
        return trial

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        self._waiting[_identity(trial)].popleft().resume(outcome)

    @property
    def outlook(self) -> Outlook | None:
        return self._outlook()

    @property
    def conclusion(self) -> Conclusion | None:
        result = self._root.result
        return result if isinstance(result, Conclusion) else None


def _identity(trial: Trial) -> tuple[str, str]:
    """Identifies a trial that was asked: the same content may have two names."""
    return trial.key, trial.variants


class _Strand:
    """A plan under way. It waits for the outcome of its trial or for the branches of its fork."""

    def __init__(self, plan: PartialPlan[Any]) -> None:
        self._plan = plan
        self._trial: Trial | None = None
        self._branches: _Branches | None = None
        self._has_begun = False
        self.is_done = False
        self.result: Any = None

    def next_ready(self) -> _Strand | None:
        """The first strand, this one or one inside of it, with a trial to take."""
        if not self._has_begun:
            self._has_begun = True
            self.resume(None)
        while self._branches is not None:
            strand = self._branches.next_ready()
            if strand is not None or not self._branches.are_done:
                return strand
            self.resume(self._branches.results)
        return None if self._trial is None else self

    def take(self) -> Trial:
        """The trial to measure; it is given out once."""
        trial, self._trial = self._trial, None
        assert trial is not None, "the strand is not ready"
        return trial

    def resume(self, answer: Any) -> None:
        """Runs the plan to its next trial or fork, or to its end."""
        self._branches = None
        try:
            step = self._plan.send(answer)
        except StopIteration as stop:
            self.is_done, self.result = True, stop.value
            return
        if isinstance(step, Fork):
            self._branches = _Branches(step)
        else:
            self._trial = step


class _Branches:
    """The branches of a fork; each begins when all earlier ones wait for outcomes."""

    def __init__(self, fork: Fork) -> None:
        self._further = fork.branches
        self._begun: list[_Strand] = []
        self._active: list[_Strand] = []

    @property
    def are_done(self) -> bool:
        return not self._active

    @property
    def results(self) -> list[Any]:
        return [strand.result for strand in self._begun]

    def next_ready(self) -> _Strand | None:
        ready = next(filter(None, (strand.next_ready() for strand in self._active)), None)
        self._active = [strand for strand in self._active if not strand.is_done]
        while ready is None and (plan := next(self._further, None)) is not None:
            strand = _Strand(plan)
            self._begun.append(strand)
            ready = strand.next_ready()
            if not strand.is_done:
                self._active.append(strand)
        return ready
