# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is told about nodes that are equal, and about nodes that differ."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.features.cluster.command import lines_of
from model_analyzer.features.cluster.node_comparison import (
    INSTALLED_BY_RUN,
    Clock,
    ExaminedNode,
    NodeComparison,
    NodeReport,
    Row,
    compare_nodes,
    document_of,
)
from model_analyzer.features.doctor.findings import Level, ok, problem, warning

REPORT = NodeReport(
    analyzer="0.1.0",
    python="3.11.7",
    ray="2.60.0",
    server="2.51.0",
    perf_analyzer="2.51.0",
    gpus=("H100", "H100"),
    gpu_driver="550.1",
    processor="EPYC",
    cores=64,
    governor="performance",
    memory_gib=256.0,
    niceness=0,
    threads="",
    free_gib=100.0,
    repository=None,
    models={"add_sub": "0123456789abcdef"},
    findings=(("Machine", ok("load", "idle")),),
)


def node(name: str, offset_ms: float = 1.0, **changes: Any) -> ExaminedNode:
    clock = Clock(offset_ms=offset_ms, half_round_trip_ms=0.5)
    return ExaminedNode(name=name, slots=1, clock=clock, report=replace(REPORT, **changes))


def compared(**changes: Any) -> NodeComparison:
    """Two nodes, of which the second has these changes."""
    return compare_nodes([node("a"), node("b", **changes)], [])


def row(comparison: NodeComparison, name: str) -> Row:
    return next(row for row in comparison.rows if row.name == name)


def test_equal_nodes_have_nothing_to_change() -> None:
    comparison = compared()

    assert comparison.can_start
    assert {row.level for row in comparison.rows} == {Level.OK}
    assert not any(row.fix for row in comparison.rows)
    assert row(comparison, "GPUs").values == {"2 x H100": ("a", "b")}
    assert row(comparison, "clock").values == {"+1.0 ± 0.5 ms": ("a", "b")}
    assert comparison.findings == ()


@pytest.mark.parametrize(
    ("name", "changes", "level"),
    [
        ("model-analyzer", {"analyzer": "0.2.0"}, Level.PROBLEM),
        ("Python", {"python": "3.12.1"}, Level.PROBLEM),
        ("Ray", {"ray": "2.59.0"}, Level.PROBLEM),
        ("tritonserver", {"server": "2.50.0"}, Level.PROBLEM),
        ("perf_analyzer", {"perf_analyzer": "2.50.0"}, Level.PROBLEM),
        ("model add_sub", {"models": {"add_sub": "fedcba9876543210"}}, Level.PROBLEM),
        ("model add_sub", {"models": {"add_sub": ""}}, Level.PROBLEM),
        ("clock", {"offset_ms": -501.0}, Level.WARNING),
        ("GPU driver", {"gpu_driver": "560.2"}, Level.WARNING),
        ("processor", {"processor": "Xeon"}, Level.WARNING),
        ("cores", {"cores": 32}, Level.WARNING),
        ("CPU governor", {"governor": "powersave"}, Level.WARNING),
        ("memory", {"memory_gib": 128.0}, Level.WARNING),
        ("niceness", {"niceness": 15}, Level.WARNING),
        ("OMP_NUM_THREADS", {"threads": "1"}, Level.WARNING),
        ("free disk", {"free_gib": 0.1}, Level.WARNING),
    ],
)
def test_a_difference_is_marked_with_what_to_do(name: str, changes: Any, level: Level) -> None:
    comparison = compared(**changes)

    assert row(comparison, name).level is level
    assert row(comparison, name).fix
    assert [r.name for r in comparison.rows if r.level is not Level.OK] == [name]
    assert comparison.can_start == (level is not Level.PROBLEM)


@pytest.mark.parametrize(
    "changes", [{"memory_gib": 250.0}, {"free_gib": 3.0}, {"offset_ms": 500.4}]
)
def test_small_differences_are_fine(changes: Any) -> None:
    assert set(compared(**changes).levels) == {Level.OK}


def test_nodes_with_different_gpus_are_kinds_of_hardware_with_processors_of_their_own() -> None:
    comparison = compared(gpus=("L4",), processor="Xeon", cores=8, memory_gib=32.0)

    assert comparison.can_start
    assert set(comparison.levels) == {Level.OK}
    assert row(comparison, "GPUs").values == {"2 x H100": ("a",), "1 x L4": ("b",)}


@pytest.mark.parametrize("changes", [{"processor": "Xeon"}, {"cores": 32}])
def test_without_gpus_different_processors_are_a_problem(changes: Any) -> None:
    comparison = compare_nodes([node("a", gpus=()), node("b", gpus=(), **changes)], [])

    assert [row.name for row in comparison.rows if row.level is Level.PROBLEM] == [*changes]
    assert not comparison.can_start


@pytest.mark.parametrize("missing", ["server", "perf_analyzer"])
def test_a_program_that_all_nodes_lack_is_a_problem(missing: str) -> None:
    changes: dict[str, Any] = {missing: ""}

    comparison = compare_nodes([node("a", **changes), node("b", **changes)], [])

    [bad] = [row for row in comparison.rows if row.level is Level.PROBLEM]
    assert bad.values == {"missing": ("a", "b")}


def test_a_program_that_the_run_installs_is_compared_by_its_version() -> None:
    def level(missing: str, present: str) -> Level:
        both = [node("a", server=f"{missing} {INSTALLED_BY_RUN}"), node("b", server=present)]
        return row(compare_nodes(both, []), "tritonserver").level

    assert level("2.51.0", "2.51.0") is Level.OK
    assert level("2.51.0", "2.60.0") is Level.PROBLEM


@pytest.mark.parametrize(
    ("here", "there", "level"),
    [
        ("3 files, 1.0 MB", "3 files, 1.0 MB", Level.OK),
        ("3 files, 1.0 MB", "4 files, 1.0 MB", Level.PROBLEM),
        ("3 files, 1.0 MB", "", Level.PROBLEM),
        ("", "", Level.PROBLEM),
    ],
)
def test_a_store_of_models_must_be_visible_and_the_same(
    here: str, there: str, level: Level
) -> None:
    both = [node("a", repository=here), node("b", repository=there)]

    stored = row(compare_nodes(both, []), "model repository")

    assert stored.level is level
    assert set(stored.values) == {here or "not visible", there or "not visible"}


def test_niceness_is_bad_on_all_nodes_alike() -> None:
    comparison = compare_nodes([node("a", niceness=15), node("b", niceness=15)], [])

    assert row(comparison, "niceness").level is Level.WARNING


def test_a_node_that_does_not_answer_is_a_row() -> None:
    silent = ExaminedNode(name="b", slots=1, silence="no answer within 10 s")

    comparison = compare_nodes([node("a"), silent], [])

    assert row(comparison, "answer").values == {"no answer within 10 s": ("b",)}
    assert not comparison.can_start
    assert not compare_nodes([silent], []).can_start


def test_findings_of_several_nodes_are_told_once() -> None:
    full = ("Storage", problem("/dev/shm", "full", "free it"))
    busy = ("Machine", warning("load", "busy", "stop programs"))

    comparison = compare_nodes([node("a", findings=(full,)), node("b", findings=(full, busy))], [])

    assert comparison.findings == ((*full, ("a", "b")), (*busy, ("b",)))
    assert not comparison.can_start


def test_slots_that_do_not_fit_prevent_a_run() -> None:
    comparison = compare_nodes([node("a")], [("b", "has 0 CPUs")], "only 1 of 2 slots fit")

    assert not comparison.can_start
    assert document_of(comparison)["problem"] == "only 1 of 2 slots fit"
    assert document_of(comparison)["without_slots"] == [{"node": "b", "reason": "has 0 CPUs"}]


def test_the_document_has_each_value_with_its_nodes() -> None:
    document = json.loads(json.dumps(document_of(compared(server="2.50.0"))))

    assert document["version"] == 1
    assert document["can_start"] is False
    [server] = [row for row in document["rows"] if row["name"] == "tritonserver"]
    assert server["level"] == "problem"
    assert server["values"] == [
        {"value": "2.51.0", "nodes": ["a"]},
        {"value": "2.50.0", "nodes": ["b"]},
    ]


def test_the_lines_name_the_nodes_and_what_to_do() -> None:
    comparison = compare_nodes([node("a"), node("b", niceness=15)], [("c", "has no label x")])

    lines = [*lines_of(comparison)]

    assert lines[0] == "2 slots on 2 nodes"
    assert "  no slot  c: has no label x" in lines
    [nice] = [index for index, line in enumerate(lines) if " niceness " in line]
    assert lines[nice].split() == ["warning", "niceness", "0", "a"]
    assert lines[nice + 1].split() == ["15", "b"]
    assert lines[nice + 2].strip().startswith("→ start Ray there")
    assert lines[-1] == "A run can start; 1 warning."


def test_quiet_lines_have_only_what_is_not_fine() -> None:
    assert [*lines_of(compared(), is_quiet=True)] == ["A run can start."]
    lines = [*lines_of(compared(server=""), is_quiet=True)]
    assert lines[0].split() == ["problem", "tritonserver", "2.51.0", "a"]
    assert lines[-1] == "1 problem: a run would not start."


def test_what_nodes_say_cannot_control_the_terminal() -> None:
    assert not any("\x1b" in line for line in lines_of(compared(processor="\x1b[2J")))
