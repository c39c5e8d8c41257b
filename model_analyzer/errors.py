# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every error that ends a run, and the exit status each one gives.

    ModelAnalyzerError            1  something went wrong while running
    ├── ConfigError               2  options or YAML: carries all problems found
    ├── RepositoryError           2  a model repository that cannot be used as it is
    ├── RuntimeNotFound           1  tritonserver or perf_analyzer missing or not starting
    ├── ServerError               1  the server does not start, or not where it should
    ├── CheckpointError           1  checkpoint directory in use, unreadable or full
    ├── OutputError               1  variants, tables or reports that cannot be written
    └── Interrupted               1  the third interrupt: leave at once

A trial that fails is no error: it is a `Failure`, an outcome that is kept and reported.
A message says what happened, to what, and what to do next, in one line.
"""

from __future__ import annotations

from dataclasses import dataclass

EXIT_OK = 0
EXIT_RUN_FAILED = 1
EXIT_USAGE = 2
EXIT_REGRESSION = 3  # of `compare --fail-on`: nothing went wrong, but something got worse


class ModelAnalyzerError(Exception):
    """Base of the family; `exit_status` is what the program ends with."""

    exit_status = EXIT_RUN_FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with the configuration.

    `where` is `FILE:LINE:COLUMN` or the flag; `what` is a sentence without a full stop;
    `hint` says what to do about it, and may be empty.
    """

    where: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        where = f"{self.where}: " if self.where else ""
        return f"{where}{self.what}{hint}"


class ConfigError(ModelAnalyzerError):
    """Options or YAML that cannot be used; `problems` holds all of them, in reading order."""

    exit_status = EXIT_USAGE

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class RepositoryError(ModelAnalyzerError):
    """A model or its configuration is missing or cannot be read.

    `what` is wrong and `hint` says what to do about it, or is empty.
    """

    exit_status = EXIT_USAGE

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(f"{what}: {hint}" if hint else what)
        self.what, self.hint = what, hint


class RuntimeNotFound(ModelAnalyzerError):
    """tritonserver or perf_analyzer is missing, or is there and does not start."""


class ServerError(ModelAnalyzerError):
    """The Triton server does not come up."""


class CheckpointError(ModelAnalyzerError):
    """The checkpoint directory is in use, or cannot be read or written."""


class OutputError(ModelAnalyzerError):
    """A variant, table or report cannot be written."""


class Interrupted(ModelAnalyzerError):
    """Leave now: raised inside a running trial by the third interrupt."""


def wrong(where: str, what: str) -> ConfigError:
    """One line about an option or argument that cannot be used."""
    return ConfigError(Problem(where=where, what=what))
