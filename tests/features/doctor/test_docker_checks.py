# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What it means how the Docker engine answers."""

from __future__ import annotations

from pathlib import Path

from model_analyzer.features.doctor.findings import Level
from model_analyzer.features.doctor.network_checks import check_docker, judge_engine, judge_silence
from model_analyzer.runner.server.docker import Engine


def test_a_missing_engine_that_is_not_needed_is_ok(tmp_path: Path) -> None:
    finding = check_docker({}, image="i", is_needed=False, socket=tmp_path / "docker.sock")

    assert finding.level is Level.OK
    assert finding.found.startswith("none")


def test_an_engine_with_the_image_is_ok() -> None:
    engine = Engine("Docker 27.1", has_image=True)

    assert judge_engine(engine, image="i", is_needed=True).found == "Docker 27.1 answers and has i"


def test_an_image_that_will_be_pulled_gets_a_warning_where_it_is_needed() -> None:
    engine = Engine("Docker 27.1", has_image=False)

    needed = judge_engine(engine, image="i", is_needed=True)

    assert (needed.level, needed.fix) == (Level.WARNING, "`docker pull i`")
    assert judge_engine(engine, image="i", is_needed=False).level is Level.OK


def test_a_silent_engine_is_a_problem_only_where_it_is_needed() -> None:
    reason = "no Docker engine answers at the default address (Permission denied)"

    needed = judge_silence(reason, is_needed=True)

    assert needed.level is Level.PROBLEM
    assert "usermod -aG docker" in needed.fix
    assert judge_silence(reason, is_needed=False).level is Level.OK
    assert "systemctl" in judge_silence("nobody listens", is_needed=True).fix
