# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where slots go, and what they reserve there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.settings import ExecutorSettings
from model_analyzer.features.cluster.slot_places import (
    ClusterNode,
    SlotPlace,
    plan_slots,
    strategy,
)
from tests.unit.builders import settings

H100 = {"ray.io/accelerator-type": "H100"}


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


def test_a_slot_reserves_what_the_user_wants() -> None:
    nodes = [node("a", gpus=4), node("b", gpus=1)]

    assert placed(place_slots(nodes, asked(gpus=2, cpus=3))) == [("a", {"CPU": 3, "GPU": 2})]
    assert placed(place_slots(nodes, asked(gpus=0))) == [("a", {"CPU": 8}), ("b", {"CPU": 8})]


def test_labels_choose_nodes() -> None:
    nodes = [node("a", labels=H100), node("b", labels={"ray.io/accelerator-type": "L4"})]

    assert [
        place.node.host
        for place in place_slots(nodes, asked(labels=("ray.io/accelerator-type=H100",)))
    ] == ["a"]


def test_the_host_of_the_head_comes_last() -> None:
    nodes = [node("a", is_head=True), node("c"), node("b")]

    assert [p.node.host for p in place_slots(nodes, asked(slots=2))] == ["b", "c"]
    assert [p.node.host for p in place_slots(nodes, asked())] == ["b", "c", "a"]


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


def test_no_more_slots_on_a_host_than_it_has_gpus() -> None:
    places = place_slots([node("a", gpus=1)], asked(per_host=2))

    assert placed(places) == [("a", {"CPU": 8, "GPU": 1})]


def test_each_host_gets_a_slot_before_any_gets_a_second() -> None:
    nodes = [node("a"), node("b")]

    places = place_slots(nodes, asked(slots=3, per_host=2))

    assert placed(places) == [("a", {"CPU": 4}), ("a", {"CPU": 4}), ("b", {"CPU": 8})]


def test_where_nodes_offer_slots_only_these_have_them() -> None:
    nodes = [node("a", slots=1, gpus=1), node("b", gpus=1), node("c", cpus=0, slots=2)]

    assert placed(place_slots(nodes, asked())) == [
        ("a", {"model_analyzer_slot": 1, "GPU": 1}),
        ("c", {"model_analyzer_slot": 1}),
    ]
    assert (
        placed(place_slots(nodes[2:], asked(per_host=3))) == [("c", {"model_analyzer_slot": 1})] * 2
    )
    assert placed(place_slots(nodes, asked(cpus=2))) == [
        ("a", {"model_analyzer_slot": 1, "CPU": 2, "GPU": 1}),
    ]


def test_a_dead_node_offers_nothing() -> None:
    nodes = [node("a", slots=1, is_alive=False), node("b")]

    assert placed(place_slots(nodes, asked())) == [("b", {"CPU": 8})]


def test_a_part_of_a_gpu_that_a_node_offers_is_no_gpu() -> None:
    assert placed(place_slots([node("a", gpus=0.5)], asked())) == [("a", {"CPU": 8})]
    assert "a has 0 GPUs" in refusal([node("a", gpus=0.5)], gpus=1)


def test_where_nothing_fits_the_error_says_what_is_asked_and_what_is_there() -> None:
    nodes = [
        node("a", gpus=1, labels=H100),
        node("b", gpus=2, labels={"ray.io/accelerator-type": "L4"}),
        node("c", gpus=2),
        node("d", gpus=2, labels=H100, is_alive=False),
    ]

    assert refusal(nodes, gpus=2, labels=("ray.io/accelerator-type=H100",)) == (
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
        (
            [node("a", slots=1)],
            {"slots": 2, "per_host": 2},
            "; a offers 1 model_analyzer_slot;",
        ),
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
