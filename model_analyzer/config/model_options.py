# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile_models`: its forms, and the options of each model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from model_analyzer.config.docker_options import DOCKER_ARGUMENTS
from model_analyzer.config.flag_values import PERF_ANALYZER_VALUES, TRITON_SERVER_VALUES
from model_analyzer.config.fragments import NAME, NULL, Schema, any_of, array, mapping, with_commas
from model_analyzer.config.goal_kinds import Constraints, Objectives
from model_analyzer.config.kinds import (
    Boolean,
    Environment,
    Flags,
    Integers,
    ListOf,
    Number,
    OneOf,
    Text,
)
from model_analyzer.config.nodes import Entry, Node, Problems
from model_analyzer.config.sweeps import ModelConfigParameters
from model_analyzer.config.table import (
    GOALS,
    LOAD_GENERATOR,
    MODELS,
    SEARCH,
    SERVER,
    Given,
    Option,
    read,
    schema,
)
from model_analyzer.config.traffic_options import OpenLoad
from model_analyzer.domain.flags import (
    GENAI_PERF_FLAGS,
    GENAI_PERF_FURTHER_FLAGS,
    GENAI_PERF_REPEATABLE,
    PERF_ANALYZER_FLAGS,
    PERF_ANALYZER_REPEATABLE,
    PERF_ANALYZER_WORDS,
    TRITON_SERVER_FLAGS,
    TRITON_SERVER_REPEATABLE,
    TRITON_SERVER_WORDS,
)
from model_analyzer.domain.ranges import MOST_RATE
from model_analyzer.domain.settings import MeasurementMode, ResponseCache, SearchMode

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

# `parameters` of a model.
PARAMETER_OPTIONS: Sequence[Option] = (
    Option(
        key="batch_sizes", kind=Integers(1), group=MODELS,
        help="Batch sizes of client requests.",
    ),
    Option(
        key="concurrency", kind=Integers(1), group=MODELS,
        help="Concurrencies (requests in flight) to measure. Searched if not given.",
    ),
    Option(
        key="request_rate", kind=Integers(1, MOST_RATE), group=MODELS,
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


# Options of one model. A value given here replaces the whole global value.
MODEL_OPTIONS: Sequence[Option] = (
    Option(
        key="cpu_only", kind=Boolean(), default=False, group=MODELS,
        help="Search with CPU instances.",
    ),
    Option(
        key="parameters", kind=Parameters(), group=MODELS,
        help="Batch sizes and loads of the client.",
    ),
    Option(key="load", kind=OpenLoad(), group=MODELS, help="Overrides the global load."),
    Option(key="objectives", kind=Objectives(), group=GOALS,
        help="Overrides the global objectives."),
    Option(key="constraints", kind=Constraints(), group=GOALS,
        help="Overrides the global constraints."),
    Option(
        key="latency_budget", kind=Number(0, above=True), group=GOALS,
        help="Overrides the global latency_budget: maximum p99 latency, in ms.",
    ),
    Option(
        key="weighting", kind=Number(0, above=True), default=1.0, group=GOALS,
        help="Weight relative to the models profiled with this one.",
    ),
    Option(
        key="search", kind=OneOf(SearchMode), group=SEARCH, alias_of="run_config_search_mode",
        help="Overrides the global search mode.",
    ),
    Option(
        key="run_config_search_mode", kind=OneOf(SearchMode), group=SEARCH,
        help="The same as search: its name in Triton Model Analyzer.",
    ),
    Option(
        key="model_config_parameters", kind=ModelConfigParameters(), default={}, group=SEARCH,
        help="Fields of the model configuration, with the values to try. All combinations of listed"
        " values are tried.",
    ),
    Option(
        key="measurement", kind=OneOf(MeasurementMode), group=LOAD_GENERATOR,
        help="Overrides the global measurement.",
    ),
    Option(
        key="response_cache", kind=OneOf(ResponseCache), group=LOAD_GENERATOR,
        help="Overrides the global response_cache.",
    ),
    Option(
        key="perf_analyzer_flags", kind=PERF_ANALYZER, group=LOAD_GENERATOR,
        help="Overrides the global perf_analyzer_flags.",
    ),
    Option(
        key="genai_perf_flags", kind=GENAI_PERF, group=LOAD_GENERATOR,
        help="Overrides the global genai_perf_flags.",
    ),
    Option(
        key="triton_docker_args", kind=DOCKER_ARGUMENTS, group=SERVER,
        help="Overrides the global triton_docker_args.",
    ),
    Option(
        key="triton_server_flags", kind=TRITON_SERVER, group=SERVER,
        help="Overrides the global triton_server_flags.",
    ),
    Option(
        key="triton_server_environment", kind=Environment(), group=SERVER,
        help="Overrides the global triton_server_environment.",
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


class ModelNames:
    """Model names: text with commas, a list, `{name: options}`, or a list that mixes these."""

    metavar = "MODELS"

    def parse(self, node: Node) -> tuple[ModelEntry, ...]:
        problems = Problems()
        models: dict[str, ModelEntry] = {}
        for part in [node] if node.is_mapping else ListOf.split(node):
            with problems.collect():
                for model in self._models(part):
                    earlier = models[model.name].where if model.name in models else ""
                    models[model.name] = replace(model, earlier=earlier)
        problems.raise_any()
        if not models:
            raise node.problem("contains no model name")
        return tuple(models.values())

    def _models(self, node: Node) -> Sequence[ModelEntry]:
        if not node.is_mapping:
            name = Text().parse(node).strip()
            return [self._model(Entry(name, node.where, Node(None, node.where)))]
        if not node.entries:
            raise node.problem("contains no model name")
        problems = Problems()
        models = []
        for entry in node.entries:
            with problems.collect():
                models.append(self._model(entry))
        problems.raise_any()
        return models

    @staticmethod
    def _model(entry: Entry) -> ModelEntry:
        if not re.search(NAME, entry.key):
            raise Node(entry.key, entry.where).problem(f"{entry.key!r} is not a valid model name")
        if entry.node.is_null:
            return ModelEntry(name=entry.key, where=entry.where, given=Given())
        if not entry.node.is_mapping:
            raise entry.node.problem(
                f"expected the options of model {entry.key!r}, found {entry.node.describe()}"
            )
        problems = Problems()
        given = read(entry.node.entries, MODEL_OPTIONS, problems)
        problems.raise_any()
        return ModelEntry(name=entry.key, where=entry.where, given=given)

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/models"}


def definitions() -> Mapping[str, Schema]:
    """The definitions that the schema of `ModelNames` refers to."""
    names = with_commas(r"(?!\.{1,2}\s*(?:,|$))[^,/\u0000-\u001f]*[^,/\s\u0000-\u001f]")
    name = any_of({"type": ["number", "boolean"]}, names)
    by_name = {**mapping(any_of({"$ref": "#/$defs/model"}, NULL), names=NAME), "minProperties": 1}
    return {
        "models": any_of(name, by_name, array(any_of(name, by_name), minItems=1)),
        "model": schema(MODEL_OPTIONS),
    }
