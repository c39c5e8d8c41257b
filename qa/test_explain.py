# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations on the real programs: twelve models that are slow for known reasons, six healthy
ones, and advice that is tested.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qa.explain_kinds.kinds import judged
from qa.explain_kinds.run import judge
from qa.prepared_models import HEALTHY, SLOW, Case, Served

pytestmark = pytest.mark.slow

# Of the twelve, so many may be named wrongly: the machine of a test may be busy.
MOST_WRONG = 1
# Of the twenty kinds that are slow, so many.
MOST_WRONG_KINDS = 2


def profiled(scene: Any, case: Case) -> None:
    directory = scene.directory / case.name.replace(" ", "-")
    directory.mkdir()
    scene.config = case.config(directory)
    status, output = scene.profile()
    assert status == 0, output


def explained(scene: Any, *arguments: str) -> Any:
    """The explanation of the last profile."""
    status, output = scene.run("explain", "-f", "config.yaml", "--format", "json", *arguments)
    assert status == 0, output
    (hardware,) = json.loads(output[output.index("{\n") :])["hardware"]
    return hardware


def but_noise(explanation: Any) -> list[str]:
    """The causes; other programs may really have been busy."""
    return [each["cause"] for each in explanation["causes"] if each["cause"] != "noise"]


def causes(scene: Any, case: Case) -> list[str]:
    profiled(scene, case)
    return [cause["cause"] for cause in explained(scene)["causes"]]


def test_the_right_cause_comes_first(scene: Any) -> None:
    first = {case.name: (causes(scene, case) or ["none"])[0] for case in SLOW}

    wrong = {case.name: first[case.name] for case in SLOW if first[case.name] != case.cause}
    assert len(wrong) <= MOST_WRONG, wrong


def test_healthy_models_give_no_alarm(scene: Any) -> None:
    named = {case.name: causes(scene, case) for case in HEALTHY}

    # other programs may really have been busy
    assert {name: each for name, each in named.items() if {*each} - {"noise"}} == {}


@pytest.mark.parametrize(
    ("name", "effects"),
    [
        ("too few instances", {"helps"}),
        # as many requests with a quarter of the instances; which of them waits is chance
        ("too many instances", {"helps", "nothing"}),
        ("queue delay", {"helps"}),
        ("starved part", {"helps"}),
        ("slow client", {"helps"}),
    ],
)
def test_a_tested_advice_says_what_it_changed(scene: Any, name: str, effects: set[str]) -> None:
    (case,) = (case for case in SLOW if case.name == name)
    profiled(scene, case)

    confirmed = explained(scene, "--confirm")["confirmed"]

    assert 1 <= len(confirmed) <= 3
    assert confirmed[0]["cause"] == case.cause
    assert confirmed[0]["effect"] in effects


def test_more_instances_that_do_not_help_turn_the_cause_into_a_lock(scene: Any) -> None:
    locked = Served(does={"sleep_ms": 20, "slots": 1})
    profiled(scene, Case(name="one instance with a lock", m=locked))
    before = explained(scene)

    after = explained(scene, "--confirm")

    assert but_noise(before) == ["too_few_instances"]
    assert [each["effect"] for each in after["confirmed"]] == ["nothing"]
    assert but_noise(after) == ["lock"]


def test_kinds_that_the_rules_were_not_made_for(tmp_path: Path) -> None:
    verdicts = [judge(kind, tmp_path, confirm=False) for kind in judged()]

    wrong = [verdict for verdict in verdicts if not verdict.is_right]
    assert not [str(each) for each in wrong if not each.kind.cause]
    assert len(wrong) <= MOST_WRONG_KINDS, "\n".join(map(str, wrong))
