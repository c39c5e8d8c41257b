# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The sessions in docs/, commands after `$ ` or marked, run from the first to the last."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import without_charts
from tests.conftest import Pretend
from tests.docs.documents import DOCUMENTS, ROOT, blocks

WITH_SESSIONS = [path for path in DOCUMENTS if any(block.session for block in blocks(path))]

_MARK = "status of the last command: "


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def programs(pretend: Pretend, program: str) -> str:
    """A PATH with a pretend server and perf_analyzer."""
    # nothing makes it faster, so a search soon ends
    directory = pretend.tritonserver().parent
    pretend.perf_analyzer({"throughput": 100.0, "p99_us": 20_000})
    plan = (directory / "perf_analyzer.json").read_text()
    (directory / "slower.json").write_text(plan.replace("100.0", "80.0"))
    return os.pathsep.join([str(directory), str(Path(program).parent), os.environ["PATH"]])


@pytest.mark.parametrize("document", WITH_SESSIONS, ids=lambda path: path.name)
def test_a_session_runs(
    document: Path, tmp_path: Path, programs: str, pretend: Pretend, mark
) -> None:
    """In one directory and one shell. Lines of its output without numbers are as shown."""
    sessions = [block for block in blocks(document) if block.session]
    commands = [command for block in sessions for command in block.session]
    script = "".join(
        f"(exit $last)\n{command}\nlast=$?\necho '{_MARK}'$last\n{slower(command, pretend)}"
        for command in commands
    )

    done = subprocess.run(
        ["bash", "-c", f"last=0\n{script}"],
        cwd=tmp_path,
        env=without_charts({**mark.environment, "PATH": programs, "COLUMNS": "200"}),
        capture_output=True,
        text=True,
        timeout=900,
        check=True,
    )

    statuses = re.findall(f"^{_MARK}(\\d+)$", done.stdout, re.MULTILINE)
    asked = [following.startswith("echo $?") for following in [*commands[1:], ""]]
    for command, status, is_asked in zip(commands, map(int, statuses), asked, strict=True):
        assert status == 0 or is_asked, f"{command}: status {status}\n{done.stderr}"
    output = plain(done.stdout)
    for block in sessions:
        # what `echo $?` shows stands below it
        for code in re.findall(r"^\$ echo \$\?\n(\d+)$", block.text, re.MULTILINE):
            assert f"{code} {_MARK}0" in output
        for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
            is_command = block.is_marked or line.startswith("$ ")
            if not is_command and re.fullmatch(r"[^\d…]{20,}", line):
                assert plain(line) in output


def slower(command: str, pretend: Pretend) -> str:
    """What makes the pretend model slower, where the command does so with a real one."""
    if "model.py" not in command:
        return ""
    return f"cp {pretend.directory}/slower.json {pretend.directory}/perf_analyzer.json\n"


def test_there_are_sessions() -> None:
    named = {str(path.relative_to(ROOT)) for path in WITH_SESSIONS}
    assert {"docs/quick-start.md", "docs/checkpoints.md", "docs/compare.md"} <= named
