# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Draws charts and prints pages in a child process, which renderer.py starts.

The engines are native code: when memory runs out, they end the whole process. In a child process,
only one picture is lost.

Each line on stdin is an order: `KIND OFFSET LENGTH`, where the range is a text in the file ORDERS.
Each answer is a line `done OFFSET LENGTH` or `failed OFFSET LENGTH`, where the range is the result
or the reason in the file RESULTS.
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

_SCALE = 1.5  # image pixels per chart pixel: sharp on most screens
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def main(orders: int, results: int, parent: int, memory: int) -> None:
    """Answers orders until stdin ends. `orders` and `results` are file descriptors, `parent` is a
    process id, `memory` a limit in bytes.
    """
    _confine(parent, memory)
    answers = os.dup(1)
    os.dup2(2, 1)  # output of the engines must not mix with answers
    for order in sys.stdin:
        kind, offset, length = order.split()
        text = os.pread(orders, int(length), int(offset)).decode()
        try:
            state, result = "done", _made(kind, text)
        except MemoryError:
            raise  # ends the process: it cannot continue without memory
        except Exception as error:  # noqa: BLE001  # draw the others whatever failed
            state, result = "failed", f"{type(error).__name__}: {error}".encode()
        os.write(answers, f"{state} {append(results, result)} {len(result)}\n".encode())


def append(file: int, content: bytes) -> int:
    """Appends to a file; returns the offset of the content."""
    begin = end = os.fstat(file).st_size
    while content:
        written = os.pwrite(file, content, end)
        content, end = content[written:], end + written
    return begin


def _made(kind: str, text: str) -> bytes:
    if kind == PDF:
        import weasyprint

        document: bytes = weasyprint.HTML(string=text, url_fetcher=_refuse).write_pdf()
        return document
    import vl_convert

    if kind == PNG:
        image: bytes = vl_convert.svg_to_png(text, scale=_SCALE)
        return image
    svg: str = vl_convert.vegalite_to_svg(text)
    return svg.encode("utf-8", "replace")


def _refuse(url: str) -> Any:
    """Fetches nothing: reports are self-contained, and names in them may look like URLs."""
    raise ValueError(f"not fetched: {url}")


def _confine(parent: int, memory: int) -> None:
    """Makes the process end with its parent, write no core file, limit its memory, and be killed
    first when the machine is out of memory.
    """
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit("the parent has ended")
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    _limit(resource.RLIMIT_CORE, 0)
    # limits writable memory only, since V8 reserves 70 GB of addresses
    _limit(resource.RLIMIT_DATA, memory)


def _limit(kind: int, most: int) -> None:
    soft, hard = resource.getrlimit(kind)
    limits = [most, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(kind, (min(limits), hard))
