# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed, full or gone, for every command, and what must hold.

Shared by the tests, which try a few, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from model_analyzer.state.checkpoint import load
from tests.cli.worlds import COMMANDS, World, run

NUMBERS = {"stdin": 0, "stdout": 1, "stderr": 2}

# What a stream can be; "gone" is a pipe whose other end is closed.
KEPT = "kept"
_OUTPUTS = (KEPT, "closed", "full", "gone", "for reading")
_INPUTS = ("empty", "closed", "gone")

STREAMS = st.fixed_dictionaries(
    {
        "command": st.sampled_from([*COMMANDS]),
        "stdin": st.sampled_from(_INPUTS),
        "stdout": st.sampled_from(_OUTPUTS),
        "stderr": st.sampled_from(_OUTPUTS),
    }
)


def ends_well(example: Mapping[str, str]) -> None:
    """The command ends with a status of ours, without a traceback; what it measured is intact."""
    with TemporaryDirectory() as directory, ExitStack() as stack:
        world = World.make(Path(directory))
        given: dict[str, Any] = {}
        closed = []
        for name, number in NUMBERS.items():
            kind = example[name]
            if kind == "closed":
                closed.append(number)
            elif kind != KEPT:
                given[name] = _opened(kind, name, stack)

        def close() -> None:
            for number in closed:
                os.close(number)

        ended = run(world, COMMANDS[example["command"]], prepare=close, **given)
        measured = world.directory / "measured"
        for checkpoints in (world.directory / "checkpoints", measured):
            if checkpoints.exists():
                assert not load(checkpoints).damage
        if example["command"] == "profile" and ended.status == 0:
            assert len(load(measured).records) == 1


def _opened(kind: str, name: str, stack: ExitStack) -> int:
    if kind == "gone":
        ours, theirs = os.pipe() if name != "stdin" else reversed(os.pipe())
        os.close(ours)
        descriptor = theirs
    elif kind == "full":
        descriptor = os.open("/dev/full", os.O_WRONLY)
    else:
        descriptor = os.open("/dev/null", os.O_RDONLY)
    stack.callback(os.close, descriptor)
    return descriptor
