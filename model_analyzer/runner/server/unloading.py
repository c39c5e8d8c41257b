# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What would be lost if a server were killed: whether it can end at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import psutil

from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import RepositoryError
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.runner.file_trees import files_under
from model_analyzer.runner.stubs import name_of, stubs_among

_SERVER = "tritonserver"

# A class that inherits nothing, so that its file shows what it does.
_MODEL_CLASS = re.compile(rb"^class TritonPythonModel\s*(\(\s*(object)?\s*\))?\s*:", re.MULTILINE)
_AT_THE_END = re.compile(rb"\b(finalize|atexit|__del__|__exit__)\b")
_MOST_BYTES = 2**20


def acts_when_unloaded(directory: Path, config: ModelConfig) -> bool:
    """Whether unloading this model may do more than to free memory: write a file, or end a program.

    False only if that is certain: for ensembles, and for Python models whose sources say nothing
    about their end.
    """
    if "ensemble_scheduling" in config:
        return False
    if config.get("backend") != "python":
        return True
    file = str(config.get("default_model_filename") or "model.py")
    try:
        paths = [path for path in files_under(directory) if path.suffix == ".py"]
        sources = {path: read_regular(directory / path, most_bytes=_MOST_BYTES) for path in paths}
    except (OSError, RepositoryError):
        return True
    models = [source for path, source in sources.items() if path.name == file]
    is_plain = bool(models) and all(map(_MODEL_CLASS.search, models))
    return not is_plain or any(map(_AT_THE_END.search, sources.values()))


def acts_at_end(processes: Iterable[psutil.Process], setup: ServerSetup) -> bool:
    """Whether a server without models may write something when it ends: traces, or what a program
    around it or a preloaded library measures.
    """
    tree = list(processes)
    stubs = {stub.pid for stub in stubs_among(tree)}
    others = [process for process in tree if process.pid not in stubs]
    is_alone = [name_of(process) for process in others] == [_SERVER]
    traces = any(str(name).startswith("trace") for name in setup.flags)
    return not is_alone or traces or "LD_PRELOAD" in setup.environment
