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
from model_analyzer.runner.model_config import completed, to_text
from model_analyzer.runner.remembered_configs import RememberedConfigs
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import Launcher, TritonServer

log = logging.getLogger(__name__)


class Completion:
    """Completes configurations with a separate server, or with a remote one.

    The server for measurements does not complete configurations, which would take a second for
    every load. `launcher` starts a server for a model repository; `work` is a directory for such
    repositories. A server is asked once: `remembered` has the answers of earlier runs.
    """

    def __init__(
        self,
        repository: ModelRepository,
        launcher: Callable[[Path], Launcher],
        settings: ServerSettings,
        server_log: ServerLog,
        work: Path,
        remembered: RememberedConfigs,
    ) -> None:
        self._repository = repository
        self._launcher = launcher
        self._settings = settings
        self._server_log = server_log
        self._work = work
        self._remembered = remembered
        self._completed: dict[str, ModelConfig] = {}

    def complete(self, name: str, own: ModelConfig, files: str, setup: ServerSetup) -> ModelConfig:
        """The complete configuration of the model `name`; `own` is the content of its file, and
        `files` a fingerprint of its other files.

        Raises RepositoryError if the server cannot complete it.
        """
        if name not in self._completed:
            self._completed[name] = self._complete(name, own, files, setup)
        return self._completed[name]

    def _complete(self, name: str, own: ModelConfig, files: str, setup: ServerSetup) -> ModelConfig:
        staged = self._work / name
        where = str(self._repository.path / name / CONFIG)
        completing = replace(setup, flags={**setup.flags, "disable-auto-complete-config": "false"})
        launcher = self._launcher(staged)
        server = launcher.program_identity(completing)
        question = (to_text(own), files, server, completing.identity)
        if server and (answer := self._remembered.find(*question)) is not None:
            log.info("Using the configuration of %s that a server completed before", name)
            return completed(answer, own, where)
        log.info("Asking a server for the configuration of %s", name)
        link_tree(self._repository.path / name, staged / name)
        answer = self._ask(launcher, name, completing)
        config = completed(answer, own, where)
        if server:
            self._remembered.add(answer, *question)
        return config

    def _ask(self, launcher: Launcher, name: str, setup: ServerSetup) -> ModelConfig:
        with TritonServer(launcher, self._settings, self._server_log, settles=False) as server:
            server.version(setup)  # raises if the server itself does not work
            try:
                return server.configuration(name, setup)
            except ServerError as error:
                where = self._repository.path / name / CONFIG
                raise RepositoryError(
                    f"{where}: backend, inputs or outputs are missing, and the server could not"
                    f" add them: {error}"
                ) from error
