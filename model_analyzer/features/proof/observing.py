# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answers of one configuration: each request alone, then many of them mixed; and the verdict on
them, by those of the default configuration.

Mixed means many requests under way at once, so that the batcher puts them together and instances
work side by side, and requests with several rows, so that rows share a batch for certain. What is
mixed is compared at once with what is alone: only differences are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from model_analyzer.domain.profiles import Verdict
from model_analyzer.domain.words import counted, first_few
from model_analyzer.features.proof.answers import Answer, Deviation, differences
from model_analyzer.features.proof.asking import Asking, Place
from model_analyzer.features.proof.input_set import InputSet

_FEWEST = 8  # requests, however slow they are
_FEWEST_ROUNDS, _MOST_ROUNDS = 2, 60
_MOST_ROWS = 16
_SEED = 7


@dataclass(frozen=True, slots=True)
class Found:
    """A difference in the answer to the step of a sequence."""

    place: Place
    difference: Deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """What a configuration answers. `alone` are the answers to the steps of each sequence; `again`
    and `mixed` are differences from these, when it was asked the same again, and with others.
    """

    alone: Sequence[Sequence[Answer]]
    again: Sequence[Found] = ()
    mixed: Sequence[Found] = ()


@dataclass(slots=True)
class Observer:
    """Asks configurations of a model the same. `tolerance` and `ignored` are those of the user.
    `clock` is in seconds.
    """

    inputs: InputSet
    tolerance: float | None
    ignored: Collection[str]
    clock: Callable[[], float]
    count: int = 0  # of sequences that are asked: all until the first configuration was slow
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(_SEED))

    def alone(self, asking: Asking, until: float) -> Sequence[Sequence[Answer]]:
        """The answers to each sequence alone. The first time, only those count for which there is
        time until then. Raises Unanswered.
        """
        numbers = range(self.count or len(self.inputs.sequences))
        answers: list[Sequence[Answer]] = []
        for number in numbers:
            if not self.count and len(answers) >= _FEWEST and self.clock() > until:
                break
            answers.append(asking.alone(number))
        self.count = len(answers)
        return answers

    def again(self, asking: Asking, alone: Sequence[Sequence[Answer]]) -> Sequence[Found]:
        """What differs when each sequence is asked alone once more, in another order."""
        found: list[Found] = []
        for number in self._random.permutation(self.count).tolist():
            steps = enumerate(asking.alone(number))
            found += self._compared(alone, (((number, step), answer) for step, answer in steps))
        return found

    def mixed(
        self, asking: Asking, alone: Sequence[Sequence[Answer]], size: int, rows: int, until: float
    ) -> Sequence[Found]:
        """What differs when `size` sequences are under way at once, and with up to so many `rows`
        in a request. It goes on until then.
        """
        repeated = [place % self.count for place in range(max(size, self.count))]
        found: list[Found] = []
        for number in range(_MOST_ROUNDS):
            if number >= _FEWEST_ROUNDS and self.clock() > until:
                break
            answers = [*asking.at_once(self._random.permutation(repeated).tolist())]
            if rows > 1:
                answers += asking.in_batches([*self._batches(min(rows, _MOST_ROWS))])
            # a full queue may refuse requests, which says nothing about outputs
            found += self._compared(alone, (each for each in answers if isinstance(each[1], dict)))
        return found

    def differing(
        self, reference: Sequence[Sequence[Answer]], alone: Sequence[Sequence[Answer]]
    ) -> Sequence[Found]:
        """The differences between the answers of two configurations, or of one at two times."""
        answers = (
            ((number, step), answer)
            for number, steps in enumerate(alone)
            for step, answer in enumerate(steps)
        )
        return self._compared(reference, answers)

    def _compared(
        self, reference: Sequence[Sequence[Answer]], answers: Iterable[tuple[Place, Answer]]
    ) -> Sequence[Found]:
        return [
            Found((number, step), difference)
            for (number, step), answer in answers
            for difference in differences(
                reference[number][step], answer, self.tolerance, self.ignored
            )
        ]

    def _batches(self, rows: int) -> Iterable[Sequence[int]]:
        """Requests of equal shapes together, in random order and sizes."""
        shapes: dict[object, list[int]] = {}
        for number, (step, *_) in enumerate(self.inputs.sequences[: self.count]):
            shapes.setdefault(tuple((name, a.shape) for name, a in step.items()), []).append(number)
        for numbers in shapes.values():
            left = self._random.permutation(numbers).tolist()
            while left:
                size = int(self._random.integers(1, rows, endpoint=True))
                yield left[:size]
                left = left[size:]


def outputs_of(found: Iterable[Found]) -> Mapping[str, Sequence[Found]]:
    """The differences of each output, by its name."""
    by_output: dict[str, list[Found]] = {}
    for each in found:
        by_output.setdefault(each.difference.output, []).append(each)
    return by_output


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A verdict in words, and the number of answers that differ."""

    verdict: Verdict
    sentence: str
    wrong: int = 0


def unstable_outputs(default: Replies) -> Collection[str]:
    """The outputs that differ between equal requests, one at a time: they are random, or tell the
    time. They are not judged.
    """
    return outputs_of(default.again).keys()


DEFAULT = "the default configuration"


def judge_default(default: Replies, scope: str) -> Ruling:
    """Whether mixing changes the answers of the default configuration itself."""
    unstable = unstable_outputs(default)
    for output, found in _judged(default.mixed, unstable).items():
        what = f"mixing requests changes {_named(output)} of {DEFAULT} itself"
        return Ruling(
            verdict=Verdict.FAILED, sentence=f"{what}: {_described(found)}", wrong=len(found)
        )
    return _passed("its outputs do not change when requests are mixed", default, unstable, scope)


def judge(
    default: Replies,
    variant: Replies,
    alone: Sequence[Found],
    unstable: Collection[str],
    scope: str,
    reference: str = DEFAULT,
) -> Ruling:
    """Whether a configuration gives the outputs of the default, or of another `reference`. `alone`
    are the differences of their answers to single requests. What mixing changes in the default is
    not judged mixed.
    """
    changing = _judged(default.mixed, unstable)
    for output, found in _judged(alone, unstable).items():
        how = f"differs from that of {reference}, for single requests already"
        sentence = f"{_named(output)} {how}: {_described(found)}"
        return Ruling(verdict=Verdict.FAILED, sentence=sentence, wrong=len(found))
    for output, found in _judged(variant.mixed, {*unstable, *changing}).items():
        how = f"differs from that of {reference}, only when requests are mixed"
        sentence = f"{_named(output)} {how}: {_described(found)}"
        return Ruling(verdict=Verdict.FAILED, sentence=sentence, wrong=len(found))
    text = f"its outputs are those of {reference}"
    if changing:
        text += f" (mixed, {first_few([*changing])} not judged: mixing changes {reference} itself)"
    return _passed(text, default, unstable, scope, reference)


def _judged(found: Sequence[Found], without: Collection[str]) -> Mapping[str, Sequence[Found]]:
    return {name: each for name, each in outputs_of(found).items() if name not in without}


def _passed(
    text: str,
    default: Replies,
    unstable: Collection[str],
    scope: str,
    reference: str = DEFAULT,
) -> Ruling:
    names = {*_names(default.alone)}
    if names and names <= {*unstable}:
        what = f"{first_few(sorted(unstable))} of {reference}"
        reason = f"{what} differs between equal requests, and there is nothing else to compare"
        return Ruling(verdict=Verdict.UNKNOWN, sentence=reason)
    if unstable:
        text += f"; not judged: {first_few(sorted(unstable))}, different for equal requests"
    return Ruling(verdict=Verdict.PASSED, sentence=f"{text} ({scope})")


def _names(alone: Sequence[Sequence[Answer]]) -> Iterator[str]:
    for steps in alone:
        for answer in steps:
            if not isinstance(answer, str):
                yield from answer


def _named(output: str) -> str:
    return f"output {output}" if output else "the answer"


def _described(found: Sequence[Found]) -> str:
    """The largest difference, and how many there are."""
    worst = max(found, key=lambda each: each.difference.size)
    number, step = worst.place
    steps = f", step {step + 1}" if any(each.place[1] for each in found) else ""
    more = f" ({counted(len(found), 'answer')} differ)" if len(found) > 1 else ""
    return f"for input {number + 1}{steps} it {worst.difference.what}{more}"
