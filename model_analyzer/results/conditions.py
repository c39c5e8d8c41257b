# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the measurements that can be compared: those under the same conditions, of variants
of the current model.

All others on the same kind of hardware are left out and counted, with the reason. Other kinds of
hardware have an answer of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelConfig, ModelVariant
from model_analyzer.domain.profiles import (
    Difference,
    TrialRecord,
    client_differences,
    settings_differences,
    setup_differences,
)
from model_analyzer.domain.trials import ServerSetup, Trial, Workload
from model_analyzer.domain.words import counted

# More differences than this are counted instead of named.
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions that comparable measurements share: fingerprints of the server setup and, for
    each model, of its measurement conditions (see `Workload.client_setup`).
    """

    setup: str
    clients: tuple[str, ...]

    @classmethod
    def of(cls, trial: Trial) -> Conditions:
        return cls(
            setup=trial.setup.identity,
            clients=tuple(work.client_setup for work in trial.workloads),
        )

    def holds_for(self, trial: Trial) -> bool:
        return Conditions.of(trial) == self


@dataclass(frozen=True, slots=True, kw_only=True)
class Intended:
    """The conditions that a configuration file asks for. It does not name the server version and
    the GPUs, so `setup` is without them. With `any_cache`, it does not say either whether models
    have a response cache that they are measured without.
    """

    setup: ServerSetup
    clients: tuple[str, ...]
    any_cache: bool = False

    def holds_for(self, trial: Trial) -> bool:
        """Whether a trial was measured so; trials of upstream have no setup to compare."""
        setup = self.setup
        if self.any_cache:
            setup = replace(setup, uncached=trial.setup.uncached)
        is_alike = not trial.setup.launch or not any(setup_differences(trial.setup, setup))
        return is_alike and self.clients == Conditions.of(trial).clients


# What is asked for: the conditions of a run, or those that a file intends.
Wanted = Conditions | Intended


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The records under the same conditions.

    `number` counts groups from 1, in order of their first record. `sample` is their newest trial,
    `newest` its index among all records. `measurements` is the number of measurements, `current`
    the number of those of variants of the current model.
    """

    number: int
    conditions: Conditions
    sample: Trial
    records: tuple[TrialRecord, ...]
    newest: int
    measurements: int
    current: int

    @property
    def kind(self) -> str:
        """The kind of hardware, in words."""
        return self.sample.setup.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Records that a ranking leaves out, with the reason.

    `conditions` is the number of the group that ranks them; None if they are of variants of an
    older version of the model.
    """

    reason: str
    measurements: int
    failures: int
    conditions: int | None = None
    records: tuple[TrialRecord, ...] = field(default=(), repr=False)

    @property
    def sentence(self) -> str:
        """A sentence with their number, the reason, and the command that shows them."""
        parts = [
            counted(number, noun)
            for number, noun in ((self.measurements, "measurement"), (self.failures, "failure"))
            if number
        ]
        are = "is" if self.measurements + self.failures == 1 else "are"
        show = (
            "`model-analyzer checkpoint trials` shows all"
            if self.conditions is None
            else f"--conditions {self.conditions} ranks them"
        )
        return f"{' and '.join(parts)} {are} left out: {self.reason}; {show}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """The records that can be compared, and those left out. `groups` are all groups of the model,
    `group` is the selected one (None without records), `beside` are those selected on other kinds
    of hardware.
    """

    records: tuple[TrialRecord, ...]
    left_out: tuple[LeftOut, ...]
    groups: tuple[Group, ...]
    group: Group | None
    beside: tuple[Group, ...] = ()


def comparable(
    records: Sequence[TrialRecord],
    *,
    conditions: Wanted | Sequence[Wanted] | int | None = None,
    bases: tuple[str, ...] | None = None,
) -> tuple[Comparable, ...]:
    """Selects the comparable records of one model, or of several that were measured together, on
    each kind of hardware, sorted by the kind.

    `conditions` are the present ones (of several, the first that match count), or the number of
    a group: then only that group is selected. If they are None or match no group of a kind, its
    group with the most measurements of the current model is selected; of equal ones, the newer one.
    `bases` are the `ModelFacts.identity` of the current models; if None, those of the last
    measurement. A kind without any record of the current models is left out, unless it is the only
    one.

    Raises ValueError if there is no group of that number.
    """
    if not records:
        if isinstance(conditions, int):
            raise ValueError("nothing was measured")
        return (Comparable(records=(), left_out=(), groups=(), group=None),)
    why_stale = _staleness(records, bases)
    stale = [why_stale(record) for record in records]
    groups = _groups(records, stale)
    reasons = _reasons(records, stale)
    if isinstance(conditions, int):
        group = _numbered(groups, conditions)
        if not group.current:
            # an old group, selected by number, is ranked as it was
            reasons = _reasons(group.records, map(_staleness(group.records, None), group.records))
        return (_compared(groups, group, reasons),)
    wanted = (conditions,) if isinstance(conditions, Wanted) else conditions or ()
    return tuple(_of_each_kind(groups, wanted, reasons))


def _reasons(records: Sequence[TrialRecord], stale: Iterable[str]) -> Mapping[int, str]:
    """Why records are not of the current model, by the `id` of the record; the others are."""
    return {id(record): reason for record, reason in zip(records, stale, strict=True) if reason}


def _of_each_kind(
    groups: tuple[Group, ...], wanted: Sequence[Wanted], reasons: Mapping[int, str]
) -> Iterator[Comparable]:
    kinds: dict[str, list[Group]] = {}
    for group in groups:
        kinds.setdefault(group.kind, []).append(group)
    chosen = [_chosen(own, wanted) for _, own in sorted(kinds.items())]
    each = [(group, _compared(groups, group, reasons)) for group in chosen]
    present = [group for group, kind in each if kind.records]
    present = present or [max(chosen, key=lambda group: group.newest)]
    outdated = tuple(part for group, kind in each if group not in present for part in kind.left_out)
    for group, kind in each:
        if group in present:
            beside = tuple(other for other in present if other is not group)
            yield replace(kind, left_out=kind.left_out + outdated, beside=beside)
            outdated = ()


def _compared(groups: tuple[Group, ...], group: Group, reasons: Mapping[int, str]) -> Comparable:
    """The comparable records of a group; what is left out is on the same kind of hardware."""
    return Comparable(
        records=tuple(record for record in group.records if id(record) not in reasons),
        left_out=tuple(_left_out(groups, group, reasons)),
        groups=groups,
        group=group,
    )


def _left_out(
    groups: Sequence[Group], chosen: Group, reasons: Mapping[int, str]
) -> Iterator[LeftOut]:
    stale: dict[str, list[TrialRecord]] = {}
    for record in chosen.records:
        if id(record) in reasons:
            stale.setdefault(reasons[id(record)], []).append(record)
    for reason, records in stale.items():
        yield _counted(records, reason, None)
    for group in groups:
        if group is not chosen and group.kind == chosen.kind:
            yield _counted(group.records, _why_elsewhere(group.sample, chosen.sample), group.number)


def _counted(records: Sequence[TrialRecord], reason: str, group: int | None) -> LeftOut:
    measurements = sum(isinstance(record.outcome, Measurement) for record in records)
    return LeftOut(
        reason=reason,
        measurements=measurements,
        failures=len(records) - measurements,
        conditions=group,
        records=tuple(records),
    )


# -- conditions -----------------------------------------------------------------------------


def _groups(records: Sequence[TrialRecord], stale: Sequence[str]) -> tuple[Group, ...]:
    """Groups records by conditions. Trials of a checkpoint share setup and flag objects, so
    conditions are computed once for each combination of objects.
    """
    by_shared: dict[tuple[object, ...], Conditions] = {}
    indices: dict[Conditions, list[int]] = {}
    for index, record in enumerate(records):
        trial = record.trial
        shared: tuple[object, ...] = (id(trial.setup),)
        for work in trial.workloads:
            shared += (id(work.flags), work.inputs)
        conditions = by_shared.get(shared)
        if conditions is None:
            conditions = by_shared[shared] = Conditions.of(trial)
        indices.setdefault(conditions, []).append(index)
    return tuple(
        Group(
            number=number,
            conditions=conditions,
            sample=records[own[-1]].trial,
            records=tuple(records[index] for index in own),
            newest=own[-1],
            measurements=sum(isinstance(records[index].outcome, Measurement) for index in own),
            current=sum(
                isinstance(records[index].outcome, Measurement) and not stale[index]
                for index in own
            ),
        )
        for number, (conditions, own) in enumerate(indices.items(), 1)
    )


def _numbered(groups: Sequence[Group], number: int) -> Group:
    if not 1 <= number <= len(groups):
        raise ValueError(f"there is no group {number}: there are 1 to {len(groups)}")
    return groups[number - 1]


def _chosen(groups: Sequence[Group], wanted: Sequence[Wanted]) -> Group:
    """The group of a kind of hardware to rank."""
    matches: Sequence[Group] = ()
    for conditions in wanted:
        matches = matches or [group for group in groups if conditions.holds_for(group.sample)]
    return max(matches or groups, key=lambda group: (group.current, group.newest))


def differences(then: Trial, now: Trial) -> Sequence[Difference]:
    """The differences between the conditions of two trials of the same models, without those of
    the hardware.
    """
    old_version, version = then.setup.version, now.setup.version
    result = [Difference(subject="server version", then=old_version, now=version)]
    result = [] if old_version == version else result
    result += setup_differences(then.setup, now.setup)
    for old, work in zip(then.workloads, now.workloads, strict=True):
        result += client_differences(old, work)
    return result


def differences_text(then: Trial, now: Trial) -> str:
    """The differences in words; "" if there are none."""
    return _listed(
        [
            f"{each.subject} {each.then or 'not set'} instead of {each.now or 'not set'}"
            for each in differences(then, now)
        ]
    )


def _why_elsewhere(then: Trial, now: Trial) -> str:
    text = differences_text(then, now)
    return f"measured under different conditions{text and f' ({text})'}"


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_NAMED
    return ", ".join([*texts[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


# -- the current model ------------------------------------------------------------------------


def _staleness(
    records: Sequence[TrialRecord], bases: tuple[str, ...] | None
) -> Callable[[TrialRecord], str]:
    """A function that says why a record is not of the current models; "" if it is."""
    newest = _newest(records, bases)
    defaults = _defaults(records)
    current = [
        _CurrentModel(
            base, {part.model: part.files for part in work.variant.with_parts()}, defaults
        )
        for base, work in zip(bases or newest.bases, newest.workloads, strict=True)
    ]
    # trials with the same variant objects have the same reason
    cache: dict[tuple[object, ...], str] = {}

    def reason_of(record: TrialRecord) -> str:
        works = record.trial.workloads
        shared = tuple([item for work in works for item in (id(work.variant), work.base)])
        reason = cache.get(shared)
        if reason is None:
            texts = [model.why_stale(work) for model, work in zip(current, works, strict=True)]
            reason = cache[shared] = "; ".join(dict.fromkeys(filter(None, texts)))
        return reason

    return reason_of


def _newest(records: Sequence[TrialRecord], bases: tuple[str, ...] | None) -> Trial:
    """The newest trial of the current models; preferably one whose model files are known."""
    trials = [record.trial for record in reversed(records)]
    for trial in trials:
        if bases is not None and trial.bases == bases:
            return trial
    verified = (trial for trial in trials if not trial.is_unverified)
    return next(verified, trials[0])


def _defaults(records: Sequence[TrialRecord]) -> Mapping[str, Sequence[ModelVariant]]:
    """The default configurations of each model over time, newest last."""
    defaults: dict[str, dict[str, ModelVariant]] = {}
    seen: set[int] = set()
    for record in reversed(records):
        for work in record.trial.workloads:
            if id(work.variant) not in seen:
                seen.add(id(work.variant))
                for part in work.variant.with_parts():
                    if part.is_default:
                        defaults.setdefault(part.model, {}).setdefault(part.identity, part)
    return {model: list(variants.values())[::-1] for model, variants in defaults.items()}


@dataclass(frozen=True, slots=True)
class _CurrentModel:
    """The current version of a model: its `base` (see `Workload.base`), the fingerprints of its
    files and of those of its composing models, and all default configurations over time.
    """

    base: str
    files: Mapping[str, str]
    defaults: Mapping[str, Sequence[ModelVariant]]

    def why_stale(self, work: Workload) -> str:
        """Why the variant is not of the current model; "" if it is."""
        if work.base == self.base and work.base:
            return ""
        for part in work.variant.with_parts():
            files = self.files.get(part.model)
            if files and part.files and files != part.files:
                return f"files of {part.model} have changed since"
        if work.base and self.base:
            return self._edited(work)
        for part in work.variant.with_parts():
            if changed := self._outdated_value(part, work.variant.model):
                return f"config.pbtxt of {part.model} has changed since ({changed})"
        return ""

    def _edited(self, work: Workload) -> str:
        """What has changed between two known, different bases."""
        model = work.variant.model
        then, now = self._defaults_at(model, work.base), self._defaults_at(model, self.base)
        if then.keys() != now.keys():
            return f"{model} has called other models since"
        for name, part in then.items():
            edits = settings_differences("", part.config, now[name].config)
            changed = _listed([str(edit).removeprefix(": ") for edit in edits])
            if changed:
                return f"config.pbtxt of {name} has changed since ({changed})"
        called = ", or of a model that it calls," if work.variant.composing else ""
        return f"config.pbtxt of {model}{called} has changed since"

    def _outdated_value(self, part: ModelVariant, model: str) -> str:
        """A value that a part has from an older default configuration; "" if none. For variants of
        the `model` with an unknown base.
        """
        versions = self.defaults.get(part.model, ())
        now = self._defaults_at(model, self.base).get(part.model) or next(iter(versions[-1:]), None)
        if len(versions) < 2 or now is None:
            return ""
        own, present = dict(_leaves(part.config)), dict(_leaves(now.config))
        for older in versions:
            for name, then in _leaves(older.config):
                if own.get(name) == then != present.get(name):
                    return f"{name}: was {then}, now {present.get(name, 'not set')}"
        return ""

    def _defaults_at(self, model: str, base: str) -> Mapping[str, ModelVariant]:
        """The default configuration of the model at this base, or else its newest, with those of
        its composing models; by model.
        """
        versions = self.defaults.get(model, ())
        exact = next((version for version in versions if version.identity == base), None)
        default = exact or (versions[-1] if versions else None)
        return {} if default is None else {part.model: part for part in default.with_parts()}


def _leaves(config: ModelConfig, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
