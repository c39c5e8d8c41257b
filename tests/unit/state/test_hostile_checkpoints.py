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
from hypothesis import HealthCheck, given, settings

from model_analyzer.state.checkpoint import load, read_file
from model_analyzer.state.format.fields import (
    Field,
    Malformed,
    amounts,
    flags,
    integer,
    list_of,
    metrics,
    name,
    node,
    optional,
    record,
)
from model_analyzer.state.verify import verify
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
QUICK = settings(
    max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("line", CORPUS, ids=range(len(CORPUS)))
def test_every_earlier_failure_is_used_or_reported(line: str) -> None:
    check_checkpoint(json.loads(line))


@pytest.mark.parametrize("sample", [*OURS, *UPSTREAM])
def test_samples_without_changes_are_intact(sample: str, tmp_path: Path) -> None:
    path = tmp_path / Path(sample).name
    path.write_bytes(content_of({"sample": sample, "changes": []}))

    assert verify(path).damage == ""


@QUICK
@given(CHECKPOINTS)
def test_any_change_is_used_or_named(example: Example) -> None:
    check_checkpoint(example)


@QUICK
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


def test_only_the_invalid_outcome_of_upstream_is_left_out(
    tmp_path: Path,
) -> None:
    sample = "upstream/plain.ckpt"
    tree = tree_of(sample)
    results = tree["ResultManager.results"]["_results"]
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


def test_fields_say_what_is_wrong_and_where() -> None:
    field: Field[dict[str, Any]] = record(dict, a=list_of(integer(1, 3)), b=optional(name, "x"))

    assert field({"a": [1, 2], "c": None}) == {"a": (1, 2), "b": "x"}
    for value, message in (
        ({"a": [1, 4]}, "a[1]: expected a whole number from 1 to 3, found 4"),
        ({"a": [True]}, "a[0]: expected a whole number from 1 to 3, found True"),
        ({"b": "x"}, "a: expected a list, found nothing"),
        ({"a": [], "b": ""}, "b: expected a text of 1 to 1000 characters, found ''"),
        ([], "expected an object, found []"),
    ):
        with pytest.raises(Malformed) as raised:
            field(value)
        assert str(raised.value) == message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (metrics, {"a": float("nan")}), (metrics, {"a": float("inf")}), (metrics, {"a": 10**30}),
        (metrics, {"a": 1e300, "b": -1e300}), (metrics, {"a": None}), (metrics, []),
        (amounts, [-1]), (amounts, [1, "2"]), (flags, {"a": {}}), (flags, {"a": [[]]}),
        (node, "../x"), (node, "a\0"), (name, "x" * 1001),
    ],
)  # fmt: skip
def test_fields_refuse(field: Any, value: Any) -> None:
    with pytest.raises(Malformed):
        field(value)
