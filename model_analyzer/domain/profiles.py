# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Everything known so far, as a value: what was measured, what a search concluded, and what was
proven. It is the input of results and reports.

A proof is a verdict about a measured configuration that a measurement alone does not give. A
feature makes one with `prove`, and stores it with `ProfileState.record_proof`; then it is on disk,
and replaces an older one about the same. `Ranking.proofs` has those about its trials,
`Answer.proofs` those about the recommendation: page, terminal, `results.json` and `checkpoint show`
take them from there, and show nothing if there are none. A configuration whose outputs are proven
wrong counts as failed, so it is never recommended; any other failed proof about the recommendation
makes the answer unsure. The core does not know which feature made a proof.

Differences between two measured trials, or between a checkpoint and the current state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from model_analyzer.domain.costs import Efficiency, Prices
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.goodput import request_limits, within_limits
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Measurement, Outcome, Values
from model_analyzer.domain.models import ModelVariant, empty, freeze, thaw
from model_analyzer.domain.secrets import MASK, masked_values, setting_of
from model_analyzer.domain.slots import Lane, SharedHost
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup, Trial, Workload
from model_analyzer.domain.words import percent_text

# The kind, and the fingerprints of what it is about.
ProofSubject = tuple["ProofKind", str, str, str]


class ProofKind(Enum):
    """What is proven: outputs of a configuration under any load, the others under one load."""

    OUTPUTS = "outputs"  # it gives the answers of the default configuration
    ENDURANCE = "endurance"  # it keeps its performance over minutes
    DEPLOYED = "deployed"  # a plain server with the written files performs as measured


class Verdict(Enum):
    """The result of a proof; UNKNOWN means that it could not be checked."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A verdict about the variants with the fingerprints `content` (see `Trial.content`) on a
    server with the identity `setup`. `trial` is the key of the trial's first measurement, "" if the
    load does not matter. `variant` and `load` say the same in words.

    `sentence` is a clause without a full stop that can follow "Proven:", "Failed:" or, as a reason,
    "Not checked:". `numbers` are behind it, with units in their names. `at` is in seconds since the
    epoch.
    """

    kind: ProofKind
    verdict: Verdict
    sentence: str
    numbers: Mapping[str, float]
    at: float
    variant: str
    load: str
    content: str
    setup: str
    trial: str

    @property
    def subject(self) -> ProofSubject:
        """What it is about: a newer proof with the same subject replaces it."""
        return self.kind, self.content, self.setup, self.trial

    @property
    def excludes(self) -> bool:
        """Whether the configuration must not be deployed, whatever its performance."""
        return self.kind is ProofKind.OUTPUTS and self.verdict is Verdict.FAILED

    def is_about(self, trial: Trial) -> bool:
        is_of_variants = (trial.content, trial.setup.identity) == (self.content, self.setup)
        # computing a key takes time
        return is_of_variants and (not self.trial or trial.first.key == self.trial)

    def failure_of(self, measurement: Measurement) -> Failure:
        """What counts instead of a measurement of a configuration that the proof excludes."""
        return Failure(
            reason=FailureReason.WRONG_OUTPUTS,
            message=self.sentence,
            started=measurement.started,
            duration_s=measurement.duration_s,
            machine=measurement.machine,
        )


def prove(
    kind: ProofKind,
    trial: Trial,
    verdict: Verdict,
    sentence: str,
    numbers: Mapping[str, float],
    *,
    at: float,
) -> Proof:
    """A proof about a trial, or with the kind OUTPUTS about its variants under any load."""
    is_of_load = kind is not ProofKind.OUTPUTS
    return Proof(
        kind=kind,
        verdict=verdict,
        sentence=sentence,
        numbers=freeze(numbers),
        at=at,
        variant=trial.variants,
        load=trial.loads if is_of_load else "",
        content=trial.content,
        setup=trial.setup.identity,
        trial=trial.first.key if is_of_load else "",
    )


class StopReason(Enum):
    """Why a search ended; UNKNOWN if a checkpoint has a text that this version does not know."""

    LIMIT = "limit"
    KEPT = "kept"
    BUDGET = "budget"
    NOTHING_WORTH = "nothing worth"
    STALLED = "stalled"
    SURE = "sure"
    EVERYTHING = "everything"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What further trials could bring: the `chance` that one is better than the best so far by more
    than `margin` (a fraction), and the expected `gain` of the best of them. If no trial is
    `feasible` so far, both are the probability that another one meets the constraints.
    """

    chance: float
    gain: float
    margin: float
    feasible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Why a search ended, what it recommends, and what it may have missed.

    `recommended` is the key of the trial's first measurement. It is valid for one `goal` (its
    identity) and while the checkpoint has no trials except the `trials` that the search measured,
    including failed ones; a repeated trial counts once. `limit` is the largest number of
    measurements that the search could take (older checkpoints lack it), and `has_default_limit`
    tells that the user did not set it. With the probability `chance`, a configuration that is
    better by `margin` (a fraction) was not measured; `gain` is the expected gain of continuing. If
    it is not `feasible`, no measured configuration meets the constraints, and `chance` and `gain`
    are the probability that another one does. If there is a `rival`, a trial of another variant,
    only a difference of `noise_percent` would tell it from the recommended one, although both were
    repeated.
    """

    recommended: str
    goal: str
    feasible: bool
    trials: int
    reason: StopReason
    limit: int | None = None
    has_default_limit: bool = True
    margin: float
    chance: float
    gain: float
    rival: str = ""
    noise_percent: float = 0.0

    @property
    def doubt(self) -> str:
        """Why the recommendation may be chance, and what the user can do about it; "" if it is
        none.
        """
        if not self.rival:
            return ""
        return (
            f"This machine is too noisy to tell the recommended configuration from {self.rival}"
            f" (± {percent_text(self.noise_percent)}): stop what else runs on it, and measure again"
            " with another --checkpoint-directory."
        )

    @property
    def explanation(self) -> str:
        """The reason in words, with what the user can do about it."""
        match self.reason:
            case StopReason.LIMIT | StopReason.KEPT:
                limit = "" if self.limit is None else f" of {self.limit}"
                is_kept = self.reason is StopReason.KEPT
                what = "leaves too few to confirm another configuration" if is_kept else "reached"
                return f"measurement limit{limit} {what} (raise it with --max-measurements)"
            case StopReason.BUDGET:
                rest = "no further measurement fits into the rest of the time budget"
                return f"{rest} (raise it with --budget)"
            case StopReason.NOTHING_WORTH:
                return "no further measurement is expected to improve the answer"
            case StopReason.STALLED:
                what = "the last 40 % of its time brought less than 1 %"
                return f"{what} (go on with --max-measurements)"
            case StopReason.SURE:
                return "the answer is sure enough (more: --stop-when-sure)"
            case StopReason.EVERYTHING:
                return "every configuration was measured"
            case StopReason.UNKNOWN:
                return "the checkpoint does not say why"


# There is one for each measurement, and a tuple is made in a third of the time.
class TrialRecord(NamedTuple):
    """A trial with its outcome, as it was recorded; in a cluster, it was measured on `node`."""

    trial: Trial
    outcome: Outcome
    node: str = ""


class MeasuredTrial(NamedTuple):
    """A trial with a measurement; if it was repeated, that is the mean of `repetitions`."""

    trial: Trial
    measurement: Measurement
    repetitions: tuple[Measurement, ...] = ()

    @property
    def runs(self) -> tuple[Measurement, ...]:
        """All its measurements: at least one."""
        return self.repetitions or (self.measurement,)


class FailedTrial(NamedTuple):
    """A trial without a measurement."""

    trial: Trial
    failure: Failure


def measured_trials(records: Iterable[TrialRecord]) -> tuple[MeasuredTrial, ...]:
    """Those of the records that have a measurement, in their order."""
    return tuple(
        MeasuredTrial(trial=record.trial, measurement=record.outcome)
        for record in records
        if isinstance(record.outcome, Measurement)
    )


def failed_trials(records: Iterable[TrialRecord]) -> tuple[FailedTrial, ...]:
    """Those of the records that have no measurement, in their order."""
    return tuple(
        FailedTrial(trial=record.trial, failure=record.outcome)
        for record in records
        if isinstance(record.outcome, Failure)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Records in the order of measuring, and where they were measured.

    `host` describes machine, server and tools, as text by name. `cores` is the number of CPU cores
    of the machine, None if unknown. `server_only` holds the values of each GPU (by UUID) for a
    server without models. `conclusions` holds the last conclusion of each search, `unfinished` the
    searches that will draw one but have not ended. `bases` holds, by name of the model or of the
    group of models, the `ModelFacts.identity` of its models in the last run; `refused`, by the same
    name, which variants its search left out, in words. `is_growing` means
    that a run was still measuring. `shared_hosts` has the tests of hosts with several slots, by
    host, `proofs` what was proven. `prices` are those of the hardware, None if the user gave none.
    """

    records: Collection[TrialRecord] = ()
    devices: tuple[Device, ...] = ()
    host: Mapping[str, str] = field(default_factory=empty)
    cores: int | None = None
    server_only: Mapping[str, Values] = field(default_factory=empty)
    conclusions: Mapping[Lane, Conclusion] = field(default_factory=empty)
    bases: Mapping[str, tuple[str, ...]] = field(default_factory=empty)
    refused: Mapping[str, tuple[str, ...]] = field(default_factory=empty)
    unfinished: frozenset[Lane] = frozenset()
    is_growing: bool = False
    shared_hosts: Mapping[str, SharedHost] = field(default_factory=empty)
    proofs: tuple[Proof, ...] = ()
    prices: Prices | None = None

    @property
    def efficiency(self) -> Efficiency:
        """What completes the measurements with costs and idle energy."""
        return Efficiency(
            self.prices,
            cores=self.cores,
            server_only=self.server_only,
        )

    def completion(self, goal: Goal) -> Callable[[Trial, Outcome], Outcome]:
        """A function that completes the outcome of a trial, if it is a measurement, with all
        metrics that follow from measured ones: goodput by the constraints of the `goal`, costs and
        idle energy.
        """
        efficiency, limits = self.efficiency, [*map(request_limits, goal.models)]

        def completed(trial: Trial, outcome: Outcome) -> Outcome:
            if isinstance(outcome, Failure):
                return outcome
            return efficiency.completed(trial, within_limits(outcome, limits))

        return completed

    @property
    def variants(self) -> tuple[ModelVariant, ...]:
        """Every top-level variant that was tried, in order of first trial.

        Two names may stand for the same content.
        """
        variants = {
            (work.variant.identity, work.variant.name): work.variant
            for record in self.records
            for work in record.trial.workloads
        }
        return tuple(variants.values())

    @property
    def measured(self) -> tuple[MeasuredTrial, ...]:
        return measured_trials(self.records)

    @property
    def failed(self) -> tuple[FailedTrial, ...]:
        return failed_trials(self.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A change between an earlier state and the current one; without `then` and `now`, the values
    are too long to show.

    If it `matters`, earlier and current measurements cannot be compared. If not, the affected
    trials have different keys and are measured again.
    """

    subject: str
    then: str
    now: str
    matters: bool = False

    def __str__(self) -> str:
        if not self.then and not self.now:
            return f"{self.subject} has changed since the checkpoint"
        return f"{self.subject}: was {self.then or 'none'}, now {self.now or 'none'}"


def files_difference(name: str, then: str, now: str) -> Iterator[Difference]:
    if then != now:
        yield Difference(subject=f"files of {name}", then=then[:8], now=now[:8])


def trial_differences(old: Trial, new: Trial) -> Iterator[Difference]:
    """Differences in what is loaded with the models, and in how they are measured."""
    yield from setup_differences(old.setup, new.setup)
    yield from secret_differences(old.setup, new.setup)
    for before, work in zip(old.workloads, new.workloads, strict=True):
        parts = {part.model: part.files for part in (before.variant, *before.variant.composing)}
        for part in (work.variant, *work.variant.composing):
            yield from files_difference(part.model, parts.get(part.model, ""), part.files)
        yield from client_differences(before, work)
        if before.load.kind is not work.load.kind:
            yield Difference(
                subject=f"kind of load of {work.variant.model}",
                then=before.load.kind.value,
                now=work.load.kind.value,
            )


def setup_differences(old: ServerSetup, new: ServerSetup) -> Iterator[Difference]:
    """Differences in how the server is started and reached, without its version and GPUs."""
    then, now = old.meaning, new.meaning
    for name in ("launch", "protocol"):
        if then[name] != now[name]:
            yield Difference(subject=f"{name} mode", then=then[name], now=now[name])
    caches = ["off" if setup.uncached else "as configured" for setup in (old, new)]
    if caches[0] != caches[1]:
        yield Difference(subject="response cache", then=caches[0], now=caches[1])
    for name in ("flags", "environment", "container"):
        yield from settings_differences(f"server {name}", then[name], now[name])


def secret_differences(old: ServerSetup, new: ServerSetup) -> Iterator[Difference]:
    """Secrets in the server's variables whose fingerprints differ. They do not count as changes."""
    then, now = old.kept_environment, new.kept_environment
    for name in sorted(then.keys() & now.keys()):
        is_same_setting = setting_of(then[name]) == setting_of(now[name])
        are_known = setting_of(then[name]) != then[name] and setting_of(now[name]) != now[name]
        if is_same_setting and are_known and then[name] != now[name]:
            yield Difference(
                subject=f"server environment: {name}", then=MASK, now=f"a different {MASK}"
            )


def client_differences(old: Workload, new: Workload) -> Iterator[Difference]:
    """Differences in how a model is measured: flags of perf_analyzer, loads, and their files."""
    model = new.variant.model
    yield from settings_differences(
        f"perf_analyzer flags of {model}", old.telling_flags, new.telling_flags
    )
    yield from settings_differences(
        f"load of {model}", _arriving(old.traffic), _arriving(new.traffic)
    )
    names = (f"input data of {model}", f"replayed log of {model}")
    for subject, then, now in zip(names, _files(old), _files(new), strict=True):
        if then != now:
            yield Difference(subject=subject, then=then[:8], now=now[:8])


def _files(work: Workload) -> tuple[str, str]:
    """The fingerprints of the files that its flags name, and of the log that it replays."""
    if work.traffic is None or work.traffic.arrivals is not Arrivals.REPLAY:
        return work.inputs, ""
    files, _, log = work.inputs.rpartition(",")
    return files, log


def _arriving(traffic: Traffic | None) -> Mapping[str, Any]:
    return {} if traffic is None else traffic.meaning


def settings_differences(
    subject: str, then: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[Difference]:
    """One difference for each name with another value, also inside mappings; secrets are masked."""
    then, now = masked_values(then), masked_values(now)
    for name in sorted({*then, *now}):
        old, new = then.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from settings_differences(f"{subject}: {name}", old, new)
        elif thaw(old) != thaw(new):
            yield Difference(subject=f"{subject}: {name}", then=_text(old), now=_text(new))


def _text(value: Any) -> str:
    value = thaw(value)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
