# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The server as a library inside perf_analyzer (launch mode c_api), without a separate process.

perf_analyzer loads every model of its repository, and retries forever if a model does not load. So
each variant gets its own repository.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from model_analyzer.domain.models import ModelConfig, ModelVariant, empty, without_cache
from model_analyzer.domain.protocols import Route
from model_analyzer.domain.settings import Protocol, ServerSettings
from model_analyzer.domain.statistics import ServerStatistics
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.file_trees import CONFIG, link_tree
from model_analyzer.runner.model_config import to_text
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.local import server_environment


class EmbeddedServer:
    """Prepares the repositories of perf_analyzer's embedded server in `directory`."""

    def __init__(
        self,
        library: Program,
        settings: ServerSettings,
        source: ModelRepository,
        directory: Path,
    ) -> None:
        self._library = library
        self._settings = settings
        self._source = source
        self._directory = directory
        self._environment: Mapping[str, str] = {}

    @property
    def description(self) -> str:
        return f"{self._library.path}, inside perf_analyzer"

    def version(self, setup: ServerSetup) -> str:
        """The library's version, if known."""
        return self._library.version

    def begin(self, setup: ServerSetup) -> None:
        """Does nothing: perf_analyzer starts the server."""

    def serve(self, variants: Sequence[ModelVariant], setup: ServerSetup) -> None:
        """Writes the repository of each variant, which perf_analyzer then loads."""
        self._environment = server_environment(self._library.environment, setup)
        for variant in variants:
            repository = self._repository(variant)
            shutil.rmtree(repository, ignore_errors=True)
            for part in variant.with_parts():
                config = without_cache(part.config) if setup.uncached else part.config
                self._write(part.model, config, repository / part.model)

    def discard(self) -> None:
        """Does nothing: no server runs between trials."""

    def begin_stop(self) -> None:
        """Does nothing: no server runs between trials."""

    def stop(self) -> None:
        """Does nothing: no server runs between trials."""

    @property
    def is_alive(self) -> bool:
        """Always True: only perf_analyzer can die."""
        return True

    def stubs(self) -> Sequence[int]:
        """Empty: the stubs belong to perf_analyzer."""
        return ()

    def route(self, variant: ModelVariant, protocol: Protocol) -> Route:
        """The route: the library and the variant's repository, without a protocol."""
        return Route(
            flags={
                "service-kind": "triton_c_api",
                "triton-server-directory": str(self._library.path),
                "model-repository": str(self._repository(variant)),
            },
            environment=self._environment,
            load_timeout_s=self._settings.load_timeout_s,
        )

    def statistics(self, variants: Sequence[ModelVariant]) -> ServerStatistics:
        """Empty: an embedded server cannot be queried."""
        return empty()

    def log_tail(self) -> tuple[str, ...]:
        """Empty: the library logs to perf_analyzer's output."""
        return ()

    def _repository(self, variant: ModelVariant) -> Path:
        return self._directory / variant.identity

    def _write(self, model: str, config: ModelConfig, target: Path) -> None:
        link_tree(self._source.path / model, target)
        file = target / CONFIG
        file.unlink(missing_ok=True)
        file.write_text(to_text(config), encoding="utf-8")
