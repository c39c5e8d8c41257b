# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever somebody writes: it resolves, or every problem with it is told."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from model_analyzer.config.model_config_fields import MESSAGES
from model_analyzer.config.model_options import MODEL_OPTIONS, PARAMETER_OPTIONS
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.resolve import resolve_profile, resolve_report
from model_analyzer.domain.flags import PERF_ANALYZER_FLAGS, TRITON_SERVER_FLAGS
from model_analyzer.domain.metrics import METRICS
from model_analyzer.errors import ConfigError
from tests.unit.builders import CWD

bounded = settings(max_examples=250, deadline=None, derandomize=True, database=None)

ODD = (
    None, True, False, 0, 1, -1, 2.5, 10**30, float("nan"), float("inf"), 1e308,
    "", " ", ",", ":", "1,2,4", "1:8", "1:8:2", "8:1", "a:b", "false", "no", "0", "\0",
    "~", "~nobody-here/x", "a,b", "a/b", "..", "http://h:80/x", "h:80", "h:99999",
    "grpc", "KIND_GPU", "perf_throughput", "9" * 50,
)  # fmt: skip
SCALARS = st.one_of(
    st.sampled_from(ODD), st.integers(-10, 10_000), st.text(string.printable, max_size=8)
)
KEYS = st.one_of(
    *(
        st.sampled_from(sorted(words))
        for words in (
            {option.key for option in (*OPTIONS, *MODEL_OPTIONS, *PARAMETER_OPTIONS)},
            {field for fields in MESSAGES.values() for field in fields},
            {*METRICS, "perf_latency", "min", "max", "start", "stop", "step"},
            {*PERF_ANALYZER_FLAGS, *TRITON_SERVER_FLAGS},
        )
    ),
    st.text(string.printable, max_size=5),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(st.tuples(KEYS, inner), max_size=4).map(dict)
    ),
    max_leaves=12,
)

# Values that fit, so that the search for trouble gets past the first check.
FITTING: dict[str, st.SearchStrategy[Any]] = {
    "model_repository": st.just("models"),
    "profile_models": st.one_of(
        st.sampled_from(["m", "a,b", ["a", {"b": {}}]]),
        st.dictionaries(
            st.sampled_from("abc"),
            st.dictionaries(st.sampled_from([option.key for option in MODEL_OPTIONS]), TREES),
            min_size=1,
            max_size=2,
        ),
    ),
    "batch_sizes": st.sampled_from([1, [1, 2], "1:4", {"start": 1, "stop": 8, "step": 2}]),
    "concurrency": st.sampled_from([4, [], [8, 2], "1,2"]),
    "objectives": st.sampled_from(["perf_throughput", {"gpu_used_memory": 3}, []]),
    "constraints": st.sampled_from([{}, {"perf_latency_p99": {"max": 3}}]),
    "latency_budget": st.sampled_from([3, 0.5, "9"]),
    "run_config_search_min_concurrency": st.integers(1, 2000),
    "run_config_search_disable": st.booleans(),
    "perf_analyzer_flags": st.sampled_from([{}, {"percentile": 95}, {"concurrency-range": "2:4"}]),
    "triton_http_endpoint": st.sampled_from(["localhost:8000", "localhost:8001"]),
    "triton_grpc_endpoint": st.sampled_from(["localhost:8001"]),
    "report_model_configs": st.sampled_from(["m_config_0", ["a", "b"]]),
}


def node(value: Any, where: str = "f.yaml:1:1") -> Node:
    """The node of plain data."""
    if isinstance(value, dict):
        entries = tuple(Entry(str(key), where, node(item, where)) for key, item in value.items())
        return Node(entries, where, is_mapping=True)
    if isinstance(value, list):
        return Node(tuple(node(item, where) for item in value), where)
    return Node(value, where)


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, Any]:
    """Options of which most fit."""
    chosen = draw(st.sets(st.sampled_from([*FITTING]), max_size=6))
    options = {key: draw(FITTING[key]) for key in ("model_repository", "profile_models")}
    options |= {key: draw(FITTING[key]) for key in sorted(chosen)}
    if draw(st.booleans()):
        options |= draw(st.dictionaries(KEYS, TREES, max_size=3))
    return options


def assert_that_problems_are_told(error: ConfigError) -> None:
    assert error.problems
    for problem in error.problems:
        assert problem.what.strip()
        assert len(str(problem).splitlines()) == 1


@bounded
@given(configurations())
def test_a_configuration_resolves_or_all_its_problems_are_told(options: dict[str, Any]) -> None:
    for resolve in (resolve_profile, resolve_report):
        try:
            result = resolve([], node(options), CWD)
        except ConfigError as error:
            assert_that_problems_are_told(error)
        else:
            assert resolve([], node(options), CWD) == result


@bounded
@given(TREES)
def test_a_file_of_anything_resolves_or_all_its_problems_are_told(tree: Any) -> None:
    try:
        resolve_profile([], node(tree), CWD)
    except ConfigError as error:
        assert_that_problems_are_told(error)


@bounded
@given(st.sampled_from([option.key for option in OPTIONS if option.flags]), SCALARS)
def test_a_flag_with_any_text_resolves_or_all_its_problems_are_told(key: str, value: Any) -> None:
    entries = [
        Entry("profile_models", "--profile-models", node("m")),
        Entry("model_repository", "-m", node("models")),
        Entry(key, "--flag", Node(str(value), "--flag")),
    ]
    try:
        resolve_profile(entries, None, CWD)
    except ConfigError as error:
        assert_that_problems_are_told(error)
