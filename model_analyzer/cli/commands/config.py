# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer config`: checks YAML files, shows where values come from, describes files to
editors.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import import_module

import click

from model_analyzer.cli.echo import complain, echo
from model_analyzer.errors import EXIT_OK, EXIT_USAGE

# The feature whose schema is here beside the others.
_CAPACITY = "model_analyzer.features.capacity.capacity_text"


@click.group("config", context_settings={"help_option_names": ["-h", "--help"]})
def config() -> None:
    """Check configuration files, show option values, print the JSON Schema."""


_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, for programs."
)


@config.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_json_option
@click.option(
    "--file-only", is_flag=True, help="Do not check the models and GPUs that the files name."
)
def validate(files: Sequence[str], as_json: bool, file_only: bool) -> int:
    """Check YAML files, and the models that they name, without running anything.

    Every problem of every file is shown with its line and column; the exit status is 2 if there
    is one. Options that profile requires, such as the models, may be missing: they can come from
    the command line, and the output names them. Environment variables are used, as in profile.
    Relative paths start at the current directory.

    \b
    Examples:
      model-analyzer config validate my.yaml
      model-analyzer config validate --file-only my.yaml
    """
    from model_analyzer.app.preview import validate as check
    from model_analyzer.cli.table_command import warn_about

    checked = [check(name, os.environ, with_models=not file_only) for name in files]
    if as_json:
        echo(json.dumps({"files": [file.document for file in checked]}, indent=2))
    for file in () if as_json else checked:
        warn_about(file.remarks)
        for problem in file.problems:
            complain(str(problem))
        if not file.problems:
            needs = " and ".join(problem.where for problem in file.missing)
            echo(f"{file.name}: valid{f', but profile also needs {needs}' if needs else ''}")
            for option, path in file.paths.items():
                echo(f"  {option}: {path}")
    return EXIT_USAGE if any(file.problems for file in checked) else EXIT_OK


@config.command()
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--all", "with_defaults", is_flag=True, help="Show defaults, too.")
@_json_option
def show(file: str | None, with_defaults: bool, as_json: bool) -> int:
    """Show the value of each option that is set, and where it was set.

    Options are set by environment variables and by FILE. Without FILE, the file that
    MODEL_ANALYZER_CONFIG_FILE names is read. Relative paths start at the current directory, and
    are shown with the absolute path. Secrets are masked.

    \b
    Example:
      model-analyzer config show my.yaml
    """
    from model_analyzer.cli.table_command import read_options
    from model_analyzer.config.nodes import Entry, Node
    from model_analyzer.config.options import OPTIONS

    named = [Entry("config_file", "FILE", Node(file, "FILE"))] if file else []
    origins = read_options(named).origins(OPTIONS, with_defaults=with_defaults)
    if as_json:
        echo(json.dumps({"options": [origin.document for origin in origins]}, indent=1))
        return EXIT_OK
    for origin in origins:
        path = f" ({origin.path})" if origin.path else ""
        echo(f"{origin.key}: {origin.text}{path}")
        echo(f"    {origin.where or 'default'}{origin.replaced}")
    if not origins:
        echo("No option is set: all have their defaults.")
    return EXIT_OK


@config.command()
@click.option(
    "--results", "of_results", is_flag=True, help="Print the schema of results.json instead."
)
@click.option(
    "--capacity",
    "of_capacity",
    is_flag=True,
    help="Print the schema of `capacity --format json` instead.",
)
def schema(of_results: bool, of_capacity: bool) -> int:
    """Print the JSON Schema (draft 2020-12) of the YAML file.

    Editors use it to complete and check files: save it as model-analyzer.json and begin a file with
    `# yaml-language-server: $schema=model-analyzer.json`.

    \b
    Example:
      model-analyzer config schema > model-analyzer.json
    """
    from model_analyzer.config.options import json_schema
    from model_analyzer.reports.document import results_schema

    if of_results and of_capacity:
        raise click.UsageError("--results and --capacity are two schemas: give one of them")
    if of_capacity:
        document = import_module(_CAPACITY).capacity_schema()
    else:
        document = results_schema() if of_results else json_schema()
    echo(json.dumps(document, indent=1))
    return EXIT_OK
