# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the entries of a checkpoint may contain: names, types and ranges of all fields.

Files may come from anybody, with correct checksums. Other code relies on these types and ranges,
and does not check again. Unknown fields are ignored. A field that may be missing has a default; a
`UNSET` field has none, and must not be null.

msgspec checks entries fast, but its messages lack the key in a mapping and the value. So an entry
that it refused is searched for the part that it refuses.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from enum import Enum
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert, field
from msgspec.structs import fields

from model_analyzer.domain.hardware import WITHOUT_GPU
from model_analyzer.domain.measurements import NoticeKind
from model_analyzer.domain.model_config_fields import ENUMS, MESSAGES
from model_analyzer.domain.models import ModelConfig, freeze
from model_analyzer.domain.traffic import Arrivals
from model_analyzer.domain.trials import LoadKind
from model_analyzer.domain.words import MOST_INTEGER, MOST_NUMBER
from model_analyzer.state.format.codec import BASES, KINDS, MODE, REFUSED_VARIANTS

# What msgspec raises for an invalid value: the second for a text with surrogates in a wrong place.
REFUSED = (ValidationError, UnicodeEncodeError)

_MISSING = object()
_NO_STEP = object()
_COMPOUND = (Annotated, Union, UnionType)
_WORDS = {str: "a text", bool: "true or false", list: "a list", Any: "a value"}


class Malformed(ValueError):
    """A value of a wrong type, or out of range."""

    def __init__(self, expected: str, value: Any = _MISSING, place: str = "") -> None:
        """Without a `value`, it is missing. `place` is where it is in the entry."""
        super().__init__(expected, value, place)
        self._expected, self._value, self._place = expected, value, place

    def __str__(self) -> str:
        value = "nothing" if self._value is _MISSING else reprlib.repr(self._value)
        place = f"{self._place.lstrip('.')}: " if self._place else ""
        return f"{place}expected {self._expected}, found {value}"

    def inside(self, step: str | int) -> Malformed:
        """The same error for the mapping or list that has the value at `step`."""
        place = f"[{step}]" if isinstance(step, int) else f".{step}"
        return Malformed(self._expected, self._value, place + self._place)


def refusal(kind: Any, value: Any) -> Malformed:
    """Why a value is not of this kind: of a type of `schema`, which refuses it."""
    for step, part, item in _parts(kind, value):
        if item is _MISSING:
            return Malformed(_expected(part)).inside(step)
        if not _is_of(part, item):
            inner = refusal(part, item)
            return inner if step is _NO_STEP else inner.inside(step)
    return Malformed(_expected(kind), value)


def _is_of(kind: Any, value: Any) -> bool:
    try:
        convert(value, kind)
    except REFUSED:
        return False
    return True


def _parts(kind: Any, value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The step to each part of a value, its kind, and the part; missing ones, too. Rows (lists with
    a fixed length) are small: their items have no step.
    """
    kind = _main(kind, value)
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(value, dict) and origin is dict:
        for key, item in value.items():
            yield _NO_STEP, arguments[0], key
            yield key, arguments[1], item
    elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        for field in fields(kind):
            if field.required or field.encode_name in value:
                yield field.encode_name, field.type, value.get(field.encode_name, _MISSING)
    elif isinstance(value, list) and origin is list:
        yield from ((index, arguments[0], item) for index, item in enumerate(value))
    elif isinstance(value, list) and origin is tuple and len(value) == len(arguments):
        yield from zip([_NO_STEP] * len(value), arguments, value, strict=True)


def _main(kind: Any, value: Any) -> Any:
    """The kind without its bounds; of several, the one that may be a list if the value is one, else
    the first: the others stand for its absence.
    """
    while get_origin(kind) in _COMPOUND:
        kinds = [each for each in get_args(kind) if get_origin(each) is list]
        kind = kinds[0] if kinds and isinstance(value, list) else get_args(kind)[0]
    return kind


def _expected(kind: Any) -> str:
    for bounds in kind.__metadata__ if get_origin(kind) is Annotated else ():
        if bounds.description:
            return str(bounds.description)
    if get_origin(kind) in _COMPOUND:
        return _expected(get_args(kind)[0])
    if get_origin(kind) is tuple:
        return f"a list of {len(get_args(kind))}"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of {', '.join(word.value for word in kind)}"
    return _WORDS.get(get_origin(kind) or kind, "an object")


T = TypeVar("T")

_YEAR_10000_S = 253_402_300_800

# -- kinds of values -------------------------------------------------------------------------------

_A_NAME = "a text of 1 to 1000 characters"

# only Python accepts surrogates
Name = Annotated[
    str, Meta(min_length=1, max_length=1000, pattern=r"^[^\ud800-\udfff]*\Z", description=_A_NAME)
]
# the name or identity of something that the file has defined before
Reference = Annotated[str, Meta(min_length=1, max_length=1000, description=_A_NAME)]
# a node of a cluster: a part of file names
Node = Annotated[
    str, Meta(max_length=1000, pattern=r"^[^/\0]*\Z", description="the name of a node")
]
Count = Annotated[
    int, Meta(ge=0, le=MOST_INTEGER, description=f"a whole number from 0 to {MOST_INTEGER}")
]
Positive = Annotated[
    int, Meta(ge=1, le=MOST_INTEGER, description=f"a whole number from 1 to {MOST_INTEGER}")
]
Niceness = Annotated[int, Meta(ge=-20, le=19, description="a whole number from -20 to 19")]
Number = Annotated[
    Annotated[int, Meta(ge=-MOST_NUMBER, le=MOST_NUMBER)]
    | Annotated[float, Meta(ge=-MOST_NUMBER, le=MOST_NUMBER)],
    Meta(description=f"a number from {-MOST_NUMBER:g} to {MOST_NUMBER:g}"),
]
Amount = Annotated[
    Annotated[int, Meta(ge=0, le=MOST_NUMBER)] | Annotated[float, Meta(ge=0, le=MOST_NUMBER)],
    Meta(description=f"a number from 0 to {MOST_NUMBER:g}"),
]
Clustering = Annotated[
    Annotated[int, Meta(ge=1, le=MOST_NUMBER)] | Annotated[float, Meta(ge=1, le=MOST_NUMBER)],
    Meta(description=f"a number from 1 to {MOST_NUMBER:g}"),
]
# a duration, or a time since 1970 that a calendar has
Seconds = Annotated[
    Annotated[int, Meta(ge=0, le=_YEAR_10000_S)] | Annotated[float, Meta(ge=0, le=_YEAR_10000_S)],
    Meta(description=f"a number from 0 to {_YEAR_10000_S:g}"),
]
Scalar = Annotated[
    bool | int | Annotated[float, Meta(ge=-MOST_NUMBER, le=MOST_NUMBER)] | str,
    Meta(description=f"a text, a number from {-MOST_NUMBER:g} to {MOST_NUMBER:g}, true or false"),
]
Flags = dict[str, Scalar | list[Scalar]]
Values = dict[str, Number]

# -- definitions, which outcomes refer to ----------------------------------------------------------


class StoredPart(Struct, gc=False):
    """An entry, or a part of one; no part refers to another that contains it."""


class StoredDevice(StoredPart):
    uuid: str
    name: str
    memory: Amount


class StoredMachine(StoredPart):
    id: Name
    host: str = ""
    devices: list[StoredDevice] = []
    driver: str = ""
    processor: str = ""
    cores: Count | UnsetType = UNSET
    niceness: Niceness | UnsetType = UNSET
    threads: str = ""


class Container(StoredPart):
    environment: list[str] = []


class Setup(StoredPart):
    id: Name
    launch: str
    version: str
    protocol: str
    devices: list[str]
    flags: Flags
    environment: dict[str, str]
    container: dict[str, Any] = {}  # since format 2
    uncached: bool = False
    shown: list[str] | UnsetType = UNSET  # versions that masked less did not write it
    machine: Reference | UnsetType = UNSET  # since format 4


class StoredTraffic(StoredPart):
    arrivals: Arrivals
    seed: Count
    cv: Amount = 1.0
    stages: list[tuple[Amount, Amount]] = []
    speed: Amount = 1.0
    column: str = ""
    unit: str = ""
    input: str = ""
    generators: Count = 1
    log: str = ""


class StoredGenerator(StoredPart):
    flags: Flags
    inputs: str
    traffic: StoredTraffic | UnsetType = UNSET
    times_tokens: bool = False
    genai_perf: Flags = {}
    base: str = ""


class Variant(StoredPart):
    id: Name
    model: Name
    name: Name
    files: str
    config: Any
    composing: list[tuple[Name, Name]]


class Definition(StoredPart):
    id: Name


# -- outcomes --------------------------------------------------------------------------------------


class StoredWorkload(StoredPart):
    variant: Reference
    name: Reference
    kind: LoadKind
    value: Count
    batch_size: Positive = 1
    generator: Reference | UnsetType = UNSET  # in format 1, its fields are in the workload


class Model(StoredPart):
    values: Values
    requests: Count | None
    windows: list[Amount]
    seconds: Seconds = 0.0
    histograms: dict[str, tuple[str, Clustering]] = {}
    joint: str | UnsetType = UNSET
    composing: dict[str, Values] = {}
    raised: Flags = {}
    evidence: Values = {}


class StoredRequests(StoredPart):
    answered: Count
    failed: Count
    hits: Count
    misses: Count


class Statistics(StoredPart):
    inferences: Count
    executions: Count
    batches: list[tuple[Count, Count, Amount]]
    requests: StoredRequests | UnsetType = UNSET


class StoredResources(StoredPart):
    seconds: Seconds
    server_cpu_s: Seconds
    client_cpu_s: Seconds
    memory_before: Amount
    memory_after: Amount
    other_cpu_s: Seconds | None = None


class Outcome(StoredPart, kw_only=True):
    """The fields of measurements and failures."""

    key: Name
    node: Node = ""
    setup: Reference
    workloads: list[StoredWorkload]
    repetition: Count = 0
    commands: list[str]
    started: Seconds
    duration_s: Seconds


class StoredMeasurement(Outcome, kw_only=True, tag_field="entry", tag="measurement"):
    models: list[Model]
    gpus: dict[str, Values] = {}
    host: Values = {}
    statistics: dict[str, Statistics] = {}
    notices: list[tuple[NoticeKind, str]] = []
    loading_s: Seconds = 0.0
    resources: StoredResources | UnsetType = UNSET


class StoredFailure(Outcome, kw_only=True, tag_field="entry", tag="failure"):
    reason: str
    message: str
    log: list[str]
    hint: str


# -- entries of which a file has few ---------------------------------------------------------------


class StoredHeader(StoredPart):
    format: Positive | UnsetType = UNSET
    uuid: str = ""
    parent: str = ""
    index: Count | None = None
    time: str = ""
    tool: str = ""
    devices: list[StoredDevice] = []
    host: dict[str, str] = {}
    cores: Count | None = None
    nodes: dict[Node, Count] = {}
    lost: dict[Node, Count] = {}


class StoredLane(StoredPart):
    subject: str
    kind: Name = WITHOUT_GPU


class ServerOnly(StoredPart):
    gpus: dict[str, Values]


class Metadata(StoredPart):
    key: str
    value: Any


class StoredSearch(StoredPart):
    subject: str
    mode: str = field(default="", name=MODE)
    bases: list[str] = field(default_factory=list, name=BASES)
    kinds: list[str] = field(default_factory=list, name=KINDS)
    refused: list[str] = field(default_factory=list, name=REFUSED_VARIANTS)


class Copy(StoredPart):
    lines: str
    like: str = ""


class Contents(StoredPart):
    outcomes: str


class StoredAsked(StoredPart):
    number: Count
    key: str
    after: list[str]


Shift = tuple[Number, Amount]


class StoredSharedHost(StoredPart):
    host: Name
    slots: Positive
    model: str
    trial: Name
    throughput: Shift
    latency_p99: Shift | None
    started: Seconds


class StoredProof(StoredPart):
    kind: str
    verdict: str
    sentence: str
    numbers: Values
    at: Seconds
    variant: str
    load: str
    content: str
    setup: str
    trial: str


class StoredConclusion(StoredPart):
    recommended: str
    goal: str
    feasible: bool
    trials: Count
    reason: str
    margin: Number
    chance: Number
    gain: Number
    limit: Count | None = None
    has_default_limit: bool = True
    rival: str = ""
    noise_percent: Amount = 0.0


class StoredObjective(StoredPart):
    tag: str
    weight: Amount


class StoredConstraint(StoredPart):
    tag: str
    minimum: Amount | None
    maximum: Amount | None


class StoredModelGoal(StoredPart):
    objectives: list[StoredObjective]
    constraints: list[StoredConstraint]
    weighting: Amount


def checked(kind: type[T], value: Any) -> T:
    """The value as this kind of entry. Raises Malformed if it is none."""
    try:
        return convert(value, kind)
    except REFUSED:
        raise refusal(kind, value) from None


_INTEGERS = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}
_MOST_FLOAT = 3.4e38


def model_config(value: Any) -> ModelConfig:
    """A model configuration that Triton's protobuf can hold. Our table has its fields; only for
    other fields is the protobuf asked, which may be newer but is slow to import. Raises Malformed.
    """
    if not _is_known("ModelConfig", value):
        from model_analyzer.domain.protobuf import to_message

        try:
            to_message(value)
        except ValueError as error:
            raise Malformed(f"a model configuration ({error})", value) from None
    config: ModelConfig = freeze(value)
    return config


def _is_known(kind: str, value: Any) -> bool:
    """Whether our table has all fields of a value. Raises Malformed if it has a wrong type."""
    if kind.startswith("["):
        items = enumerate(_typed(value, list, "a list"))
        return _are_known([(index, kind[1:-1], item) for index, item in items])
    if kind.startswith("{"):
        named = _typed(value, dict, "an object").items()
        return _are_known([(key, kind[1:-1], item) for key, item in named])
    if kind in MESSAGES:
        fields = MESSAGES[kind]
        named = _typed(value, dict, f"an object ({kind})").items()
        known = [(key, fields[key], item) for key, item in named if key in fields]
        return _are_known(known) and len(known) == len(value)
    if kind in ENUMS:  # a value without a name is a number
        return type(value) is int or _typed(value, str, "a text") in ENUMS[kind]
    _check_scalar(kind, value)
    return True


def _are_known(items: Sequence[tuple[str | int, str, Any]]) -> bool:
    """Whether all items are known: each comes with its step and its kind."""
    are_known = True
    for step, kind, item in items:
        try:
            are_known &= _is_known(kind, item)
        except Malformed as error:
            raise error.inside(step) from None
    return are_known


def _check_scalar(kind: str, value: Any) -> None:
    match kind:
        case "bool":
            _typed(value, bool, "true or false")
        case "str":
            _typed(value, str, "a text")
        case "float":
            if type(value) not in (int, float) or not abs(value) <= _MOST_FLOAT:
                raise Malformed(f"a number from {-_MOST_FLOAT:g} to {_MOST_FLOAT:g}", value)
        case _:
            low, high = _INTEGERS[kind]
            if type(value) is not int or not low <= value <= high:
                raise Malformed(f"a whole number from {low} to {high}", value)


def _typed(value: Any, kind: type, expected: str) -> Any:
    """The value, if it has this type."""
    if type(value) is not kind:
        raise Malformed(expected, value)
    return value
