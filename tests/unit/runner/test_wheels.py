# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files, and what is said when pip refuses a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model_analyzer.runner.versions import PYTHONS
from model_analyzer.runner.wheels import BUILD, MODELS, reason_in, server_lock

ENTRY = re.compile(r"[\w.-]+==[\w.]+( ; python_version [<>=]+ \"3\.\d+\")?( --hash=sha256:\w{64})+")

REFUSED = """\
WARNING: Location '/opt/none' is ignored: it is neither a file nor a directory.
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the \
package versions, please update the hashes. Otherwise, examine the package contents carefully; \
someone may have tampered with them.
    torch==2.1.0 from https://me:****@mirror.example/a/torch-2.1.0-py3-none-any.whl#sha256=12 \
(from -r models.txt (line 5)):
        Expected sha256 aaaa
        Expected     or bbbb
             Got        cccc
"""
CONFLICT = """\
ERROR: Cannot install numpy==1.26.4 and numpy==2.1.0 because of conflicting dependencies.
ERROR: ResolutionImpossible: for help visit the manual
"""
ABSENT = """\
ERROR: Could not find a version that satisfies the requirement numpy==1.26.4
ERROR: No matching distribution found for numpy==1.26.4
"""


SERVERS = [server_lock(version) for version in PYTHONS]


@pytest.mark.parametrize("lock", [*SERVERS, MODELS, BUILD], ids=lambda path: path.name)
def test_everything_in_a_lock_file_is_pinned_and_hashed(lock: Path) -> None:
    lines = lock.read_text().replace(" \\\n   ", "").splitlines()
    entries = [line for line in lines if not line.startswith("#")]

    assert entries
    assert [line for line in entries if not ENTRY.fullmatch(line)] == []


def test_a_file_with_another_hash_is_named_in_one_line_without_its_address() -> None:
    reason = reason_in(REFUSED)

    assert reason.startswith("torch-2.1.0-py3-none-any.whl has sha256 cccc, which is not in")
    assert "\n" not in reason
    assert "mirror" not in reason


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (CONFLICT, CONFLICT.splitlines()[0]),
        (ABSENT, ABSENT.splitlines()[1]),
        ("Reading lists\nE: Unable to locate package x\n\n", "E: Unable to locate package x"),
        ("it says something\n", "it says something"),
        ("\n", ""),
    ],
)
def test_other_failures_are_reported_with_their_most_important_line(
    output: str, reason: str
) -> None:
    assert reason_in(output) == reason
