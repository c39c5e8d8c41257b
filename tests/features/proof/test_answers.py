# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Comparing answers: what must be equal, what may differ, and how a difference is told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from model_analyzer.features.proof.answers import (
    TOLERANCES,
    Answer,
    Output,
    differences,
    joined,
    rows,
)

_DTYPES = {"FP64": np.float64, "FP32": np.float32, "FP16": np.float16, "BF16": np.float32}


def answer(kind: str, *values: Any, shape: tuple[int, ...] | None = None) -> Answer:
    dtype = {"BYTES": np.object_, "BOOL": np.bool_, "INT32": np.int32, **_DTYPES}[kind]
    array = np.array(values, dtype=dtype)
    return {"OUT": Output(kind, array if shape is None else array.reshape(shape))}


def told(reference: Answer, other: Answer, tolerance: float | None = None) -> str:
    """What differs, in words; "" if nothing does."""
    return "; ".join(each.what for each in differences(reference, other, tolerance))


@pytest.mark.parametrize(
    ("kind", "then", "now", "what"),
    [
        ("INT32", (1, 2), (1, 3), "is at element 1 3 instead of 2"),
        ("BOOL", (True,), (False,), "is False instead of True"),
        ("BYTES", (b"yes", b"no"), (b"yes", b"No"), "is at element 1 'No' instead of 'no'"),
        ("BYTES", (b"cut off",), (b"cut",), "is 'cut' instead of 'cut off'"),
        ("FP32", (1.0, 2.0), (1.0, 2.1), "is at element 1 2.1 instead of 2 (tolerance 0.1 %)"),
        ("FP32", (1.0,), (math.nan,), "is nan instead of 1 (tolerance 0.1 %)"),
        ("FP32", (math.inf,), (-math.inf,), "is -inf instead of inf (tolerance 0.1 %)"),
    ],
)
def test_what_must_be_equal_and_is_not_is_told(
    kind: str, then: tuple[Any, ...], now: tuple[Any, ...], what: str
) -> None:
    assert told(answer(kind, *then), answer(kind, *now)) == what
    assert told(answer(kind, *then), answer(kind, *then)) == ""


@pytest.mark.parametrize("kind", TOLERANCES)
def test_floats_may_differ_by_the_tolerance_of_their_type(kind: str) -> None:
    allowed = TOLERANCES[kind]
    reference = answer(kind, 1.0, -1.0)

    assert told(reference, answer(kind, 1 + 0.5 * allowed, -1)) == ""
    assert told(reference, answer(kind, 1 + 3 * allowed, -1)) != ""


def test_the_tolerance_of_the_user_counts_instead() -> None:
    assert told(answer("FP32", 1.0), answer("FP32", 1.05), 0.1) == ""
    assert told(answer("FP32", 1.0), answer("FP32", 1.00001), 0) != ""


def test_near_zero_the_size_of_the_whole_output_counts() -> None:
    assert told(answer("FP32", 1e-9, 100.0), answer("FP32", 1e-6, 100.0)) == ""
    assert told(answer("FP32", 1e-9), answer("FP32", 1e-6)) != ""


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_in_both_is_equal(value: float) -> None:
    assert told(answer("FP32", value, 1.0), answer("FP32", value, 1.0 + 1e-6)) == ""


def test_shapes_types_and_names_must_be_equal() -> None:
    flat = answer("INT32", 1, 2, 3, 4)

    square = answer("INT32", 1, 2, 3, 4, shape=(2, 2))
    assert told(flat, square) == "has the shape [2, 2] instead of [4]"
    assert told(flat, answer("FP32", 1, 2, 3, 4)) == "has the type FP32 instead of INT32"
    assert told(flat, {}) == "is missing"
    assert told({}, flat) == "is an output that was not there"


def test_outputs_that_the_user_ignores_are_not_compared() -> None:
    assert not [*differences(answer("INT32", 1), answer("INT32", 2), None, ["OUT"])]


def test_a_refusal_differs_from_an_answer_and_says_nothing_if_both_refuse() -> None:
    assert told(answer("INT32", 1), "no memory") == "is refused: no memory"
    assert told("no memory", "no memory") == told("no memory", answer("INT32", 1)) == ""


def test_the_largest_difference_is_a_part_of_what_is_allowed() -> None:
    (difference,) = differences(answer("FP32", 1.0), answer("FP32", 1.01), None)

    assert difference.size == pytest.approx(10, rel=0.01)


def test_a_stream_is_compared_by_its_joined_content() -> None:
    def stream(*chunks: bytes) -> Answer:
        return joined([dict(answer("BYTES", chunk)) for chunk in chunks], 1)  # type: ignore[arg-type]

    assert told(stream(b"a ", b"word"), stream(b"a word")) == ""
    assert told(stream(b"a ", b"word"), stream(b"a ")) == "is 'a ' instead of 'a word'"
    numbers = [dict(answer("INT32", *each)) for each in ((1, 2), (3,))]  # type: ignore[arg-type]
    assert joined(numbers, 1)["OUT"].array.tolist() == [[1, 2, 3]]
    longer = told(joined(numbers, 1), joined(numbers[:1], 1))
    assert longer == "has 2 elements instead of 3"


def test_a_stream_of_a_batch_has_the_content_of_each_row() -> None:
    alone = [
        joined([dict(answer("INT32", number, shape=(1, 1))) for number in numbers], 1)  # type: ignore[arg-type]
        for numbers in ((1, 2, 3), (4, 5, 6))
    ]
    pairs = [dict(answer("INT32", *pair, shape=(2, 1))) for pair in ((1, 4), (2, 5), (3, 6))]  # type: ignore[arg-type]
    together = rows(joined(pairs, 2), 2)
    assert [told(*each) for each in zip(alone, together, strict=True)] == ["", ""]
    assert told(alone[0], together[1]).startswith("is at element 0 4 instead of 1")

    texts = [dict(answer("BYTES", *pair, shape=(2, 1))) for pair in ((b"a ", b"b"), (b"word", b""))]  # type: ignore[arg-type]
    first, second = rows(joined(texts, 2), 2)
    assert (told(answer("BYTES", b"a word", shape=(1, 1)), first), told(first, second)) == (
        "",
        "is 'b' instead of 'a word'",
    )
    assert joined([dict(answer("INT32", 1, 2, 3))], 2)["OUT"].array.tolist() == [[1, 2, 3]]  # type: ignore[arg-type]


def test_a_batch_is_an_answer_for_each_row() -> None:
    batch = answer("INT32", 1, 2, 3, 4, shape=(2, 2))

    arrays = [each["OUT"].array for each in rows(batch, 2) if not isinstance(each, str)]
    assert [each.tolist() for each in arrays] == [[[1, 2]], [[3, 4]]]
    # no batch dimension: each row differs in its shape
    assert told(answer("INT32", 1, 2, shape=(1, 2)), rows(batch, 3)[0]).startswith("has the shape")
    assert rows("full", 2) == ["full", "full"]
