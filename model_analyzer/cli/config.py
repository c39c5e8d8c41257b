# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer config`: checks YAML files, tells where values are from, describes files to
editors.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import click

from model_analyzer.cli.echo import complain, echo
from model_analyzer.errors import EXIT_OK, EXIT_USAGE, ConfigError, Problem


def config() -> click.Group:
    return _config


@click.group("config", context_settings={"help_option_names": ["-h", "--help"]})
def _config() -> None:
    """Check configuration files, show option values, print the JSON Schema."""


@_config.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, for programs.")
@click.option(
    "--file-only", is_flag=True, help="Do not check the models and GPUs that the files name."
)
def validate(files: Sequence[str], as_json: bool, file_only: bool) -> int:
    """Check YAML files, and the models that they name, without running anything.

    Every problem of every file is shown with its line and column; the exit status is 2 if there
    is one. Options that a command requires, such as the models to profile, may be missing: they
    can come from the command line. Environment variables are used, as in profile. Relative paths
    start at the current directory.

    \b
    Examples:
      model-analyzer config validate my.yaml
      model-analyzer config validate --file-only my.yaml
    """
    checked = [_check(name, file_only=file_only) for name in files]
    if as_json:
        echo(json.dumps({"files": [_json(file) for file in checked]}, indent=2))
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
    paths: Mapping[str, Path] = field(default_factory=dict)


def _check(name: str, *, file_only: bool) -> _Checked:
    """`paths` are the relative ones of the file, by option."""
    from model_analyzer.app.bench.job import Job
    from model_analyzer.app.bench.preflight import preflight
    from model_analyzer.config.environment import misspelled, read_environment
    from model_analyzer.config.resolve import check_file
    from model_analyzer.config.sources import read_yaml

    try:
        yaml = read_yaml(Path(name))
        resolved = check_file(yaml, Path.cwd(), environment=read_environment(os.environ))
    except ConfigError as error:
        return _Checked(name=name, problems=sorted(error.problems, key=_place))
    problems: Sequence[Problem] = ()
    remarks = [*resolved.remarks, *misspelled(os.environ)]
    if not file_only:
        with ExitStack() as stack:
            found = preflight(Job.of(resolved, os.environ), stack)
        problems = sorted(found.problems, key=_place)
        remarks += map(str, found.warnings)
    paths = resolved.places.relative_paths(Path.cwd())
    return _Checked(name=name, problems=problems, remarks=remarks, paths=paths)


def _show(file: _Checked) -> None:
    for remark in file.remarks:
        echo(f"model-analyzer: warning: {remark}", err=True)
    for problem in file.problems:
        complain(str(problem))
    if not file.problems:
        echo(f"{file.name}: valid")
        for option, path in file.paths.items():
            echo(f"  {option}: {path}")


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
        "paths": {option: str(path) for option, path in file.paths.items()},
    }


@_config.command()
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--all", "with_defaults", is_flag=True, help="Show defaults, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, for programs.")
def show(file: str | None, with_defaults: bool, as_json: bool) -> int:
    """Show the value of each option that is set, and where it was set.

    Options are set by environment variables and by FILE. Without FILE, the file that
    MODEL_ANALYZER_CONFIG_FILE names is read. Relative paths start at the current directory, and
    are shown with the absolute path. Secrets are masked.

    \b
    Example:
      model-analyzer config show my.yaml
    """
    from model_analyzer.config.environment import misspelled, read_environment
    from model_analyzer.config.kinds import FilePath
    from model_analyzer.config.nodes import Node
    from model_analyzer.config.options import OPTIONS
    from model_analyzer.config.origins import origins
    from model_analyzer.config.sources import read_yaml

    environment = read_environment(os.environ)
    for remark in misspelled(os.environ):
        echo(f"model-analyzer: warning: {remark}", err=True)
    named = [entry.node.text for entry in environment if entry.key == "config_file"]
    path = file or (named[0] if named else None)
    yaml = read_yaml(FilePath().parse(Node(path, "FILE"))) if path is not None else None
    if yaml is not None and not yaml.is_mapping:
        raise yaml.problem(f"expected a mapping of options, found {yaml.describe()}")
    in_file = yaml.entries if yaml is not None else ()
    found = origins((environment, in_file), OPTIONS, Path.cwd(), with_defaults=with_defaults)
    if as_json:
        documents = [
            {
                "key": one.key,
                "value": one.value,
                "where": one.where or None,
                "instead_of": list(one.instead_of),
                **({"path": one.path} if one.path else {}),
            }
            for one in found
        ]
        echo(json.dumps({"options": documents}, indent=1))
        return EXIT_OK
    for one in found:
        others = f", instead of {', '.join(one.instead_of)}" if one.instead_of else ""
        path = f" ({one.path})" if one.path else ""
        echo(f"{one.key}: {one.text}{path}")
        echo(f"    {one.where or 'default'}{others}")
    if not found:
        echo("No option is set: all have their defaults.")
    return EXIT_OK


@_config.command()
@click.option(
    "--results", "of_results", is_flag=True, help="Print the schema of results.json instead."
)
def schema(of_results: bool) -> int:
    """Print the JSON Schema (draft 2020-12) of the YAML file.

    Editors use it to complete and check files: save it as model-analyzer.json and begin a file with
    `# yaml-language-server: $schema=model-analyzer.json`.

    \b
    Example:
      model-analyzer config schema > model-analyzer.json
    """
    from model_analyzer.config.json_schema import json_schema
    from model_analyzer.reports.document import results_schema

    echo(json.dumps(results_schema() if of_results else json_schema(), indent=1))
    return EXIT_OK
