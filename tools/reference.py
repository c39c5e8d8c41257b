# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference of all commands from the commands themselves.

python tools/reference.py > docs/reference.md
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence

import click

from model_analyzer.cli.program import program
from model_analyzer.cli.table_command import TableCommand
from model_analyzer.config.table import ANALYZE, DOCTOR, PROFILE

HEAD = """\
# Commands

<!-- Made by tools/reference.py from the commands themselves: do not edit. -->

All commands, with the text of `model-analyzer COMMAND --help`. [options.md](options.md) has the
options of `profile` and `report` with their types and their keys in the YAML file.

| Status | Meaning |
|---|---|
| 0 | success |
| 1 | the run failed or was interrupted, or a file is damaged; a check found a problem |
| 2 | an option, a variable, a file or the model repository is invalid; the command did nothing |
| 3 | `compare --fail-on`: a model got worse |
"""

_LIKE_PROFILE = (ANALYZE, DOCTOR)

# the width of the terminal, always the same
_WIDTH = 100


def main() -> None:
    print(HEAD)
    for command, ctx in commands(program, None, "model-analyzer"):
        print("\n".join(section(command, ctx)))


def commands(
    command: click.Command, parent: click.Context | None, name: str
) -> Iterator[tuple[click.Command, click.Context]]:
    """The command and all its subcommands, each with its context."""
    settings = {
        **command.context_settings,
        "terminal_width": _WIDTH,
        "max_content_width": _WIDTH,
    }
    ctx = click.Context(command, parent=parent, info_name=name, **settings)
    yield command, ctx
    if isinstance(command, click.Group):
        for sub_name in command.list_commands(ctx):
            sub = command.get_command(ctx, sub_name)
            assert sub is not None, f"{sub_name} is listed"
            yield from commands(sub, ctx, sub_name)


def section(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f"## {ctx.command_path}\n"
    yield f"    {ctx.command_path} {' '.join(command.collect_usage_pieces(ctx))}\n"
    yield from text_of(command.help or "")
    for title, rows in option_groups(command, ctx):
        yield f"| {title} | |"
        yield "|---|---|"
        for flags, meaning in rows:
            yield f"| `{cell(flags)}` | {cell(meaning)} |"
        yield ""


def text_of(text: str) -> Iterator[str]:
    """The lines of a help text, with its examples as code."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.strip().splitlines()
        if lines and lines[0] == "\b":
            title, *examples = lines[1:]
            yield f"{title}\n"
            yield from (f"    {example.strip()}" for example in examples)
        else:
            yield from lines
        yield ""


def option_groups(
    command: click.Command, ctx: click.Context
) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    records: dict[str, tuple[str, str]] = {}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            records[str(parameter.name)] = record
    groups: Mapping[str, Sequence[str]] = {}
    if isinstance(command, TableCommand):
        groups = command.groups
    for title, keys in groups.items():
        rows = [records.pop(key) for key in keys if key in records]
        if rows and command.name not in _LIKE_PROFILE:
            yield title, rows
    title = f"Besides the options of {PROFILE}" if command.name in _LIKE_PROFILE else "Option"
    yield title, list(records.values())


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
