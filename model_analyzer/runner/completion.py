# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Model configurations that leave something to the server, completed by one."""

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
    """Asks a server, for a moment, what it makes of a model.

    The server that measures does not complete configurations: that costs a second for every load.
    So this is one of its own, or a visit to one that is not ours. `launcher` brings it to life
    for a model repository, and `work` is a directory for such repositories.
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
        self._known: dict[str, ModelConfig] = {}

    def complete(self, name: str, own: ModelConfig, setup: ServerSetup) -> ModelConfig:
        """The configuration of the model `name`, whose file says only `own`.

        Raises RepositoryError where a server cannot complete it.
        """
        if name not in self._known:
            self._known[name] = self._ask(name, own, setup)
        return self._known[name]

    def _ask(self, name: str, own: ModelConfig, setup: ServerSetup) -> ModelConfig:
        log.info("Asking a server for the configuration of %s", name)
        where = str(self._repository.path / name / CONFIG)
        staged = self._work / name
        link_tree(self._repository.path / name, staged / name)
        launcher = self._launcher(staged)
        flags = {**setup.flags, "disable-auto-complete-config": "false"}
        completing = replace(setup, flags=flags)
        with TritonServer(launcher, self._settings, self._server_log, settles=False) as server:
            server.version(completing)  # raises where the server itself is what does not work
            try:
                answer = server.configuration(name, completing)
            except ServerError as error:
                raise RepositoryError(
                    f"{where}: does not say backend, inputs and outputs, and the server could not"
                    f" complete it: {error}"
                ) from error
        return completed(answer, own, where)
