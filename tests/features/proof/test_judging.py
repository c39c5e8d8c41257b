# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on a configuration: what it is accused of, and what is not judged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

import numpy as np
import pytest

from model_analyzer.domain.profiles import Verdict
from model_analyzer.features.proof.answers import Answer, Deviation, Output
from model_analyzer.features.proof.asking import Asking, InputSet, Place
from model_analyzer.features.proof.facts.promise import P99, THROUGHPUT, Kept, Promise
from model_analyzer.features.proof.outputs import (
    Found,
    Observer,
    Replies,
    judge,
    judge_default,
    unstable_outputs,
)
from model_analyzer.noise.noise import Interval

ANSWER: Answer = {name: Output("INT32", np.array([1], dtype=np.int32)) for name in ("OUT", "TIME")}
SCOPE = "16 inputs"


def found(output: str = "OUT", place: Place = (2, 0), size: float = np.inf) -> Found:
    return Found(place, Deviation(output, "is 3 instead of 1", size))


def replies(again: Sequence[Found] = (), mixed: Sequence[Found] = ()) -> Replies:
    return Replies(alone=[[ANSWER]], again=again, mixed=mixed)


def judged(
    default: Replies, variant: Replies, alone: Sequence[Found] = (), reloaded: Collection[str] = ()
) -> tuple[Verdict, str]:
    unstable = {*unstable_outputs(default), *reloaded}
    ruling = judge(default, variant, alone, unstable, SCOPE)
    return ruling.verdict, ruling.sentence


def test_equal_answers_pass() -> None:
    verdict, text = judged(replies(), replies())
    assert verdict is Verdict.PASSED
    assert text == "its outputs are those of the default configuration (16 inputs)"


def test_another_answer_to_a_single_request_fails() -> None:
    verdict, text = judged(replies(), replies(), [found(size=2), found(place=(0, 0), size=9)])
    assert verdict is Verdict.FAILED
    assert text == (
        "output OUT differs from that of the default configuration, for single requests already:"
        " for input 1 it is 3 instead of 1 (2 answers differ)"
    )


def test_answers_that_only_mixing_changes_fail_and_steps_are_named() -> None:
    verdict, text = judged(replies(), replies(mixed=[found(place=(1, 4))]))
    assert verdict is Verdict.FAILED
    assert "only when requests are mixed: for input 2, step 5 it is 3 instead of 1" in text


def test_what_differs_between_equal_requests_is_named_and_not_judged() -> None:
    default = replies(again=[found("TIME")])
    verdict, text = judged(default, replies(mixed=[found("TIME")]), [found("TIME")])
    assert verdict is Verdict.PASSED
    assert "not judged: TIME, different for equal requests" in text
    assert judged(default, replies(), [found()])[0] is Verdict.FAILED


def test_what_differs_after_a_reload_is_not_judged() -> None:
    verdict, _ = judged(replies(), replies(mixed=[found("TIME")]), [found("TIME")], ["TIME"])
    assert verdict is Verdict.PASSED


def test_if_everything_is_random_nothing_was_checked() -> None:
    default = replies(again=[found("TIME"), found("OUT")])
    assert judged(default, replies(), [found()])[0] is Verdict.UNKNOWN


def test_a_default_whose_answers_change_when_mixed_is_the_finding() -> None:
    default = replies(mixed=[found()])
    ruling = judge_default(default, SCOPE)
    assert ruling.verdict is Verdict.FAILED
    assert ruling.sentence.startswith("mixing requests changes output OUT of the default")

    # a configuration is not accused of it, but its single answers count
    verdict, text = judged(default, replies(mixed=[found()]))
    assert verdict is Verdict.PASSED
    assert "mixed, OUT not judged" in text
    assert judged(default, replies(), [found()])[0] is Verdict.FAILED


class Server:
    """Answers numbers by twice their value; in a batch, or among many, in a wrong way."""

    def __init__(self, inputs: InputSet, fault: str = "") -> None:
        self.inputs, self.fault = inputs, fault
        self.asked = 0

    def _answer(self, number: int, wrong: int = 0) -> Answer:
        self.asked += 1
        value = self.inputs.sequences[number][0]["IN"]
        return {"OUT": Output("INT32", 2 * value + wrong)}

    def alone(self, number: int) -> Sequence[Answer]:
        return [self._answer(number)]

    def at_once(self, numbers: Sequence[int]) -> Iterator[tuple[Place, Answer]]:
        for number in numbers:
            refused = self.fault == "full" and number % 2
            yield (number, 0), "queue is full" if refused else self._answer(number)

    def in_batches(self, batches: Sequence[Sequence[int]]) -> Iterator[tuple[Place, Answer]]:
        for batch in batches:
            for place, number in enumerate(batch):
                wrong = 1 if self.fault == "rows" and place else 0
                yield (number, 0), self._answer(number, wrong)


def observer(count: int = 8, now: float = 0.0) -> Observer:
    inputs = InputSet(
        model="m",
        sequences=tuple(({"IN": np.array([n], dtype=np.int32)},) for n in range(count)),
        kinds={"IN": "INT32"},
        has_batch=True,
        is_sequence=False,
        is_decoupled=False,
        parameters={},
    )
    return Observer(inputs, None, (), lambda: now)


def mixed_with(fault: str, rows: int = 8) -> Sequence[Any]:
    watching = observer()
    server = cast(Asking, Server(watching.inputs, fault))
    alone = watching.alone(server, until=1.0)
    assert watching.again(server, alone) == []
    return watching.mixed(server, alone, 16, rows, until=-1.0)


def test_rows_of_a_batch_are_compared_with_single_requests() -> None:
    assert mixed_with("") == []
    assert {each.difference.output for each in mixed_with("rows")} == {"OUT"}
    assert mixed_with("rows", rows=0) == []


def test_a_full_queue_says_nothing_about_outputs() -> None:
    assert mixed_with("full") == []


def test_a_slow_model_is_asked_less_and_always_the_same() -> None:
    slow = observer(count=12, now=5.0)
    server = cast(Asking, Server(slow.inputs))

    assert len(slow.alone(server, until=1.0)) == 8
    assert len(slow.alone(server, until=100.0)) == 8


def promise(tag: str, found: float, low: float = 90, high: float = 110) -> Promise:
    return Promise(tag=tag, promised=100, found=found, expected=Interval(low=low, high=high))


@pytest.mark.parametrize(
    ("tag", "found", "kept"),
    [
        (THROUGHPUT, 90, Kept.WITHIN),
        (THROUGHPUT, 89, Kept.WORSE),
        (THROUGHPUT, 111, Kept.BETTER),
        (P99, 89, Kept.BETTER),
        (P99, 111, Kept.WORSE),
    ],
)
def test_a_value_beyond_the_interval_is_judged_by_its_direction(
    tag: str, found: float, kept: Kept
) -> None:
    assert promise(tag, found).kept is kept


def test_an_interval_that_twice_the_value_would_keep_is_vague() -> None:
    assert not promise(THROUGHPUT, 100).is_vague
    assert promise(THROUGHPUT, 100, low=45, high=230).is_vague


def test_a_promise_is_told_with_both_numbers_and_where_the_second_has_to_lie() -> None:
    told = str(promise(THROUGHPUT, 95))
    assert told == "Throughput 95.0 infer/sec, promised 100 (90.0 to 110)"
