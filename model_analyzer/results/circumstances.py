# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which measurements of a model can be compared: those taken under the same circumstances, of
variants that derive from the model as it is now.

All others are counted, with the reason, so that nothing measured goes unmentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.differences import (
    Difference,
    condition_differences,
    settings_differences,
    setup_differences,
)
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelConfig, ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import ServerSetup, Trial, Workload
from model_analyzer.domain.words import counted

# So many differences are named, the others are counted.
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What must be equal for measurements to be comparable: fingerprints of the server setup and,
    for each model, of how it is measured (see `Workload.conditions`).
    """

    setup: str
    conditions: tuple[str, ...]

    @classmethod
    def of(cls, trial: Trial) -> Circumstances:
        return cls(
            setup=trial.setup.identity,
            conditions=tuple(work.conditions for work in trial.workloads),
        )

    def holds_for(self, trial: Trial) -> bool:
        return Circumstances.of(trial) == self


@dataclass(frozen=True, slots=True, kw_only=True)
class Intended:
    """The circumstances that a configuration file asks for. On which server version and GPUs, it
    does not say; so `setup` is without them.
    """

    setup: ServerSetup
    conditions: tuple[str, ...]

    def holds_for(self, trial: Trial) -> bool:
        """Whether a trial was measured so; what upstream measured has no setup to compare."""
        is_alike = not trial.setup.launch or not any(setup_differences(trial.setup, self.setup))
        return is_alike and self.conditions == Circumstances.of(trial).conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The records under the same circumstances; `number` counts groups from 1, in order of their
    first record. `newest` is the place of its newest record among all. Of the `measurements`, so
    many are `current`: of variants that derive from the model as it is now.
    """

    number: int
    circumstances: Circumstances
    sample: Trial
    records: tuple[TrialRecord, ...]
    newest: int
    measurements: int
    current: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Records that a ranking does not compare, and why.

    `circumstances` is the number of the group that would rank them, or None where none does: they
    are of variants that derive from the model as it was before.
    """

    reason: str
    measurements: int
    failures: int
    circumstances: int | None = None

    @property
    def sentence(self) -> str:
        """How many, why, and the command that shows them."""
        parts = [
            counted(number, noun)
            for number, noun in ((self.measurements, "measurement"), (self.failures, "failure"))
            if number
        ]
        are = "is" if self.measurements + self.failures == 1 else "are"
        show = (
            "`model-analyzer checkpoint trials` shows all"
            if self.circumstances is None
            else f"--circumstances {self.circumstances} ranks them"
        )
        return f"{' and '.join(parts)} {are} left out: {self.reason}; {show}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """The records that can be compared, and what was left out; `groups` are all circumstances
    under which the model was measured, `group` is the chosen one (None without records).
    """

    records: tuple[TrialRecord, ...]
    left_out: tuple[LeftOut, ...]
    groups: tuple[Group, ...]
    group: Group | None


def comparable(
    records: Sequence[TrialRecord],
    *,
    circumstances: Circumstances | Intended | int | None = None,
    bases: tuple[str, ...] | None = None,
) -> Comparable:
    """Those records of one model (or of several, measured together) that can be compared.

    `circumstances` are the present ones, or the number of a group; without, or where nothing was
    measured under the present ones, it is the group with most measurements of the model as it is
    now (the newer one of equals). `bases` are the `ModelFacts.identity` of the models as they are
    now; without, as they were when they were measured last.

    Raises ValueError where there is no group of that number.
    """
    if not records:
        if isinstance(circumstances, int):
            raise ValueError("nothing was measured")
        return Comparable(records=(), left_out=(), groups=(), group=None)
    why_stale = _staleness(records, bases)
    stale = [why_stale(record) for record in records]
    groups = _groups(records, stale)
    group = _chosen(groups, circumstances)
    reasons = {id(record): reason for record, reason in zip(records, stale, strict=True)}
    if isinstance(circumstances, int) and not group.current:
        # whoever asks for an old group gets it as it was
        own_reason = _staleness(group.records, None)
        reasons |= {id(record): own_reason(record) for record in group.records}
    return Comparable(
        records=tuple(record for record in group.records if not reasons[id(record)]),
        left_out=tuple(_left_out(groups, group, reasons)),
        groups=groups,
        group=group,
    )


def _left_out(
    groups: Sequence[Group], chosen: Group, reasons: Mapping[int, str]
) -> Iterator[LeftOut]:
    stale: dict[str, list[TrialRecord]] = {}
    for record in chosen.records:
        if reasons[id(record)]:
            stale.setdefault(reasons[id(record)], []).append(record)
    for reason, records in stale.items():
        yield _counted(records, reason, None)
    for group in groups:
        if group is not chosen:
            yield _counted(group.records, _why_elsewhere(group.sample, chosen.sample), group.number)


def _counted(records: Sequence[TrialRecord], reason: str, group: int | None) -> LeftOut:
    measurements = sum(isinstance(record.outcome, Measurement) for record in records)
    return LeftOut(
        reason=reason,
        measurements=measurements,
        failures=len(records) - measurements,
        circumstances=group,
    )


# -- circumstances -----------------------------------------------------------------------------


def _groups(records: Sequence[TrialRecord], stale: Sequence[str]) -> tuple[Group, ...]:
    """Trials of a checkpoint share setups and flags: of those that share everything, one is looked
    at.
    """
    by_shared: dict[tuple[object, ...], Circumstances] = {}
    places: dict[Circumstances, list[int]] = {}
    for place, record in enumerate(records):
        trial = record.trial
        shared: tuple[object, ...] = (id(trial.setup),)
        for work in trial.workloads:
            shared += (id(work.flags), work.inputs)
        circumstances = by_shared.get(shared)
        if circumstances is None:
            circumstances = by_shared[shared] = Circumstances.of(trial)
        places.setdefault(circumstances, []).append(place)
    return tuple(
        Group(
            number=number,
            circumstances=circumstances,
            sample=records[own[-1]].trial,
            records=tuple(records[place] for place in own),
            newest=own[-1],
            measurements=sum(isinstance(records[place].outcome, Measurement) for place in own),
            current=sum(
                isinstance(records[place].outcome, Measurement) and not stale[place]
                for place in own
            ),
        )
        for number, (circumstances, own) in enumerate(places.items(), 1)
    )


def _chosen(groups: Sequence[Group], circumstances: Circumstances | Intended | int | None) -> Group:
    if isinstance(circumstances, int):
        if not 1 <= circumstances <= len(groups):
            raise ValueError(f"there is no group {circumstances}: there are 1 to {len(groups)}")
        return groups[circumstances - 1]
    present = [group for group in groups if circumstances and circumstances.holds_for(group.sample)]
    return max(present or groups, key=lambda group: (group.current, group.newest))


def differences(then: Trial, now: Trial) -> Sequence[Difference]:
    """In which circumstances two trials of the same models differ."""
    texts = [
        ("server version", then.setup.version, now.setup.version),
        ("GPUs", ", ".join(then.setup.devices), ", ".join(now.setup.devices)),
    ]
    found = [Difference(what=what, then=a, now=b) for what, a, b in texts if a != b]
    found += setup_differences(then.setup, now.setup)
    for old, work in zip(then.workloads, now.workloads, strict=True):
        found += condition_differences(old, work)
    return found


def _why_elsewhere(then: Trial, now: Trial) -> str:
    texts = [
        f"{one.what} {one.then or 'not set'} instead of {one.now or 'not set'}"
        for one in differences(then, now)
    ]
    return f"measured under different circumstances{f' ({_listed(texts)})' if texts else ''}"


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _NAMED
    return ", ".join([*texts[:_NAMED], *([f"and {more} more"] if more > 0 else [])])


# -- the model as it is now --------------------------------------------------------------------


def _staleness(
    records: Sequence[TrialRecord], bases: tuple[str, ...] | None
) -> Callable[[TrialRecord], str]:
    """A function that says why a record does not derive from the models as they are now, or ""."""
    newest = _newest(records, bases)
    defaults = _defaults(records)
    now = [
        _Now(base, {part.model: part.files for part in work.variant.with_parts()}, defaults)
        for base, work in zip(bases or newest.bases, newest.workloads, strict=True)
    ]
    # trials that share their variants are as stale as each other
    known: dict[tuple[object, ...], str] = {}

    def why(record: TrialRecord) -> str:
        works = record.trial.workloads
        shared = tuple([item for work in works for item in (id(work.variant), work.base)])
        reason = known.get(shared)
        if reason is None:
            texts = [of.why_stale(work) for of, work in zip(now, works, strict=True)]
            reason = known[shared] = "; ".join(dict.fromkeys(filter(None, texts)))
        return reason

    return why


def _newest(records: Sequence[TrialRecord], bases: tuple[str, ...] | None) -> Trial:
    """The newest trial of the models as they are now; of those whose files are known, if any."""
    trials = [record.trial for record in reversed(records)]
    for trial in trials:
        if bases is not None and trial.bases == bases:
            return trial
    known = (trial for trial in trials if not trial.is_unverified)
    return next(known, trials[0])


def _defaults(records: Sequence[TrialRecord]) -> Mapping[str, Sequence[ModelVariant]]:
    """By model, its own configurations over time, the newest last."""
    found: dict[str, dict[str, ModelVariant]] = {}
    seen: set[int] = set()
    for record in reversed(records):
        for work in record.trial.workloads:
            if id(work.variant) not in seen:
                seen.add(id(work.variant))
                for part in work.variant.with_parts():
                    if part.is_default:
                        found.setdefault(part.model, {}).setdefault(part.identity, part)
    return {model: list(variants.values())[::-1] for model, variants in found.items()}


@dataclass(frozen=True, slots=True)
class _Now:
    """A model as it is now: its `base` (see `Workload.base`), the files of it and of all that it
    calls, and the models' own configurations over time.
    """

    base: str
    files: Mapping[str, str]
    defaults: Mapping[str, Sequence[ModelVariant]]

    def why_stale(self, work: Workload) -> str:
        if work.base == self.base and work.base:
            return ""
        for part in work.variant.with_parts():
            files = self.files.get(part.model)
            if files and part.files and files != part.files:
                return f"files of {part.model} have changed since"
        if work.base and self.base:
            return self._edited(work)
        for part in work.variant.with_parts():
            if changed := self._takes_over(part, work.variant.model):
                return f"config.pbtxt of {part.model} has changed since ({changed})"
        return ""

    def _edited(self, work: Workload) -> str:
        """The models are known to be others: what of them has changed."""
        model = work.variant.model
        then, now = self._parts(model, work.base), self._parts(model, self.base)
        if then.keys() != now.keys():
            return f"{model} has called other models since"
        for name, part in then.items():
            found = settings_differences("", part.config, now[name].config)
            changed = _listed([str(one).removeprefix(": ") for one in found])
            if changed:
                return f"config.pbtxt of {name} has changed since ({changed})"
        called = ", or of a model that it calls," if work.variant.composing else ""
        return f"config.pbtxt of {model}{called} has changed since"

    def _takes_over(self, part: ModelVariant, model: str) -> str:
        """What a part of a variant of the `model`, whose base nobody knows, has from an older
        configuration of the part.
        """
        versions = self.defaults.get(part.model, ())
        now = self._parts(model, self.base).get(part.model) or next(iter(versions[-1:]), None)
        if len(versions) < 2 or now is None:
            return ""
        own, present = dict(_leaves(part.config)), dict(_leaves(now.config))
        for older in versions:
            for name, then in _leaves(older.config):
                if own.get(name) == then != present.get(name):
                    return f"{name}: was {then}, now {present.get(name, 'not set')}"
        return ""

    def _parts(self, model: str, base: str) -> Mapping[str, ModelVariant]:
        """The model's own configuration that is this base, or else its newest, and those of all
        that it calls.
        """
        versions = self.defaults.get(model, ())
        found = next((one for one in versions if one.identity == base), None)
        newest = versions[-1] if versions else None
        own = found or newest
        return {} if own is None else {part.model: part for part in own.with_parts()}


def _leaves(config: ModelConfig, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for field, value in config.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{field}.")
        else:
            yield f"{prefix}{field}", value
