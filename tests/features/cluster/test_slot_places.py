# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where slots go, and what they reserve there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.settings import ExecutorSettings
from model_analyzer.features.cluster.slot_places import ClusterNode, SlotPlace, plan_slots, strategy
from tests.unit.builders import settings

TYPE = "ray.io/accelerator-type"
H100 = {TYPE: "H100"}


def asked(**changes: Any) -> ExecutorSettings:
    """The usual options of slots, with these changes."""
    return replace(settings("").executor, **changes)


def node(
    host: str, *, cpus: float = 8, gpus: float = 0, slots: float = 0, **options
) -> ClusterNode:
    resources = {"CPU": cpus, "GPU": gpus, "model_analyzer_slot": slots, "memory": 1e9}
    offered = {name: amount for name, amount in resources.items() if amount}
    if options.pop("is_head", False):
        offered["node:__internal_head__"] = 1.0
    return ClusterNode(id=options.pop("id", f"id-{host}"), host=host, resources=offered, **options)


def place_slots(nodes: list[ClusterNode], request: ExecutorSettings) -> tuple[SlotPlace, ...]:
    placement = plan_slots(nodes, request)
    assert not placement.problem
    return placement.places


def placed(places: tuple[SlotPlace, ...]) -> list[tuple[str, dict[str, float]]]:
    return [(place.node.host, dict(place.bundle)) for place in places]


def refusal(nodes: list[ClusterNode], **request) -> str:
    problem = plan_slots(nodes, asked(**request)).problem
    assert problem
    assert "\n" not in problem
    return problem


def test_by_default_each_host_is_one_slot_with_all_that_it_has() -> None:
    places = place_slots([node("b", gpus=2), node("a", cpus=16)], asked())

    assert placed(places) == [("a", {"CPU": 16}), ("b", {"CPU": 8, "GPU": 2})]
    assert [dict(place.selector) for place in places] == [
        {"ray.io/node-id": "id-a"},
        {"ray.io/node-id": "id-b"},
    ]
    assert strategy(places) == "STRICT_SPREAD"


def test_several_nodes_on_a_host_have_one_slot_together() -> None:
    nodes = [node("a", id="1"), node("a", id="2")]

    assert [p.node.id for p in place_slots(nodes, asked())] == ["1"]
    both = place_slots(nodes, asked(per_host=2))
    assert [p.node.id for p in both] == ["1", "2"]
    assert [dict(p.bundle) for p in both] == [{"CPU": 8}, {"CPU": 8}]
    assert strategy(both) == "STRICT_SPREAD"


def test_slots_on_one_node_share_it_equally() -> None:
    places = place_slots([node("a", cpus=9, gpus=4)], asked(per_host=2))

    assert placed(places) == [("a", {"CPU": 4, "GPU": 2})] * 2
    assert strategy(places) == "SPREAD"


SLOT = "model_analyzer_slot"
OFFERING = [node("a", slots=1, gpus=1), node("b", gpus=1), node("c", cpus=0, slots=2)]
LABELED = [node("a", labels=H100), node("b", labels={TYPE: "L4"})]
HEAD = [node("a", is_head=True), node("c"), node("b")]


@pytest.mark.parametrize(
    ("nodes", "options", "places"),
    [
        # each slot reserves what the user wants
        ([node("a", gpus=4), node("b", gpus=1)], {"gpus": 2, "cpus": 3}, [("a", 3, 2)]),
        ([node("a", gpus=4), node("b", gpus=1)], {"gpus": 0}, [("a", 8, 0), ("b", 8, 0)]),
        (LABELED, {"labels": (f"{TYPE}=H100",)}, [("a", 8, 0)]),
        # the host of the head comes last
        (HEAD, {"slots": 2}, [("b", 8, 0), ("c", 8, 0)]),
        (HEAD, {}, [("b", 8, 0), ("c", 8, 0), ("a", 8, 0)]),
        # no more slots on a host than it has GPUs
        ([node("a", gpus=1)], {"per_host": 2}, [("a", 8, 1)]),
        # each host gets a slot before any gets a second
        (
            [node("a"), node("b")],
            {"slots": 3, "per_host": 2},
            [("a", 4, 0), ("a", 4, 0), ("b", 8, 0)],
        ),
        ([node("a", slots=1, is_alive=False), node("b")], {}, [("b", 8, 0)]),
        ([node("a", gpus=0.5)], {}, [("a", 8, 0)]),
        # where nodes offer slots, only these have them
        (OFFERING, {}, [("a", 0, 1, 1), ("c", 0, 0, 1)]),
        (OFFERING[2:], {"per_host": 3}, [("c", 0, 0, 1), ("c", 0, 0, 1)]),
        (OFFERING, {"cpus": 2}, [("a", 2, 1, 1)]),
    ],
)
def test_slots_have_places(
    nodes: list[ClusterNode], options: Any, places: list[tuple[str, int]]
) -> None:
    """Each with its host, and the CPUs, GPUs and units that it reserves there."""
    expected = [
        (host, {key: n for key, n in zip(("CPU", "GPU", SLOT), units, strict=False) if n})
        for host, *units in places
    ]
    assert placed(place_slots(nodes, asked(**options))) == expected


def test_a_part_of_a_gpu_that_a_node_offers_is_no_gpu() -> None:
    assert "a has 0 GPUs" in refusal([node("a", gpus=0.5)], gpus=1)


def test_where_nothing_fits_the_error_says_what_is_asked_and_what_is_there() -> None:
    nodes = [
        node("a", gpus=1, labels=H100),
        node("b", gpus=2, labels={TYPE: "L4"}),
        node("c", gpus=2),
        node("d", gpus=2, labels=H100, is_alive=False),
    ]

    assert refusal(nodes, gpus=2, labels=(f"{TYPE}=H100",)) == (
        "no slot fits: a slot needs all CPUs, 2 GPUs, ray.io/accelerator-type=H100; a has 1 GPU,"
        " b has ray.io/accelerator-type=L4, c has no label ray.io/accelerator-type, d is not"
        " alive; change --slots, --slot-gpus, --slot-cpus or --slot-label, or add nodes"
    )


@pytest.mark.parametrize(
    ("nodes", "request_", "part"),
    [
        ([], {}, "no slot fits: a slot needs all CPUs, all GPUs; there is no node;"),
        ([node("a", cpus=0)], {}, "; a has 0 CPUs;"),
        ([node("a", cpus=2)], {"cpus": 4}, "needs 4 CPUs, all GPUs; a has 2 CPUs;"),
        (
            [node("a"), node("b")],
            {"slots": 3},
            "only 2 of 3 slots fit: a slot needs all CPUs, all GPUs; a takes 1"
            " (--slots-per-host), b takes 1 (--slots-per-host);",
        ),
        ([node("a", slots=1)], {"slots": 2, "per_host": 2}, "; a offers 1 model_analyzer_slot;"),
        ([node(str(n), cpus=0) for n in range(9)], {}, "3 has 0 CPUs and 5 more;"),
    ],
)
def test_one_line_says_why_too_few_fit(nodes: list[ClusterNode], request_, part: str) -> None:
    assert part in refusal(nodes, **request_)


def test_nodes_that_only_share_a_host_are_told() -> None:
    nodes = [node("a", id=str(n)) for n in range(4)]

    placement = plan_slots(nodes, asked())

    assert placement.remark == (
        "3 nodes get no slot: they share hosts with others (a); --slots-per-host allows more"
    )
    assert {reason for _, reason in placement.without} == {
        "shares its host, which takes 1 (--slots-per-host)"
    }
    assert plan_slots(nodes[:2], asked()).remark == (
        "1 node gets no slot: it shares its host with others (a); --slots-per-host allows more"
    )
    assert plan_slots(nodes, asked(per_host=4)).remark == ""


def test_nodes_without_a_slot_have_a_reason() -> None:
    nodes = [node("a"), node("b"), node("c", cpus=0), node("d", is_alive=False)]

    placement = plan_slots(nodes, asked(slots=1))

    assert [(node.host, reason) for node, reason in placement.without] == [
        ("b", "is not needed (--slots)"),
        ("c", "has 0 CPUs"),
        ("d", "is not alive"),
    ]
    assert placement.remark == ""
    assert placement.problem == ""


@pytest.mark.parametrize(
    ("nodes", "helps"),
    [
        ([node("a", id="1"), node("a", id="2")], True),
        ([node("a")], True),
        ([node("a", cpus=1)], False),
        ([node("a", gpus=1)], False),
    ],
)
def test_slots_per_host_is_suggested_only_where_it_helps(
    nodes: list[ClusterNode], helps: bool
) -> None:
    assert ("change --slots-per-host, --slots," in refusal(nodes, slots=2)) == helps
