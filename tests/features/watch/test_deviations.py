# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of servers, by what they count."""

from __future__ import annotations

import random
from typing import Any

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.features.watch.facts.deviations import ServerFound, WatchClass, scenes_of
from model_analyzer.features.watch.facts.server_counts import Look, cv_of
from tests.features.watch.production import Server, looks, promise, seen
from tests.unit.builders import variant


def growing(at: float) -> float:
    return 1e9 + 2e6 * (at - 1e6)


def changing(at: float) -> str:
    return "12"[at > 1e6 + 100]


@pytest.mark.parametrize(
    ("kind", "words", "server"),
    [
        (WatchClass.AS_PROMISED, "", {}),
        (WatchClass.AS_PROMISED, "", {"rate": 20}),
        (WatchClass.AS_PROMISED, "", {"rate": 150}),
        (WatchClass.AS_PROMISED, "", {"compute_ms": 5}),
        (WatchClass.AS_PROMISED, "", {"cancelled": 0.2}),
        (WatchClass.NOT_CHECKED, "", {"rate": 0.1}),
        (WatchClass.FAILING, "(BACKEND", {"failed": 0.05}),
        (WatchClass.SLOWER, "computing takes", {"compute_ms": 10}),
        (WatchClass.SLOWER, "requests wait 5", {"queue_ms": 5}),
        (WatchClass.SERVER_DIFFERS, "no batches at all", {"batch": 1}),
        (WatchClass.SERVER_DIFFERS, "batches of 6.0", {"batch": 6, "size": 6}),
        (WatchClass.SERVER_DIFFERS, "the cache gives", {"hits": 0.3}),
        (WatchClass.SERVER_DIFFERS, "several versions", {"version": changing}),
        (WatchClass.MEMORY_GROWS, "120 MB a minute", {"memory": growing}),
        (WatchClass.TRAFFIC_DIFFERS, "measured were up to 150", {"rate": 200, "queue_ms": 9}),
        (WatchClass.TRAFFIC_DIFFERS, "bursts", {"cv": 4, "queue_ms": 9}),
        (WatchClass.TRAFFIC_DIFFERS, "requests have 3.00", {"size": 3, "batch": 3}),
    ],
)  # fmt: skip
def test_each_deviation_has_its_class(kind: WatchClass, words: str, server: dict[str, Any]) -> None:
    found = seen([*looks(Server(**server))])

    assert found.kind is kind
    assert not words or words in found.deviations[0].text


def test_what_lasts_only_a_moment_is_no_deviation() -> None:
    def memory(at: float) -> float:
        return 5e9 if at > 1e6 + 60 else 1e9

    servers = [Server(rate=lambda at: 400 if at == 1e6 + 110 else 100), Server(memory=memory)]

    assert [seen([*looks(server)]).kind for server in servers] == [WatchClass.AS_PROMISED] * 2


def test_a_restart_is_no_deviation() -> None:
    before, after = Server(), Server()
    given = [*looks(before, seconds=60)]
    given += [look._replace(at=look.at + 61) for look in looks(after, seconds=60)]

    assert seen(given).kind is WatchClass.AS_PROMISED


def test_a_replica_may_be_missing() -> None:
    gone = seen([*looks(Server(), Server(name="b:8002", until=1e6 + 60))])
    too_few = seen([*looks(Server())], wanted=2)
    without = seen([*looks(Server()), *(Look(1e6 + 121 + s, "b", {}, {}) for s in range(3))])

    for found in (gone, too_few, without):
        assert found.kind is WatchClass.REPLICA_MISSING
    assert (gone.deviations[0].server, len(gone.scene.replicas)) == ("b:8002", 1)
    assert too_few.deviations[0].text == "1 replica of 2 can be seen"


def test_a_new_replica_may_take_the_place_of_another() -> None:
    first, second = looks(Server(), seconds=60), looks(Server(name="b:8002"), seconds=60)
    moved = [look._replace(at=look.at + 61) for look in second]
    (after,) = scenes_of([*first, *moved], {"m": promise()}, {}, are_replicas=False)
    stays, goes = [*looks(Server(name="c:8002"))], [*looks(Server(), seconds=60)]
    (gone,) = scenes_of([*stays, *goes], {"m": promise()}, {}, are_replicas=False)

    assert [each.server for each in after.replicas] == ["b:8002"]
    assert (after.missing, [server for server, _ in gone.missing]) == ([], ["a:8002"])


def test_the_first_class_is_what_to_do_first() -> None:
    found = seen([*looks(Server(failed=0.1, compute_ms=20, rate=300))])

    kinds = [each.kind for each in found.deviations]
    assert kinds == [WatchClass.FAILING, WatchClass.SLOWER, WatchClass.TRAFFIC_DIFFERS]


def test_a_rising_rate_has_a_time_until_the_knee() -> None:
    steady = seen([*looks(Server(rate=140))], promise(carries=150))
    rising = seen([*looks(Server(rate=lambda at: 60 + (at - 1e6) / 2))], promise(carries=150))
    far = seen([*looks(Server(rate=lambda at: 60 + (at - 1e6) / 1000))], promise(carries=150))

    assert steady.kind is rising.kind is WatchClass.NEAR_KNEE
    assert "the rate is there in" in rising.deviations[0].text
    assert far.kind is WatchClass.AS_PROMISED


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"instance_group": [{"count": 1, "kind": "KIND_CPU"}]}, "instance_group.count is 1"),
        ({"max_batch_size": 8}, "max_batch_size is 8, measured was 4"),
        ({"response_cache": {"enable": True}}, "response_cache.enable is"),
        ({"optimization": {"priority": "PRIORITY_DEFAULT"}}, ""),
    ],
)
def test_a_server_says_what_it_has(changes: dict[str, Any], words: str) -> None:
    config = {
        "max_batch_size": 4,
        "dynamic_batching": {"preferred_batch_size": [4]},
        "instance_group": [{"name": "m_0", "count": 2, "kind": "KIND_CPU"}],
    }
    there: ModelVariant = variant("m_config_0", **{**config, **changes})
    own = ServerFound(server="a:8000", triton="2.51.0", variant=there)

    found = seen([*looks(Server())], found={"m": [own]})

    assert found.kind is (WatchClass.SERVER_DIFFERS if words else WatchClass.AS_PROMISED)
    assert [words in each.text for each in found.deviations] == [True] * bool(words)


def test_another_version_of_triton_or_of_the_model_is_named() -> None:
    other = ServerFound(server="a:8000", triton="2.44.0")

    triton = seen([*looks(Server())], found={"m": [other]})
    model = seen([*looks(Server())], version="2")

    assert "Triton is 2.44.0" in triton.deviations[0].text
    assert "version 1 of the model answers, not 2" in model.deviations[0].text


@pytest.mark.parametrize("cv", [0.3, 1.0, 2.5])
def test_burstiness_is_estimated_from_counts(cv: float) -> None:
    scene = seen([*looks(Server(cv=cv, draws=random.Random(9)), seconds=600)]).scene

    estimate = cv_of(scene.replicas)

    assert estimate is not None
    assert estimate.value == pytest.approx(cv, rel=0.2)


def test_days_of_normal_traffic_raise_no_alarm() -> None:
    draws = random.Random(1)
    kinds = [
        seen(
            [
                *looks(
                    Server(rate=draws.uniform(10, 150), draws=draws), Server(name="b", draws=draws)
                )
            ]
        ).kind
        for _ in range(100)
    ]

    assert kinds == [WatchClass.AS_PROMISED] * 100
