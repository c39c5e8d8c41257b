# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Asks a server to complete model configurations."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.settings import ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import RepositoryError, ServerError
from model_analyzer.runner.file_trees import CONFIG, link_tree
from model_analyzer.runner.model_config import completed
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import Launcher, TritonServer

log = logging.getLogger(__name__)


class Completion:
    """Completes configurations with a separate server, or with a remote one.

    The server for measurements does not complete configurations, which would take a second for
    every load. `launcher` starts a server for a model repository; `work` is a directory for such
    repositories.
    """

    def __init__(
        self,
        repository: ModelRepository,
        launcher: Callable[[Path], Launcher],
        settings: ServerSettings,
        server_log: ServerLog,
        work: Path,
    ) -> None:
        self._repository = repository
        self._launcher = launcher
        self._settings = settings
        self._server_log = server_log
        self._work = work
        self._completed: dict[str, ModelConfig] = {}

    def complete(self, name: str, own: ModelConfig, setup: ServerSetup) -> ModelConfig:
        """The complete configuration of the model `name`; `own` is the content of its file.

        Raises RepositoryError if the server cannot complete it.
        """
        if name not in self._completed:
            self._completed[name] = self._ask(name, own, setup)
        return self._completed[name]

    def _ask(self, name: str, own: ModelConfig, setup: ServerSetup) -> ModelConfig:
        log.info("Asking a server for the configuration of %s", name)
        where = str(self._repository.path / name / CONFIG)
        staged = self._work / name
        link_tree(self._repository.path / name, staged / name)
        launcher = self._launcher(staged)
        flags = {**setup.flags, "disable-auto-complete-config": "false"}
        completing = replace(setup, flags=flags)
        with TritonServer(launcher, self._settings, self._server_log, settles=False) as server:
            server.version(completing)  # raises if the server itself does not work
            try:
                answer = server.configuration(name, completing)
            except ServerError as error:
                raise RepositoryError(
                    f"{where}: backend, inputs or outputs are missing, and the server could not"
                    f" add them: {error}"
                ) from error
        return completed(answer, own, where)
