# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""All errors that end a run, with their exit status.

    ModelAnalyzerError            1  the run failed
    ├── ConfigError               2  invalid options or YAML; has all problems
    ├── RepositoryError           2  a model repository that cannot be used
    │   └── RepositoryInUse       1  another run writes its variants there
    ├── RuntimeNotFound           1  tritonserver or perf_analyzer is missing or does not start
    ├── ServerError               1  the server does not start
    ├── ClusterError              1  the cluster, or a node of it, cannot measure
    ├── CheckpointError           1  the checkpoint directory is in use, damaged or full
    │   └── UnusableCheckpoint    2  what a command names does not exist, or is no checkpoint
    ├── OutputError               1  variants, tables or reports cannot be written
    │   └── UnusablePath          2  an option names a path that nobody can write to
    └── Interrupted               1  the third interrupt: leave at once

What the user named wrongly has status 2, in every command; what went wrong while it ran has 1.
A failed trial is not an error: it is a `Failure`, an outcome that is stored and reported.
A message says in one line what happened, where, and what to do.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

EXIT_OK = 0
EXIT_RUN_FAILED = 1
EXIT_USAGE = 2
EXIT_REGRESSION = 3  # `compare --fail-on`: a metric got worse


class ModelAnalyzerError(Exception):
    """Base class; the program exits with `exit_status`."""

    exit_status = EXIT_RUN_FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of the configuration.

    `where` is `FILE:LINE:COLUMN` or the flag. `message` has no full stop. `hint`
    says what to do, or is "".
    """

    where: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        where = f"{self.where}: " if self.where else ""
        return f"{where}{self.message}{hint}"


class ConfigError(ModelAnalyzerError):
    """Invalid options or YAML; `problems` has all of them, in reading order."""

    exit_status = EXIT_USAGE

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class RepositoryError(ModelAnalyzerError):
    """A model or its configuration is missing or cannot be read.

    `hint` says what to do, or is "".
    """

    exit_status = EXIT_USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}: {hint}" if hint else message)
        self.message, self.hint = message, hint


class RepositoryInUse(RepositoryError):
    """Another run writes its variants into the output model repository."""

    exit_status = EXIT_RUN_FAILED


class RuntimeNotFound(ModelAnalyzerError):
    """tritonserver or perf_analyzer is missing or does not start.

    `hint` says what to do, or is "".
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message, self.hint = message, hint


class UnknownProgram(RuntimeNotFound):
    """A command names a program that does not exist."""

    exit_status = EXIT_USAGE


class ServerError(ModelAnalyzerError):
    """The Triton server does not start."""


class ClusterError(ModelAnalyzerError):
    """The cluster has no slot that fits, or a node of it cannot measure."""


class CheckpointError(ModelAnalyzerError):
    """The checkpoint directory is in use, or cannot be read or written."""


class UnusableCheckpoint(CheckpointError):
    """A command names a checkpoint, model or key that does not exist, or a file that is none."""

    exit_status = EXIT_USAGE


class OutputError(ModelAnalyzerError):
    """A variant, table or report cannot be written."""


class UnusablePath(OutputError):
    """An option names a path to write to that is missing, forbidden or of the wrong kind."""

    exit_status = EXIT_USAGE


class Interrupted(ModelAnalyzerError):
    """The third interrupt, raised inside a running trial: leave at once."""


# Reasons why a path is wrong, unlike those of a full or broken disk.
_WRONG_PATH = frozenset(
    {
        errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EACCES, errno.EPERM,
        errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.ENXIO,
    }
)  # fmt: skip


def is_wrong_path(error: OSError) -> bool:
    """Whether another path would help."""
    return error.errno in _WRONG_PATH


def unwritable(path: object, error: OSError, option: str) -> OutputError:
    """The error for a path that `option` names."""
    kind = UnusablePath if is_wrong_path(error) else OutputError
    return kind(f"cannot write {path}: {error.strerror}; check {option}")


def unreadable(path: object, error: OSError) -> CheckpointError:
    """The error for a checkpoint, or a directory of checkpoints."""
    kind = UnusableCheckpoint if is_wrong_path(error) else CheckpointError
    return kind(f"{path}: cannot be read: {error.strerror}")


def without_checkpoints(directory: object) -> UnusableCheckpoint:
    """The error for a directory that has no checkpoint to list or to verify."""
    return UnusableCheckpoint(f"{directory}: no checkpoints found; -s names the directory of a run")


def wrong(where: str, message: str, hint: str = "") -> ConfigError:
    """An error about one invalid option or argument; see `Problem`."""
    return ConfigError(Problem(where=where, message=message, hint=hint))
