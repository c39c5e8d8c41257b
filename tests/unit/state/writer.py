# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A process that writes to a checkpoint directory until it is killed.

    python -m tests.unit.state.writer DIRECTORY FIRST [NODE]

Records the trials with concurrency FIRST, FIRST + 1, …, and saves now and then, or as a NODE of a
cluster. Prints the key of each trial after it was recorded.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from model_analyzer.state.node import NodeJournal
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial

_SAVE_EVERY = 7


def main(directory: Path, first: int) -> None:
    with ProfileState(directory) as state:
        for number in count(first):
            state.record(trial(number), measurement(number))
            _acknowledge(number)
            if number % _SAVE_EVERY == 0:
                state.save()


def main_of_node(directory: Path, first: int, node: str) -> None:
    with NodeJournal(directory, node) as journal:
        for number in count(first):
            journal.record(trial(number), measurement(number))
            _acknowledge(number)


def _acknowledge(number: int) -> None:
    sys.stdout.write(f"{trial(number).key}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        main_of_node(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
