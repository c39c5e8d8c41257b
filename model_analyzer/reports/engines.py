# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Draws charts and prints pages in a process of its own, which renderer.py starts.

The engines are native code: where memory runs out they end the whole process, with whatever it
still had to write. Here that costs one picture.

Each line on stdin is an order: `KIND OFFSET LENGTH`, of a text among the ORDERS, an open file.
Each gets an answer: `done` or `failed`, OFFSET and LENGTH of the result, or of the reason, among
the RESULTS.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

SVG, PNG, PDF = "svg", "png", "pdf"

_SCALE = 1.5  # pixels of an image for each of the chart's own: sharp on most screens
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def main(orders: int, results: int, parent: int, memory: int) -> None:
    """Answers orders until stdin ends, using at most so many bytes of `memory`."""
    _confine(parent, memory)
    answers = os.dup(1)
    os.dup2(2, 1)  # what the engines print is no answer
    for order in sys.stdin:
        kind, offset, length = order.split()
        text = os.pread(orders, int(length), int(offset)).decode()
        try:
            state, result = "done", _made(kind, text)
        except MemoryError:
            raise  # ends the process: what is left of its memory is of no use
        except Exception as error:  # noqa: BLE001  # whatever it is, the other pictures are drawn
            state, result = "failed", f"{type(error).__name__}: {error}".encode()
        os.write(answers, f"{state} {append(results, result)} {len(result)}\n".encode())


def append(file: int, content: bytes) -> int:
    """Writes at the end of a file; where that was."""
    begin = end = os.fstat(file).st_size
    while content:
        written = os.pwrite(file, content, end)
        content, end = content[written:], end + written
    return begin


def _made(kind: str, text: str) -> bytes:
    if kind == PDF:
        import weasyprint

        document: bytes = weasyprint.HTML(string=text, url_fetcher=_nothing).write_pdf()
        return document
    import vl_convert

    if kind == PNG:
        image: bytes = vl_convert.svg_to_png(text, scale=_SCALE)
        return image
    svg: str = vl_convert.vegalite_to_svg(text)
    return svg.encode("utf-8", "replace")


def _nothing(url: str) -> Any:
    """A report needs nothing from anywhere, whatever a name in it looks like."""
    raise ValueError(f"not fetched: {url}")


def _confine(parent: int, memory: int) -> None:
    """Ends with the parent, leaves no core, and goes first where the machine's memory is full."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit("the parent has ended")
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    _limit(resource.RLIMIT_CORE, 0)
    # V8 reserves 70 GB of addresses: what counts is what can be written to
    _limit(resource.RLIMIT_DATA, memory)


def _limit(kind: int, most: int) -> None:
    soft, hard = resource.getrlimit(kind)
    limits = [most, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(kind, (min(limits), hard))
