# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Configurations that a server has completed, kept in the user's cache directory.

Asking a server takes seconds, and its answer follows from the model's files and the server. Each
answer is a file whose name is the fingerprint of both; deleting files only costs these seconds.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from pathlib import Path

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import ModelConfig, fingerprint
from model_analyzer.domain.protobuf import from_json, to_json
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.writing import replace_file

log = logging.getLogger(__name__)

_FORMAT = 1
_MOST_FILES = 256
_MOST_BYTES = 2**20


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
