# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers as processes of this machine."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from model_analyzer.domain.models import fingerprint
from model_analyzer.domain.secrets import masked_command
from model_analyzer.domain.settings import ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import ServerError
from model_analyzer.runner.file_trees import words_of
from model_analyzer.runner.leftovers import shm_prefix
from model_analyzer.runner.process import Process
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.endpoints import Endpoints
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.own import OwnLauncher, server_command, server_environment

log = logging.getLogger(__name__)

# where a server looks for backends by default
_BACKENDS = "/opt/tritonserver/backends"


class LocalLauncher(OwnLauncher):
    """Starts tritonserver behind a guard. `repository` is the staged model repository."""

    def __init__(self, program: Program, settings: ServerSettings, repository: Path) -> None:
        super().__init__(settings)
        self._program = program
        self._repository = repository

    @property
    def description(self) -> str:
        return str(self._program.path)

    def program_identity(self, setup: ServerSetup) -> str:
        variables = server_environment(self._program.environment, setup)
        backends = {**self._program.flags, **setup.flags}.get("backend-directory", _BACKENDS)
        python = shutil.which("python3", path=variables.get("PATH")) or ""
        files = [self._program.path, Path(python), *sorted(Path(str(backends)).glob("*/*"))]
        return fingerprint([_identity_of(file) for file in files])

    def start(self, endpoints: Endpoints, setup: ServerSetup, log_file: ServerLog) -> Process:
        prefix = shm_prefix(secrets.token_hex(4))
        command = [
            str(self._program.path),
            *server_command(setup.flags, endpoints, self._repository, self._program.flags),
            f"--backend-config=python,shm-region-prefix-name={prefix}",
        ]
        log.debug("Starting %s", masked_command(command))
        try:
            return Process(
                command,
                environment=server_environment(self._program.environment, setup),
                output=log_file.path,
                shm_prefix=prefix,
            )
        except OSError as error:  # for example, somebody removed the temporary files
            raise ServerError(
                f"tritonserver cannot be started: {error.filename}: {words_of(error)}; run the same"
                " command again to resume"
            ) from error


def _identity_of(file: Path) -> Sequence[str | int]:
    """Changes if somebody replaces the file."""
    try:
        status = file.stat()
    except OSError:
        return [str(file)]
    return [os.path.realpath(file), status.st_ino, status.st_size, status.st_mtime_ns]
