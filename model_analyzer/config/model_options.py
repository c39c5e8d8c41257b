# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile_models`: its forms, and the options of each model, with those of its container.

Kinds for plots and for the variants to report.

`model_config_parameters`: checks the fields against Triton's ModelConfig and expands sweeps.

If a value fits its field, it is one value; otherwise it is a list of alternatives (a sweep):
`max_batch_size: [4, 8]` is a sweep, `preferred_batch_size: [4, 8]` is one value, and `[[4, 8],
[16]]` is a sweep of it. Alternatives at any depth multiply. `null` leaves a field unchanged.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from types import MappingProxyType
from typing import Any, ClassVar

from model_analyzer.config.flag_values import PERF_ANALYZER_VALUES, TRITON_SERVER_VALUES
from model_analyzer.config.goal_kinds import Constraints, Objectives
from model_analyzer.config.kinds import (
    Boolean,
    Environment,
    Fields,
    Flags,
    Integer,
    Integers,
    Kind,
    ListOf,
    Number,
    OneOf,
    Text,
)
from model_analyzer.config.nodes import (
    NAME,
    NULL,
    SCALAR,
    Entry,
    Node,
    Problems,
    Schema,
    any_of,
    array,
    closed,
    did_you_mean,
    mapping,
    read_all,
    read_mapping,
    text,
    whole,
    with_commas,
)
from model_analyzer.config.table import (
    GOALS,
    LOAD_GENERATOR,
    MODELS,
    SEARCH,
    SERVER,
    Given,
    Option,
    in_group,
    read,
    schema,
)
from model_analyzer.config.traffic_options import OpenLoad
from model_analyzer.domain.flags import (
    GENAI_PERF_FLAGS,
    GENAI_PERF_FURTHER_FLAGS,
    GENAI_PERF_REPEATABLE,
    PERF_ANALYZER_FLAGS,
    PERF_ANALYZER_LETTERS,
    PERF_ANALYZER_REPEATABLE,
    PERF_ANALYZER_WORDS,
    TRITON_SERVER_FLAGS,
    TRITON_SERVER_REPEATABLE,
    TRITON_SERVER_WORDS,
)
from model_analyzer.domain.metrics import ALIASES, METRICS, canonical
from model_analyzer.domain.model_config_fields import ENUMS, MESSAGES
from model_analyzer.domain.models import ALTERNATIVES
from model_analyzer.domain.settings import MeasurementMode, PlotSettings, ResponseCache, SearchMode
from model_analyzer.domain.words import MOST_INSTANCES, MOST_RATE

_MOST_ALTERNATIVES = 100_000
SCALARS: Mapping[str, Kind] = {
    "int32": Integer(-(2**31), 2**31 - 1),
    "int32 from 0": Integer(0, 2**31 - 1),
    "instances": Integer(0, MOST_INSTANCES),
    "int64": Integer(-(2**63), 2**63 - 1),
    "uint32": Integer(0, 2**32 - 1),
    "uint64": Integer(0, 2**64 - 1),
    "float": Number(-sys.float_info.max, sys.float_info.max),
    "bool": Boolean(),
    "str": Text(),
}

# Fields of which no server takes some of the values that their type has.
_NARROWER = {
    "ModelConfig": {"max_batch_size": "int32 from 0"},
    "ModelInstanceGroup": {"count": "instances"},
}

# Of these fields, a message has one at most.
_ONE_OF = {
    "ModelVersionPolicy": ALTERNATIVES["version_policy"],
    "ModelSequenceBatching": ALTERNATIVES["sequence_batching"],
    "ModelSequenceBatching.InitialState": frozenset({"zero_data", "data_file"}),
    "ModelWarmup.Input": frozenset({"zero_data", "random_data", "input_data_file"}),
}

Alternatives = tuple[Any, ...]


class ModelConfigParameters:
    """A mapping from fields of the model configuration to the values to try, in order."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> Mapping[str, Alternatives]:
        fields = _fields(node, "ModelConfig")
        for entry in node.entries:
            if entry.key == "name":
                raise entry.problem("the name of a model cannot be varied", "remove it")
        if math.prod(map(len, fields.values())) > _MOST_ALTERNATIVES:
            raise node.problem(f"more than {_MOST_ALTERNATIVES} combinations")
        return MappingProxyType(fields)

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/ModelConfig"}


def sweep_definitions() -> Mapping[str, Schema]:
    """The definitions that the schema of `ModelConfigParameters` refers to: every message, with
    its sweep forms.
    """
    messages = {
        name: closed({field: _schema(kind) for field, kind in _kinds(name).items()})
        for name in MESSAGES
    }
    del messages["ModelConfig"]["properties"]["name"]  # model-analyzer names the variants
    kinds = {kind for fields in MESSAGES.values() for kind in fields.values()}
    lists = {
        f"list of {kind[1:-1]}": any_of(
            NULL,
            array(_single_schema(kind[1:-1])),
            array({"$ref": f"#/$defs/list of {kind[1:-1]}"}),
        )
        for kind in sorted(kinds)
        if kind.startswith("[")
    }
    return {**messages, **lists}


def _schema(kind: str) -> Schema:
    """A field of this kind: null, a value, or a list of values to try."""
    if kind.startswith("["):
        return {"$ref": f"#/$defs/list of {kind[1:-1]}"}
    single = mapping(_schema(kind[1:-1])) if kind.startswith("{") else _single_schema(kind)
    return any_of(single, NULL, array(any_of(single, NULL), minItems=1))


def _single_schema(kind: str) -> Schema:
    if kind in SCALARS:
        return SCALARS[kind].schema()
    return {"enum": list(ENUMS[kind])} if kind in ENUMS else {"$ref": f"#/$defs/{kind}"}


def _kinds(message: str) -> Mapping[str, str]:
    """The kind of each field of a message."""
    return {**MESSAGES[message], **_NARROWER.get(message, {})}


def _fields(node: Node, message: str) -> dict[str, Alternatives]:
    """The alternatives of each field of a message."""
    kinds = _kinds(message)

    def read(entry: Entry) -> Alternatives:
        if entry.key not in kinds:
            hint = did_you_mean(entry.key, list(kinds))
            raise entry.problem(f"{message} has no field {entry.key!r}", hint)
        return _alternatives(entry.node, kinds[entry.key])

    fields = read_mapping(node, f" of {message} fields", read)
    one_of = _ONE_OF.get(message, ())
    given = [each for each in node.entries if each.key in one_of and not each.node.is_null]
    if len(given) > 1:
        names = " and ".join(each.key for each in given)
        raise given[1].problem(f"{names} exclude each other", "give one of them")
    return fields


def _alternatives(node: Node, kind: str) -> Alternatives:
    if node.is_null:
        return (None,)
    if kind.startswith("["):
        return _repeated(node, kind[1:-1])
    if node.is_list:
        if not node.items:
            raise node.problem("the list of values to try is empty")
        return _limited(node, (value for item in node.items for value in _single(item, kind)))
    return _single(node, kind)


def _single(node: Node, kind: str) -> Alternatives:
    """The alternatives of a value that is not a list."""
    if node.is_null:
        return (None,)
    if kind.startswith("{"):
        fields = read_mapping(node, "", lambda entry: _alternatives(entry.node, kind[1:-1]))
        return _combine(node, fields)
    if kind in SCALARS:
        return (SCALARS[kind].parse(node),)
    if kind in ENUMS:
        return (_enum_value(node, kind),)
    return _combine(node, _fields(node, kind))


def _repeated(node: Node, kind: str) -> Alternatives:
    """A list is one value, unless it has lists (or null) as items: then these are alternatives."""
    if not node.is_list:
        raise node.problem(f"expected a list, found {node.describe()}", "put it in [ ]")
    if any(item.is_list or item.is_null for item in node.items):
        return _limited(
            node, (value for item in node.items for value in _alternatives(item, f"[{kind}]"))
        )
    return _limited(node, product(*(_single(item, kind) for item in node.items)))


def _combine(node: Node, fields: Mapping[str, Alternatives]) -> Alternatives:
    """Every combination of the fields' alternatives; the last field changes fastest."""
    combinations = (
        MappingProxyType(
            {key: value for key, value in zip(fields, values, strict=True) if value is not None}
        )
        for values in product(*fields.values())
    )
    return _limited(node, combinations)


def _limited(node: Node, combinations: Iterable[Any]) -> Alternatives:
    values = tuple(islice(combinations, _MOST_ALTERNATIVES + 1))
    if len(values) > _MOST_ALTERNATIVES:
        raise node.problem(f"more than {_MOST_ALTERNATIVES} combinations")
    return values


def _enum_value(node: Node, kind: str) -> str:
    word = str(node.value) if node.is_scalar else ""
    if word not in ENUMS[kind]:
        raise node.problem(
            f"expected a {kind}, found {node.describe()}", did_you_mean(word, ENUMS[kind])
        )
    return word


# Parameters of the load that can be an axis.
LOAD_AXES = ("batch_size", "concurrency_range", "request_rate_range", "request_intervals")


class AxisMetric:
    """A metric, or a parameter of the load."""

    metavar = "METRIC"

    def parse(self, node: Node) -> str:
        word = Text().parse(node)
        words = (*METRICS, *ALIASES, *LOAD_AXES)
        if word not in words:
            raise node.problem(f"unknown metric {word!r}", did_you_mean(word, words))
        return canonical(word)

    def schema(self) -> Schema:
        return {"enum": [*METRICS, *ALIASES, *LOAD_AXES]}


_REQUIRED: Mapping[str, Kind] = {"title": Text(), "x_axis": AxisMetric(), "y_axis": AxisMetric()}
_PLOT = Fields("fields of a plot", {**_REQUIRED, "monotonic": Boolean()})


class Plots:
    """`{NAME: {title, x_axis, y_axis, monotonic}}`, or a list of such mappings."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> tuple[PlotSettings, ...]:
        plots = {plot.name: plot for plot in read_all(_entries(node), self._plot)}
        return tuple(plots.values())

    @staticmethod
    def _plot(entry: Entry) -> PlotSettings:
        if not re.search(NAME, entry.key):
            raise entry.problem(f"{entry.key!r} is not a file name")
        fields = _PLOT.parse(entry.node)
        missing = [name for name in _REQUIRED if name not in fields]
        if missing:
            raise entry.node.problem(f"plot {entry.key!r} has no {missing[0]}")
        return PlotSettings(
            name=entry.key,
            title=fields["title"],
            x_axis=fields["x_axis"],
            y_axis=fields["y_axis"],
            monotonic=fields.get("monotonic", False),
        )

    def schema(self) -> Schema:
        required = {name: kind.schema() for name, kind in _REQUIRED.items()}
        switch = any_of(Boolean().schema(), NULL)
        plot = closed({**required, "monotonic": switch}, required=list(required))
        plots = mapping(plot, names=NAME)
        return any_of(plots, array(plots))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedVariant:
    """A variant to report. `plots` are its own plots; None means the global ones."""

    name: str
    plots: tuple[PlotSettings, ...] | None


class ReportedVariants:
    """Names of variants: text with commas, a list, `{name: {plots: …}}`, or a list of these."""

    metavar = "VARIANTS"

    def parse(self, node: Node) -> tuple[ReportedVariant, ...]:
        parts = [node] if node.is_mapping else ListOf.split(node)
        groups = read_all(parts, self._variants)
        variants = {variant.name: variant for group in groups for variant in group}
        if not variants:
            raise node.problem("contains no variant name")
        return tuple(variants.values())

    @staticmethod
    def _variants(node: Node) -> Sequence[ReportedVariant]:
        if not node.is_mapping:
            return [ReportedVariant(name=Text().parse(node).strip(), plots=None)]
        if not node.entries:
            raise node.problem("contains no variant name")
        options = read_mapping(
            node, "", lambda entry: {} if entry.node.is_null else _VARIANT.parse(entry.node)
        )
        return [ReportedVariant(name=name, plots=own.get("plots")) for name, own in options.items()]

    def schema(self) -> Schema:
        variants = {**mapping(any_of(_VARIANT.schema(), NULL)), "minProperties": 1}
        return any_of(SCALAR, variants, array(any_of(SCALAR, variants), minItems=1))


_VARIANT = Fields("options of a reported variant", {"plots": Plots()})


def _entries(node: Node) -> Sequence[Entry]:
    """The entries of a mapping, or of all mappings in a list."""
    if node.is_mapping:
        return node.entries
    if not node.is_list or not all(item.is_mapping for item in node.items):
        raise node.problem(f"expected a mapping of plots, found {node.describe()}")
    return [entry for item in node.items for entry in item.entries]


GENAI_PERF = Flags(
    "genai-perf",
    (*GENAI_PERF_FLAGS, *GENAI_PERF_FURTHER_FLAGS),
    repeatable=GENAI_PERF_REPEATABLE,
    underscores=False,
    may_have_others=True,
)
PERF_ANALYZER = Flags(
    "perf_analyzer",
    PERF_ANALYZER_FLAGS,
    repeatable=PERF_ANALYZER_REPEATABLE,
    words=PERF_ANALYZER_WORDS,
    values=PERF_ANALYZER_VALUES,
    letters=PERF_ANALYZER_LETTERS,
    underscores=False,
    may_have_others=True,
)
TRITON_SERVER = Flags(
    "tritonserver",
    TRITON_SERVER_FLAGS,
    repeatable=TRITON_SERVER_REPEATABLE,
    words=TRITON_SERVER_WORDS,
    values=TRITON_SERVER_VALUES,
    underscores=True,
    may_have_others=True,
)

# -- the container in launch mode docker -----------------------------------------------------------

_TEXTS = (
    "cgroup_parent", "cgroupns", "cpuset_cpus", "cpuset_mems", "domainname", "entrypoint",
    "hostname", "init_path", "ipc_mode", "isolation", "kernel_memory", "mac_address",
    "mem_limit", "mem_reservation", "memswap_limit", "name", "network", "network_mode",
    "pid_mode", "platform", "runtime", "shm_size", "stop_signal", "user", "userns_mode",
    "uts_mode", "version", "volume_driver", "working_dir", "image", "command",
)  # fmt: skip
_SWITCHES = (
    "auto_remove", "detach", "init", "network_disabled", "oom_kill_disable", "privileged",
    "publish_all_ports", "remove", "stdin_open", "stdout", "stderr", "stream", "tty",
    "use_config_proxy",
)  # fmt: skip
_NUMBERS = (
    "blkio_weight", "cpu_count", "cpu_percent", "cpu_period", "cpu_quota", "cpu_rt_period",
    "cpu_shares", "nano_cpus", "oom_score_adj", "pids_limit",
)  # fmt: skip
_LISTS = ("blkio_weight_device", "cap_add", "cap_drop", "environment", "labels", "volumes")

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(_TEXTS, Text()),
    **dict.fromkeys(_SWITCHES, Boolean()),
    **dict.fromkeys(_NUMBERS, Integer()),
    **dict.fromkeys(_LISTS, ListOf(Text(), "TEXTS", whole_items=True)),
}

DOCKER_ARGUMENTS = Fields("arguments of a container", _KINDS)


class Mount:
    """HOST:CONTAINER:MODE, with mode ro or rw."""

    metavar = "HOST:CONTAINER:MODE"
    pattern = r"[^:,\s][^:,]*:[^:,\s][^:,]*:r[ow]"

    def parse(self, node: Node) -> str:
        written = Text().parse(node).strip()
        if not re.search(whole(self.pattern), written):
            raise node.problem(
                f"expected HOST:CONTAINER:ro or HOST:CONTAINER:rw, found {written!r}"
            )
        return written

    def schema(self) -> Schema:
        return text(self.pattern)


# -- options of a model ----------------------------------------------------------------------------

# `parameters` of a model.
PARAMETER_OPTIONS: Sequence[Option] = in_group(
    MODELS,
    Option("batch_sizes", Integers(1), help="Batch sizes of client requests."),
    Option(
        "concurrency", Integers(1),
        help="Concurrencies (requests in flight) to measure. Searched if not given.",
    ),
    Option(
        "request_rate", Integers(1, MOST_RATE),
        help="Request rates to measure, in requests per second, instead of concurrencies.",
    ),
)  # fmt: skip


class Parameters:
    """`parameters` of a model: its loads and client batch sizes."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> Given:
        if not node.is_mapping:
            raise node.problem(f"expected a mapping, found {node.describe()}")
        problems = Problems()
        given = read(node.entries, PARAMETER_OPTIONS, problems)
        problems.raise_any()
        return given

    def schema(self) -> Schema:
        return schema(PARAMETER_OPTIONS)


def _own(key: str, kind: Kind) -> Option:
    """An option of the run that a model may have itself, too."""
    return Option(key, kind, help=f"Overrides the global {key}.")


# Options of one model. A value given here replaces the whole global value.
MODEL_OPTIONS: Sequence[Option] = (
    *in_group(
        MODELS,
        Option("cpu_only", Boolean(), default=False, help="Search with CPU instances."),
        Option("parameters", Parameters(), help="Batch sizes and loads of the client."),
        _own("load", OpenLoad()),
    ),
    *in_group(
        GOALS,
        _own("objectives", Objectives()),
        _own("constraints", Constraints()),
        Option(
            "latency_budget", Number(0, above=True),
            help="Overrides the global latency_budget: maximum p99 latency, in ms.",
        ),
        Option(
            "weighting", Number(0, above=True), default=1.0,
            help="Weight relative to the models profiled with this one.",
        ),
    ),
    *in_group(
        SEARCH,
        Option(
            "search", OneOf(SearchMode), alias_of="run_config_search_mode",
            help="Overrides the global search mode.",
        ),
        Option(
            "run_config_search_mode", OneOf(SearchMode),
            help="The same as search: its name in Triton Model Analyzer.",
        ),
        Option(
            "model_config_parameters", ModelConfigParameters(), default={},
            help="Fields of the model configuration, with the values to try. All combinations of"
            " listed values are tried.",
        ),
    ),
    *in_group(
        LOAD_GENERATOR,
        _own("measurement", OneOf(MeasurementMode)),
        _own("response_cache", OneOf(ResponseCache)),
        _own("perf_analyzer_flags", PERF_ANALYZER),
        _own("genai_perf_flags", GENAI_PERF),
    ),
    *in_group(
        SERVER,
        _own("triton_docker_args", DOCKER_ARGUMENTS),
        _own("triton_server_flags", TRITON_SERVER),
        _own("triton_server_environment", Environment()),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One model as the user wrote it. `earlier` is the place of an earlier entry with the same
    name, or "".
    """

    name: str
    where: str
    given: Given
    earlier: str = ""


@dataclass(frozen=True, slots=True)
class ModelNames:
    """Model names: text with commas, a list, `{name: options}`, or a list that mixes these."""

    may_be_none: bool = False
    metavar: ClassVar[str] = "MODELS"

    def parse(self, node: Node) -> tuple[ModelEntry, ...]:
        models: dict[str, ModelEntry] = {}
        parts = [node] if node.is_mapping else ListOf.split(node)
        for model in chain.from_iterable(read_all(parts, self._models)):
            earlier = models[model.name].where if model.name in models else ""
            models[model.name] = replace(model, earlier=earlier)
        if not models and not self.may_be_none:
            raise node.problem("contains no model name")
        return tuple(models.values())

    def _models(self, node: Node) -> Sequence[ModelEntry]:
        if not node.is_mapping:
            name = Text().parse(node).strip()
            return [self._model(Entry(name, node.where, Node(None, node.where)))]
        return read_all(node.entries, self._model)

    @staticmethod
    def _model(entry: Entry) -> ModelEntry:
        if not re.search(NAME, entry.key):
            raise entry.problem(f"{entry.key!r} is not a valid model name")
        if entry.node.is_null:
            return ModelEntry(name=entry.key, where=entry.where, given=Given())
        problems = Problems()
        with problems.collect():
            if not entry.node.is_mapping:
                raise entry.node.problem(
                    f"expected the options of model {entry.key!r}, found {entry.node.describe()}"
                )
            given = read(entry.node.entries, MODEL_OPTIONS, problems)
        if problems and any(entry.key == option.key for option in MODEL_OPTIONS):
            raise entry.problem(
                f"{entry.key} is an option, and stands where a model does",
                "indent it further than the name of its model",
            )
        problems.raise_any()
        return ModelEntry(name=entry.key, where=entry.where, given=given)

    def schema(self) -> Schema:
        names: Schema = {"$ref": "#/$defs/models"}
        return any_of(names, {"enum": [[], {}]}) if self.may_be_none else names


def definitions() -> Mapping[str, Schema]:
    """The definitions that the schema of `ModelNames` refers to."""
    names = with_commas(r"(?!\.{1,2}\s*(?:,|$))[^,/\u0000-\u001f]*[^,/\s\u0000-\u001f]")
    name = any_of({"type": ["number", "boolean"]}, names)
    by_name = {**mapping(any_of({"$ref": "#/$defs/model"}, NULL), names=NAME), "minProperties": 1}
    return {
        "models": any_of(name, by_name, array(any_of(name, by_name), minItems=1)),
        "model": schema(MODEL_OPTIONS),
    }
