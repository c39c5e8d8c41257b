# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Right checksums, wrong content: used, or left out and named by every command alike."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from msgspec import UNSET, Struct, UnsetType

from model_analyzer.domain.trials import LoadKind
from model_analyzer.state.checkpoint import load, read_file
from model_analyzer.state.find import verify
from model_analyzer.state.format import schema
from model_analyzer.state.format.schema import Malformed, checked
from tests.sizes import costly
from tests.unit.state.hostile_checkpoints import (
    CHECKPOINTS,
    GOLDEN,
    OURS,
    UPSTREAM,
    UPSTREAM_CHECKPOINTS,
    Example,
    check_checkpoint,
    content_of,
    tree_of,
)

CORPUS = (GOLDEN / "hostile" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", CORPUS, ids=range(len(CORPUS)))
def test_every_earlier_failure_is_used_or_reported(line: str) -> None:
    check_checkpoint(json.loads(line))


@pytest.mark.parametrize("sample", [*OURS, *UPSTREAM])
def test_samples_without_changes_are_intact(sample: str, tmp_path: Path) -> None:
    path = tmp_path / Path(sample).name
    path.write_bytes(content_of({"sample": sample, "changes": []}))

    assert verify(path).damage == ""


@costly(3)
@given(CHECKPOINTS)
def test_any_change_is_used_or_named(example: Example) -> None:
    check_checkpoint(example)


@costly(3)
@given(UPSTREAM_CHECKPOINTS)
def test_any_change_of_an_upstream_checkpoint_is_used_or_reported(example: Example) -> None:
    check_checkpoint(example)


def outcomes_of(tree: list[Any]) -> list[int]:
    return [place for place, entry in enumerate(tree) if entry["entry"] == "measurement"]


@pytest.mark.parametrize(
    ("at", "to", "message"),
    [
        (["models", 0, "requests"], "many", "models[0].requests: expected a whole number from 0"),
        (["models", 0, "windows", 1], -1.0, "models[0].windows[1]: expected a number from 0"),
        (["gpus", "GPU-aaaa", "gpu_power_usage"], True, "gpus.GPU-aaaa.gpu_power_usage: expected"),
        (["notices"], [["strange", "x"]], "notices[0]: expected one of unstable"),
        (["workloads", 0, "batch_size"], 0, "workloads[0].batch_size: expected a whole number"),
        (["workloads", 0, "kind"], "fast", "workloads[0].kind: expected one of concurrency"),
        (["statistics", "m", "batches", 0], [1], "statistics.m.batches[0]: expected a list of 3"),
    ],
)
def test_only_the_invalid_outcome_is_left_out(
    tmp_path: Path, at: list[Any], to: Any, message: str
) -> None:
    sample = "checkpoints/format3/0.ckpt"
    place = outcomes_of(tree_of(sample))[0]
    change = {"at": [place, *at], "to": to}
    path = tmp_path / "0.ckpt"
    path.write_bytes(content_of({"sample": sample, "changes": [change], "bare": True}))
    intact = read_file(GOLDEN / sample)

    loaded, verdict = load(tmp_path), verify(path)

    assert len(loaded.records) == len(intact.records) - 1
    (damage,) = loaded.damage
    assert f"line {place + 1}: an unusable measurement entry ({message}" in damage
    assert verdict.damage in damage
    assert verdict.loss.endswith(f": an outcome of m_config_default (line {place + 1})")


def test_only_the_invalid_outcome_of_upstream_is_left_out(tmp_path: Path) -> None:
    sample = "upstream/plain.ckpt"
    results = tree_of(sample)["ResultManager.results"]["_results"]
    model = next(iter(results))
    variant = next(iter(results[model]))
    key = next(iter(results[model][variant][1]))
    at = ["ResultManager.results", "_results", model, variant, 1, key,
          "_model_config_measurements", 0, "_non_gpu_data", 0, 1, "_value"]  # fmt: skip
    path = tmp_path / "0.ckpt"
    path.write_bytes(content_of({"sample": sample, "changes": [{"at": at, "to": 1e300}]}))
    number = len(read_file(GOLDEN / sample).records)

    loaded, verdict = load(tmp_path), verify(path)

    assert len(loaded.records) == number - 1
    assert "expected a number from" in verdict.damage
    assert verdict.damage in loaded.damage[0]
    assert verdict.loss.endswith(f": an outcome of {variant}")


def test_every_command_reports_left_out_entries_like_verify(tmp_path: Path) -> None:
    change = {"at": [outcomes_of(tree_of(OURS[0]))[0], "started"], "to": "now"}
    (tmp_path / "0.ckpt").write_bytes(
        content_of({"sample": OURS[0], "changes": [change], "bare": True})
    )
    damage = verify(tmp_path / "0.ckpt").damage
    for command in (["checkpoint", "verify"], ["checkpoint", "list"], ["checkpoint", "best"]):
        process = subprocess.run(
            [sys.executable, "-m", "model_analyzer", *command, "-s", str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        message = " ".join((process.stdout + process.stderr).split())
        assert damage in message, (command, message)


class Sample(Struct):
    """An entry with each kind of field."""

    a: list[schema.Niceness]
    b: schema.Name = "x"
    c: dict[schema.Node, tuple[str, schema.Amount]] = {}
    d: schema.Count | UnsetType = UNSET
    e: Any = None
    f: schema.Flags = {}
    g: LoadKind = LoadKind.CONCURRENCY
    h: schema.Contents | None = None


def test_an_entry_has_its_fields_and_defaults() -> None:
    sample = checked(Sample, {"a": [1, 2], "z": None, "c": {"n": ["x", 2]}, "g": "request_rate"})

    assert (sample.a, sample.b, sample.c) == ([1, 2], "x", {"n": ("x", 2)})
    assert (sample.d, sample.g) == (UNSET, LoadKind.REQUEST_RATE)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1, 40]}, "a[1]: expected a whole number from -20 to 19, found 40"),
        ({"a": [True]}, "a[0]: expected a whole number from -20 to 19, found True"),
        ({"b": "x"}, "a: expected a list, found nothing"),
        ({"a": [], "b": ""}, "b: expected a text of 1 to 1000 characters, found ''"),
        ({"a": [], "b": "\ud800"}, "b: expected a text of 1 to 1000 characters, found '\\ud800'"),
        ({"a": [], "c": {"n": ["x"]}}, "c.n: expected a list of 2, found ['x']"),
        ({"a": [], "c": {"n": ["x", -1]}}, "c.n: expected a number from 0 to 1e+15, found -1"),
        ({"a": [], "c": {"n/": ["x", 1]}}, "c: expected the name of a node, found 'n/'"),
        ({"a": [], "d": None}, "d: expected a whole number from 0 to 9223372036854775807, found N"),
        ({"a": [], "f": {"x": {}}}, "f.x: expected a text, a number from -1e+15 to 1e+15, true or"),
        ({"a": [], "f": {"x": ["y", []]}}, "f.x[1]: expected a text, a number from"),
        ({"a": [], "g": "fast"}, "g: expected one of concurrency, request_rate, request_intervals"),
        ({"a": [], "h": {}}, "h.outcomes: expected a text, found nothing"),
        ({"a": [], "h": 7}, "h: expected an object, found 7"),
        ([], "expected an object, found []"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(value: Any, message: str) -> None:
    with pytest.raises(Malformed) as raised:
        checked(Sample, value)

    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (schema.Values, {"a": float("nan")}), (schema.Values, {"a": float("inf")}),
        (schema.Values, {"a": 10**30}), (schema.Values, {"a": 1e300, "b": -1e300}),
        (schema.Values, {"a": None}), (schema.Values, []), (schema.Amount, -1),
        (schema.Amount, "2"), (schema.Amount, True), (schema.Flags, {"a": {}}),
        (schema.Flags, {"a": [[]]}), (schema.Flags, {"a": float("inf")}), (schema.Node, "../x"),
        (schema.Node, "a\0"), (schema.Name, "x" * 1001), (schema.Seconds, 1e300),
        (schema.Count, 2**63), (schema.Count, 1.0),
    ],
)  # fmt: skip
def test_kinds_of_values_refuse(kind: Any, value: Any) -> None:
    with pytest.raises(Malformed):
        checked(kind, value)


def test_whole_numbers_stay_whole() -> None:
    values = checked(schema.Values, {"a": 1, "b": 1.0})

    assert list(map(type, values.values())) == [int, float]
