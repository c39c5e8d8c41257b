# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that are not there or do not start, and what is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from model_analyzer.features.doctor.findings import Level
from model_analyzer.features.doctor.program_checks import (
    check_load_generator,
    judge_absent,
    missing_libraries,
)
from model_analyzer.runner.runtime import INSTALL

LDD = """
	linux-vdso.so.1 (0x00007ffd)
	libb64.so.0d => not found
	libssl.so.3 => not found
	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)
"""
LOADER = (
    "/x/perf_analyzer does not start: /x/perf_analyzer: error while loading shared libraries:"
    " libcudart.so.12: cannot open shared object file: No such file or directory"
)


@pytest.mark.parametrize(
    ("output", "libraries"),
    [
        (LDD, ("libb64.so.0d", "libssl.so.3")),
        (LOADER, ("libcudart.so.12",)),
        (LDD + LDD, ("libb64.so.0d", "libssl.so.3")),
        ("	not a dynamic executable", ()),
    ],
)
def test_missing_libraries_are_found(output: str, libraries: tuple[str, ...]) -> None:
    assert missing_libraries(output) == libraries


def test_every_missing_library_is_named_with_its_package() -> None:
    finding = judge_absent("perf_analyzer", LOADER, missing_libraries(LDD + LOADER), INSTALL)

    assert finding.level is Level.PROBLEM
    assert finding.found == (
        "/x/perf_analyzer does not start: libb64.so.0d, libssl.so.3, libcudart.so.12 missing"
    )
    assert "`apt install libb64-0d`; `apt install libssl3`" in finding.fix
    assert finding.fix.endswith(
        "`model-analyzer runtime install`, or choose another with --perf-analyzer-path"
    )


def test_without_a_missing_library_the_reason_is_reported() -> None:
    reason = "no tritonserver starts: it says nothing"

    finding = judge_absent("tritonserver", reason, (), INSTALL)

    assert finding.found == reason
    assert "--triton-server-path" in finding.fix


def test_the_advice_is_in_the_fix_only(tmp_path: Path) -> None:
    finding, _ = check_load_generator(str(tmp_path / "none"), {})

    assert finding.found == f"perf_analyzer_path: {tmp_path}/none does not exist"
    assert "model-analyzer runtime install" in finding.fix


def test_a_program_that_does_not_start_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "perf_analyzer"
    path.write_text(f"#!/bin/sh\necho '{LOADER.partition(': ')[2]}' >&2\nexit 127\n")
    path.chmod(0o755)

    finding, program = check_load_generator(str(path), {"PATH": os.defpath})

    assert program is None
    assert finding.level is Level.PROBLEM
    assert finding.found == f"{path} does not start: libcudart.so.12 missing"
