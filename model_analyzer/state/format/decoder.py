# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoint entries to profile values: the border that nothing passes but what is as it should be.

Files may come from anybody, with right checksums. So each entry is read by a table of its fields,
which checks types and ranges, and an entry that fails is named and left out. What stands behind
does not check again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

from model_analyzer.domain.conclusions import Conclusion, StopReason
from model_analyzer.domain.environment import Veil
from model_analyzer.domain.goals import Constraint, Goal, ModelGoal, Objective
from model_analyzer.domain.measurements import (
    Measurement,
    ModelMeasurement,
    Notice,
    NoticeKind,
    Values,
)
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.models import ModelVariant, empty
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.slots import Asked
from model_analyzer.domain.statistics import BatchStatistics, ModelStatistics
from model_analyzer.domain.trials import (
    Failure,
    FailureReason,
    Load,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
)
from model_analyzer.state.format.codec import BASES, MODE
from model_analyzer.state.format.config_fields import model_config
from model_analyzer.state.format.fields import (
    Field,
    Malformed,
    amount,
    amounts,
    anything,
    flags,
    keyed,
    listed,
    metrics,
    name,
    named,
    node,
    number,
    one_of,
    optional,
    or_null,
    record,
    row,
    seconds,
    switch,
    text,
    tree,
    whole,
)
from model_analyzer.state.format.lines import Entry
from model_analyzer.state.own_key import own_key

T = TypeVar("T")

_NOTHING: Mapping[str, Any] = empty()
_TAGS = {tag: tag for tag in (*METRICS, *ALIASES)}
_count = whole()


def _pair(*items: T) -> tuple[T, ...]:
    return items


# -- what outcomes refer to ------------------------------------------------------------------------


def _container(value: Any) -> Mapping[str, Any]:
    arguments = tree(value)
    keyed(environment=optional(listed(text), ()))(value)
    return arguments


def _of_setup(shown: Sequence[str] | None, **others: Any) -> ServerSetup:
    veil = Veil(key=own_key()) if shown is None else Veil(shown=frozenset(shown))
    return ServerSetup(**others, veil=veil)


_setup = record(
    _of_setup,
    launch=text,
    version=text,
    protocol=text,
    devices=listed(text),
    flags=flags,
    environment=named(text),
    container=optional(_container, _NOTHING),  # since format 2
    shown=optional(listed(text), None),  # without it: kept by a version that masked less
)
_generator = keyed(
    flags=flags,
    inputs=text,
    times_tokens=optional(switch, False),
    genai_perf=optional(flags, _NOTHING),
    base=optional(text, ""),
)
_variant = keyed(
    model=name,
    name=name,
    files=text,
    config=model_config,
    composing=listed(row(_pair, name, name)),
)
_identity = keyed(id=name)

# -- outcomes --------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _load(kind: LoadKind, value: int, batch_size: int) -> Load:
    """Many trials are under the same load."""
    return Load(kind=kind, value=value, batch_size=batch_size)


def _notice(kind: NoticeKind, text: str) -> Notice:
    return Notice(kind=kind, text=text)


_work = keyed(
    variant=name,
    name=name,
    kind=one_of({kind.value: kind for kind in LoadKind}),
    value=_count,
    batch_size=optional(whole(1), 1),
    generator=optional(name, ""),  # format 1 had it in place
)
_common: Mapping[str, Field[Any]] = {
    "commands": listed(text),
    "started": seconds,
    "duration_s": seconds,
}
_failure = record(
    Failure,
    reason=one_of(FailureReason.__members__),
    message=text,
    log=listed(text),
    hint=text,
    **_common,
)
_model = record(
    ModelMeasurement,
    values=metrics,
    requests=or_null(_count),
    windows=amounts,
    composing=optional(named(metrics), _NOTHING),
    raised=optional(flags, _NOTHING),
)
_counter = whole(0, 2**64 - 1)  # as Triton counts
_statistics = record(
    ModelStatistics,
    inferences=_counter,
    executions=_counter,
    batches=listed(row(BatchStatistics, _counter, _counter, amount)),
)
_measurement = record(
    Measurement,
    models=listed(_model),
    gpus=optional(named(metrics), _NOTHING),
    host=optional(metrics, _NOTHING),
    statistics=optional(named(_statistics), _NOTHING),
    notices=optional(
        listed(row(_notice, one_of({kind.value: kind for kind in NoticeKind}), text)), ()
    ),
    loading_s=optional(seconds, 0.0),
    **_common,
)


class Decoder:
    """Reads outcomes, and what they refer to, which has to be defined before them."""

    def __init__(self) -> None:
        self._setups: dict[str, ServerSetup] = {}
        self._variants: dict[tuple[str, str], ModelVariant] = {}
        self._generators: dict[str, Mapping[str, Any]] = {}
        self._trial = keyed(
            key=name,
            node=optional(node, ""),
            number=optional(_count, 0),
            setup=partial(_defined, self._setups, "setup"),
            workloads=listed(self._workload),
            repetition=optional(_count, 0),
        )

    def learn(self, other: Decoder) -> None:
        """Takes over what the other one knows."""
        self._setups.update(other._setups)
        self._variants.update(other._variants)
        self._generators.update(other._generators)

    def define(self, entry: Entry) -> None:
        """Reads an entry that outcomes refer to. Raises ValueError where it cannot be used."""
        _decoded(self._define, entry)

    def record(self, entry: Entry) -> TrialRecord:
        """The record of an outcome. Raises ValueError where it cannot be used."""
        return _decoded(self._record, entry)

    def _define(self, entry: Entry) -> None:
        identity = _identity(entry)["id"]
        match entry["entry"]:
            case "setup":
                self._setups[identity] = _setup(entry)
            case "variant":
                fields = _variant(entry)
                fields["composing"] = tuple(map(self._variant, fields["composing"]))
                self._variants[identity, fields["name"]] = ModelVariant(**fields)
            case _:
                self._generators[identity] = _generator(entry)

    def _record(self, entry: Entry) -> TrialRecord:
        fields = self._trial(entry)
        workloads = fields["workloads"]
        is_measured = entry["entry"] == "measurement"
        outcome = _measurement(entry) if is_measured else _failure(entry)
        measured = len(outcome.models) if isinstance(outcome, Measurement) else len(workloads)
        if measured != len(workloads) or not workloads:
            raise ValueError("measurements of more or fewer models than there are")
        trial = Trial(
            workloads=workloads,
            setup=fields["setup"],
            repetition=fields["repetition"],
        )
        return TrialRecord(trial, outcome, fields["node"], fields["number"])

    def _workload(self, entry: Any) -> Workload:
        work = _work(entry)
        generator = work["generator"]
        return Workload(
            variant=self._variant((work["variant"], work["name"])),
            load=_load(work["kind"], work["value"], work["batch_size"]),
            **(
                _defined(self._generators, "generator", generator)
                if generator
                else _generator(entry)
            ),
        )

    def _variant(self, reference: tuple[str, str]) -> ModelVariant:
        return _defined(self._variants, "variant", reference)


def _defined(table: Mapping[Any, T], kind: str, identity: Any) -> T:
    try:
        return table[identity]
    except (KeyError, TypeError):
        raise Malformed(f"the identity of a {kind} before it", identity) from None


def _decoded(field: Field[T], entry: Entry) -> T:
    try:
        return field(entry)
    except ValueError as error:
        raise ValueError(f"an unusable {entry['entry']} entry ({error})") from None


# -- entries of which there are few ----------------------------------------------------------------

_subject = keyed(subject=text)
_gpus = keyed(gpus=named(metrics))
_metadata = keyed(key=text, value=anything)
_search = keyed(subject=text, **{MODE: optional(text, ""), BASES: optional(listed(text), ())})
_copy = keyed(like=optional(text, ""), lines=text)
_contents = keyed(outcomes=text)


def decode_server_only(entry: Entry) -> Mapping[str, Values]:
    """The values of each GPU by its UUID. Raises ValueError where they cannot be used."""
    gpus: Mapping[str, Values] = _decoded(_gpus, entry)["gpus"]
    return gpus


_asked = keyed(subject=name, number=_count, key=text, after=listed(text))


def decode_asked(entry: Entry) -> tuple[str, int, Asked]:
    """The subject of a search, and a question by its number. Raises ValueError if unusable."""
    fields = _decoded(_asked, entry)
    return fields["subject"], fields["number"], Asked(key=fields["key"], after=fields["after"])


def decode_metadata(entry: Entry) -> tuple[str, Any]:
    """A key with its value, None where it was removed. Raises ValueError for anything else."""
    return _decoded(_metadata, entry)["key"], entry["value"]


def decode_search(entry: Entry) -> tuple[str, Entry]:
    """The subject of a search, and its settings. Raises ValueError where they cannot be used."""
    return _decoded(_search, entry)["subject"], entry


def decode_copy(entry: Entry) -> Entry:
    """Copies of other entries. Raises ValueError where they cannot be used."""
    _decoded(_copy, entry)
    return entry


def decode_contents(entry: Entry) -> str:
    """The list of the outcomes of a file. Raises ValueError where it is none."""
    outcomes: str = _decoded(_contents, entry)["outcomes"]
    return outcomes


# The reasons were first kept as sentences.
_REASONS_IN_WORDS = {
    "it may take no more": StopReason.LIMIT,
    "the time is used up": StopReason.BUDGET,
    "nothing else is worth a measurement": StopReason.NOTHING_WORTH,
}


def _reason(value: Any) -> StopReason:
    word = text(value)
    if word in StopReason.__members__:
        return StopReason[word]
    return _REASONS_IN_WORDS.get(word, StopReason.UNKNOWN)


_conclusion = record(
    Conclusion,
    recommended=text,
    goal=text,
    feasible=switch,
    trials=_count,
    reason=_reason,
    limit=optional(or_null(_count), None),
    has_default_limit=optional(switch, True),
    margin=number(),
    chance=number(),
    gain=number(),
)


def decode_conclusion(entry: Entry) -> tuple[str, Conclusion]:
    """The subject of a search, and what it came to. Raises ValueError where it cannot be used."""
    if "trials" not in entry and "outcomes" in entry:
        # kept so first, with repetitions: such a number counts where there were none
        entry = {**entry, "trials": entry["outcomes"]}
    return _decoded(_subject, entry)["subject"], _decoded(_conclusion, entry)


_goal = listed(
    record(
        ModelGoal,
        objectives=listed(record(Objective, tag=one_of(_TAGS), weight=amount)),
        constraints=listed(
            record(Constraint, tag=one_of(_TAGS), minimum=or_null(amount), maximum=or_null(amount))
        ),
        weighting=amount,
    )
)


def decode_goal(models: Any) -> Goal | None:
    """The goal of a search; None where there is none, or this program cannot judge by it."""
    try:
        goal = Goal(models=_goal(models))
    except Malformed:
        return None
    weights = [sum(one.weight for one in model.objectives) for model in goal.models]
    is_weighed = all(weights) and all(model.weighting for model in goal.models)
    return goal if weights and is_weighed else None
