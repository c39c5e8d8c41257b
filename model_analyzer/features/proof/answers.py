# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of a model, and in what they differ. Pure.

Shapes, types, texts, integers and booleans must be equal. Floating-point numbers may differ by a
part of their size, since a batch, an instance or a device may compute in another order: by default
that of TOLERANCES for their type, or that of the user. For numbers near zero, the size of the
whole output counts, not their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

Array = Any  # numpy's arrays of any type

TOLERANCES: Mapping[str, float] = MappingProxyType(
    {"FP64": 1e-6, "FP32": 1e-3, "FP16": 1e-2, "BF16": 5e-2}
)
_SHOWN = 30  # characters of a text


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor of an answer; a `stream` is what all responses to a request have together, so only
    the content of each row counts.
    """

    kind: str  # the data type
    array: Array
    is_stream: bool = False


# The outputs of a request by name, or the message of the server that refused it.
Answer = Mapping[str, Output] | str


@dataclass(frozen=True, slots=True)
class Deviation:
    """In what an output differs: `where` and `what` in words. The `size` is the largest difference
    as a part of what is tolerated; infinite if no number can say it.
    """

    output: str
    what: str
    size: float = np.inf


def differences(
    reference: Answer, answer: Answer, tolerance: float | None, ignored: Collection[str] = ()
) -> Iterator[Deviation]:
    """The differences of an answer, one for each output but those to be ignored. The `tolerance` of
    floating-point numbers is a part of their size; None means that of their type.
    """
    if isinstance(reference, str) or isinstance(answer, str):
        # that both were refused says nothing about outputs
        if isinstance(answer, str) and not isinstance(reference, str):
            yield Deviation("", f"is refused: {answer}")
        return
    for name in dict.fromkeys((*reference, *answer)):
        if name in ignored:
            continue
        if name not in answer or name not in reference:
            what = "is missing" if name not in answer else "is an output that was not there"
            yield Deviation(name, what)
            continue
        difference = _difference(reference[name], answer[name], tolerance)
        if difference is not None:
            what, size = difference
            yield Deviation(name, what, size)


def _difference(then: Output, now: Output, tolerance: float | None) -> tuple[str, float] | None:
    """In what an output differs, and how much; None if it does not."""
    a, b = then.array, now.array
    if then.kind != now.kind:
        return f"has the type {now.kind} instead of {then.kind}", np.inf
    if a.shape != b.shape:
        if then.is_stream:
            return f"has {b.size} elements instead of {a.size}", np.inf
        return f"has the shape {[*b.shape]} instead of {[*a.shape]}", np.inf
    if np.array_equal(a, b):
        return None
    if then.kind not in TOLERANCES:
        wrong = np.flatnonzero(a.reshape(-1) != b.reshape(-1))
        return _shown(a, b, wrong[0]), np.inf
    allowed = TOLERANCES[then.kind] if tolerance is None else tolerance
    excess = _excess(a.reshape(-1).astype(np.float64), b.reshape(-1).astype(np.float64), allowed)
    worst = int(np.argmax(excess))
    if excess[worst] <= 1:
        return None
    return f"{_shown(a, b, worst)} (tolerance {100 * allowed:g} %)", float(excess[worst])


def _excess(a: Array, b: Array, allowed: float) -> Array:
    """Each difference as a part of the allowed one; infinite where only one is a number."""
    finite = np.isfinite(a)
    scale = float(np.sqrt(np.mean(np.square(a[finite])))) if finite.any() else 0.0
    with np.errstate(all="ignore"):
        bound = allowed * np.maximum(np.abs(a), scale)
        distance = np.abs(a - b)
        excess = np.where(distance == 0, 0.0, distance / np.maximum(bound, 1e-300))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.where(np.isfinite(distance), excess, np.inf))


def _shown(a: Array, b: Array, place: int) -> str:
    """An element that differs."""
    where = "" if a.size == 1 else f"at element {place} "
    return f"is {where}{_text(b.reshape(-1)[place])} instead of {_text(a.reshape(-1)[place])}"


def _text(element: Any) -> str:
    if isinstance(element, bytes):
        text = repr(element.decode("utf-8", "replace"))
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…' ({len(element)} bytes)"
    return f"{element:.6g}" if isinstance(element, (float, np.floating)) else str(element)


def joined(responses: Sequence[Mapping[str, Output]], count: int) -> Mapping[str, Output]:
    """The content of all responses to a request with so many rows: for each row its texts as one
    text, its numbers in a row. If a response has another number of rows, all is one row.
    """
    names = dict.fromkeys(name for response in responses for name in response)
    outputs = {}
    for name in names:
        parts = [response[name] for response in responses if name in response]
        has_rows = all(part.array.ndim and part.array.shape[0] == count for part in parts)
        contents = [part.array.reshape(count if has_rows else 1, -1) for part in parts]
        array = np.concatenate(contents, axis=1)
        if parts[0].kind == "BYTES":
            array = np.array([[b"".join(texts)] for texts in array], dtype=np.object_)
        outputs[name] = Output(parts[0].kind, array, is_stream=True)
    return outputs


def rows(answer: Answer, count: int) -> Sequence[Answer]:
    """The answer to a request with several rows as one for each row. An output without as many rows
    stays as it is: it differs then.
    """
    if isinstance(answer, str):
        return [answer] * count
    return [
        {
            name: replace(output, array=output.array[row : row + 1])
            if output.array.ndim and output.array.shape[0] == count
            else output
            for name, output in answer.items()
        }
        for row in range(count)
    ]
