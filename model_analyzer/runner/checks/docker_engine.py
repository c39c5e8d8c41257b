# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The Docker engine, if the run needs it or the machine has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from model_analyzer.errors import RuntimeNotFound
from model_analyzer.runner.checks.finding import Finding, ok, problem, warning
from model_analyzer.runner.server.docker import Engine, look_at_engine

_SOCKET = Path("/var/run/docker.sock")


def check_docker(
    environment: Mapping[str, str], *, image: str, is_needed: bool, socket: Path = _SOCKET
) -> Finding:
    has_engine = "DOCKER_HOST" in environment or socket.exists()
    if not is_needed and not has_engine:
        return ok("Docker", "none, and only launch mode docker needs it")
    try:
        return judge_engine(look_at_engine(image), image=image, is_needed=is_needed)
    except RuntimeNotFound as error:
        return judge_silence(str(error), is_needed=is_needed)


def judge_engine(engine: Engine, *, image: str, is_needed: bool) -> Finding:
    state = f"{engine.version} answers"
    if not is_needed:
        return ok("Docker", state)
    if engine.has_image:
        return ok("Docker", f"{state} and has {image}")
    return warning(
        "Docker",
        f"{state} but does not have the image {image}: the run will pull it first",
        f"`docker pull {image}`",
    )


def judge_silence(reason: str, *, is_needed: bool) -> Finding:
    if not is_needed:
        return ok("Docker", f"cannot be used ({reason}), and only launch mode docker needs it")
    if "ermission denied" in reason:
        return problem(
            "Docker",
            reason,
            "`sudo usermod -aG docker $USER`, then log in again; or set DOCKER_HOST to an engine"
            " that you may use",
        )
    return problem("Docker", reason, "`systemctl start docker`, or fix the error that it reports")
