# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a server says about models: facts, if their files are not accessible; and complete
configurations, which are kept in the user's cache.

Asking takes seconds, and the answer follows from the model's files and the server. Each answer is a
file whose name is the fingerprint of both; deleting files only costs these seconds.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import (
    ModelConfig,
    ModelFacts,
    fingerprint,
    is_openai,
    step_models,
)
from model_analyzer.domain.protobuf import from_json, to_json
from model_analyzer.domain.settings import ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.domain.words import closest, first_few
from model_analyzer.errors import RepositoryError, ServerError
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.runner.client.interface import (
    ServerCallError,
    ServerClient,
    is_served,
    known_models,
)
from model_analyzer.runner.file_trees import CONFIG, link_tree
from model_analyzer.runner.model_config import completed, to_text
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.server.life import Launcher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.writing import replace_file

log = logging.getLogger(__name__)


def served_facts(client: ServerClient, name: str, *, timeout_s: float) -> ModelFacts:
    """The facts of a model, from the server, which loads it if necessary.

    The numbers of the loaded versions are its fingerprint, since its files are unknown. Raises
    RepositoryError if the server does not have the model, ServerError if it does not load.
    """
    return _facts(client, name, timeout_s, above=())


def _facts(client: ServerClient, name: str, timeout_s: float, above: Sequence[str]) -> ModelFacts:
    if name in above:
        raise RepositoryError(f"{name} contains itself: {' > '.join((*above, name))}")
    config = served_config(client, name, timeout_s=timeout_s)
    steps = step_models(config)
    if "" in steps:
        raise RepositoryError(f"ensemble {name} of the server has a step without a model name")
    return ModelFacts(
        name=name,
        config=config,
        files=fingerprint(["versions", sorted(known_models(client).get(name, ()))]),
        composing=tuple(
            _facts(client, part, timeout_s, (*above, name)) for part in dict.fromkeys(steps)
        ),
    )


def served_config(client: ServerClient, name: str, *, timeout_s: float) -> ModelConfig:
    """The model's configuration as the server has completed it. The model stays loaded."""
    try:
        if not is_served(client, name):
            models = client.models()
            if name not in models:
                raise RepositoryError(f"the server has no model {name!r} ({_hint(name, models)})")
            client.load(name, None, timeout_s)
        answer = client.model_config(name)
    except ServerCallError as error:
        if error.denied:
            raise
        raise ServerError(f"the server could not load {name}: {error}") from error
    if is_openai(answer):
        return answer
    # the content of its file is unknown
    return completed(answer, {}, f"{name}/{CONFIG}")


def other_models(client: ServerClient, profiled: Iterable[ModelFacts]) -> Sequence[str]:
    """Loaded models of the server that are not profiled."""
    names = {part.name for model in profiled for part in model.with_parts()}
    return sorted(
        name for name, versions in known_models(client).items() if versions and name not in names
    )


def _hint(name: str, models: Iterable[str]) -> str:
    if match := closest(name, models):
        return f"did you mean {match!r}?"
    available = first_few(sorted(models))
    return f"available: {available}" if available else "it has no models: check its repository"


_FORMAT = 1
_MOST_FILES = 256
_MOST_BYTES = 2**20


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


class RememberedConfigs:
    """The answers in a directory, which is created when the first one is added.

    A file is used only if it belongs to this user, nobody else can write it, and it holds the
    answer to the same question. Problems are no errors: then a server is asked.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def find(self, *question: str) -> ModelConfig | None:
        """The answer to a question (texts that identify model and server); None if unknown."""
        path = self._path(question)
        try:
            status = os.lstat(path)
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise ValueError("others could have written it")
            content = parse_json(read_regular(path, most_bytes=_MOST_BYTES))
            if content["format"] != _FORMAT or content["question"] != fingerprint(question):
                raise ValueError("it answers another question")
            if content["checksum"] != fingerprint(content["config"]):
                raise ValueError("it is damaged")
            return from_json(content["config"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, LookupError) as error:
            log.debug("%s is not used: %s", path, error)
            return None

    def add(self, config: ModelConfig, *question: str) -> None:
        """Remembers the answer to a question, and forgets the oldest ones."""
        path = self._path(question)
        try:
            answer = to_json(config, proto_names=True)
            content = {
                "format": _FORMAT,
                "question": fingerprint(question),
                "config": answer,
                "checksum": fingerprint(answer),
            }
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(path, [json.dumps(content).encode()])
            path.chmod(0o600)  # parameters may be secrets
            for old in self._oldest_first()[:-_MOST_FILES]:
                old.unlink(missing_ok=True)
        except (OSError, ValueError) as error:
            log.debug("%s is not written: %s", path, error)

    def _path(self, question: tuple[str, ...]) -> Path:
        return self._directory / f"{fingerprint(question)}.json"

    def _oldest_first(self) -> list[Path]:
        return sorted(self._directory.glob("*.json"), key=lambda path: os.lstat(path).st_mtime_ns)
