# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How a user measures a trial again by hand."""

from __future__ import annotations

import re

from model_analyzer.domain.profiles import MeasuredTrial

# Files that a run removes at its end: times of requests, or the repository of an embedded server.
_FILE_OF_THE_RUN = re.compile(r"/model-analyzer-[^/\s]+/")
# Servers that a run starts at an address of its own.
_OWN_ADDRESS = ("local", "docker")


def measuring_commands(measured: MeasuredTrial) -> str:
    """The commands of the measurement for a shell, one a line; "" if they need files that only the
    run had.

    They send to the usual address of a server if the run had a server of its own, which has ended.
    """
    commands = tuple(dict.fromkeys(measured.measurement.commands))
    if any(_FILE_OF_THE_RUN.search(command) for command in commands):
        return ""
    if measured.trial.setup.launch in _OWN_ADDRESS:
        commands = tuple(re.sub(r" -u \S+", "", command, count=1) for command in commands)
    return "\n".join(f"model-analyzer runtime run {command}" for command in commands)
