# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a YAML file, and the models that it names, without running anything."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.models import Models
from model_analyzer.app.bench.preflight import preflight
from model_analyzer.app.bench.searched_subjects import examined_subjects, with_complete_models
from model_analyzer.app.bench.workplace import unusable_output
from model_analyzer.config.resolve import check_file
from model_analyzer.config.sources import misspelled, read_environment, read_yaml
from model_analyzer.errors import ConfigError, Problem

_LINE_AND_COLUMN = re.compile(r":(\d+):(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """A file with its problems, remarks about it, and its relative paths by option. `missing` is
    what `profile` needs besides, on the command line or in the file.
    """

    name: str
    problems: Sequence[Problem] = ()
    remarks: Sequence[str] = ()
    missing: Sequence[Problem] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)

    @property
    def document(self) -> Mapping[str, Any]:
        """The same for programs."""
        return {
            "file": self.name,
            "valid": not self.problems,
            "problems": [_document(problem) for problem in self.problems],
            "remarks": list(self.remarks),
            "missing": [_document(problem) for problem in self.missing],
            "paths": {option: str(path) for option, path in self.paths.items()},
        }


def validate(name: str, environment: Mapping[str, str], *, with_models: bool) -> CheckedFile:
    """Checks the file `name`; `with_models`, also the models and GPUs that it names."""
    cwd = Path.cwd()
    unknown = [*misspelled(environment)]
    try:
        yaml = read_yaml(Path(name))
        resolved = check_file(yaml, cwd, environment=read_environment(environment))
    except ConfigError as error:
        problems = sorted(error.problems, key=_place)
        return CheckedFile(name=name, problems=problems, remarks=unknown)
    problems = []
    remarks = [*resolved.remarks, *unknown]
    if with_models:
        job = Job.of(resolved, environment)
        with ExitStack() as stack:
            checked = preflight(job, stack)
        problems = sorted(checked.problems, key=_place)
        problems = problems or [*unusable_output(job.settings, job.places)]
        remarks += [*map(str, checked.warnings), *checked.remarks]
        if not problems:
            try:
                remarks += _of_search(job, checked.models)
            except ConfigError as error:
                problems = sorted(error.problems, key=_place)
    return CheckedFile(
        name=name,
        problems=problems,
        remarks=remarks,
        missing=resolved.missing,
        paths=resolved.places.relative_paths(cwd),
    )


def _of_search(job: Job, models: Models) -> Sequence[str]:
    """Remarks about what the search will vary. Raises ConfigError if it cannot search."""
    settings = with_complete_models(job.settings, models.unknown)
    if settings is None:
        return ()
    _, remarks = examined_subjects(settings, models.facts, job.places)
    return remarks


def _place(problem: Problem) -> tuple[int, ...]:
    """Line and column of a problem; () for a problem of the whole file."""
    match = _LINE_AND_COLUMN.search(problem.where)
    return tuple(map(int, match.groups())) if match else ()


def _document(problem: Problem) -> Mapping[str, Any]:
    line, column = _place(problem) or (None, None)
    return {
        "where": problem.where,
        "line": line,
        "column": column,
        "what": problem.message,
        "hint": problem.hint or None,
    }
