# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on the answers of a configuration, by those of the default configuration. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.proofs import Verdict
from model_analyzer.domain.words import counted, first_few
from model_analyzer.features.proof.answers import Answer
from model_analyzer.features.proof.observing import Found, Replies, outputs_of


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
