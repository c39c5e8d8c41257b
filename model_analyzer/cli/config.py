# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer config`: checks YAML files, and describes them to editors."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from model_analyzer.errors import EXIT_OK, EXIT_USAGE, ConfigError, Problem


def config() -> click.Group:
    return _config


@click.group("config", context_settings={"help_option_names": ["-h", "--help"]})
def _config() -> None:
    """Check configuration files, or describe them to an editor."""


@_config.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, for programs.")
def validate(files: Sequence[str], as_json: bool) -> int:
    """Check YAML files without running anything.

    Every problem of every file is told with its line and column; the exit status is 2 if there is
    any. What a command needs besides, such as the models to profile, may come from its command
    line and is not missed here.
    """
    checked = [_check(name) for name in files]
    if as_json:
        click.echo(json.dumps({"files": [_json(file) for file in checked]}, indent=2))
    else:
        for file in checked:
            _show(file)
    return EXIT_USAGE if any(file.problems for file in checked) else EXIT_OK


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """What was found in a file."""

    name: str
    problems: Sequence[Problem] = ()
    remarks: Sequence[str] = ()


def _check(name: str) -> _Checked:
    from model_analyzer.config.resolve import check_file
    from model_analyzer.config.sources import read_yaml

    try:
        return _Checked(name=name, remarks=check_file(read_yaml(Path(name)), Path.cwd()))
    except ConfigError as error:
        return _Checked(name=name, problems=sorted(error.problems, key=_place))


def _show(file: _Checked) -> None:
    for remark in file.remarks:
        click.echo(f"model-analyzer: warning: {remark}", err=True)
    for problem in file.problems:
        click.echo(f"model-analyzer: {problem}", err=True)
    if not file.problems:
        click.echo(f"{file.name}: valid")


_LINE_AND_COLUMN = re.compile(r":(\d+):(\d+)$")


def _place(problem: Problem) -> tuple[int, ...]:
    """Line and column of a problem; nothing where it is that of a whole file."""
    found = _LINE_AND_COLUMN.search(problem.where)
    return tuple(map(int, found.groups())) if found else ()


def _json(file: _Checked) -> dict[str, object]:
    problems = []
    for problem in file.problems:
        line, column = _place(problem) or (None, None)
        problems.append(
            {
                "where": problem.where,
                "line": line,
                "column": column,
                "what": problem.what,
                "hint": problem.hint or None,
            }
        )
    return {
        "file": file.name,
        "valid": not problems,
        "problems": problems,
        "remarks": list(file.remarks),
    }


@_config.command()
@click.option("--results", "of_results", is_flag=True, help="That of results.json instead.")
def schema(of_results: bool) -> int:
    """Print the JSON Schema (draft 2020-12) of the YAML file.

    Editors complete and check with it: save it as model-analyzer.json and begin a file with
    `# yaml-language-server: $schema=model-analyzer.json`.
    """
    from model_analyzer.config.json_schema import json_schema
    from model_analyzer.reports.document import results_schema

    click.echo(json.dumps(results_schema() if of_results else json_schema(), indent=1))
    return EXIT_OK
