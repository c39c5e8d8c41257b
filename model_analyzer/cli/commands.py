# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""click commands made from the option table.

What a command needs to run is imported when it runs, so that its help is instant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from model_analyzer.config.kinds import Boolean
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import options_of
from model_analyzer.config.table import Option, plain


class _TableCommand(click.Command):
    """Shows its options in the groups of the table; accepts unambiguous prefixes of them, and
    their names in YAML.
    """

    def __init__(self, *args: Any, table: Sequence[Option] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table = table

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if (record := parameter.get_help_record(ctx)) is not None
        }
        for group, options in groupby(self._table, lambda option: option.group):
            rows = [records.pop(option.key) for option in options if option.key in records]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)
        with formatter.section("Output"):
            formatter.write_dl(list(records.values()))


Run = Callable[[Sequence[Entry], Node | None, int], int]


def table_command(name: str, run: Run, *, help_text: str) -> click.Command:
    """The click command `name` with its options from the table.

    `run` is called with the given options as entries, the content of the YAML file or None, and
    the verbosity (-1 quiet, 0, 1 verbose); it returns the exit status.
    """
    table = options_of(name)
    parameters: list[click.Parameter] = [_parameter(option) for option in table if option.flags]
    parameters += [
        click.Option(["-q", "--quiet"], is_flag=True, help="Show errors only."),
        click.Option(["-v", "--verbose"], is_flag=True, help="Show every detail."),
    ]
    long_flags = [flag[2:] for option in table for flag in option.flags if flag.startswith("--")]

    def callback(quiet: bool, verbose: bool, **given: str | bool | None) -> int:
        from model_analyzer.config.sources import read_yaml

        flags = {option.key: option.flags[-1] for option in table if option.flags}
        entries = [
            Entry(key, flags[key], Node(value, flags[key]))
            for key, value in given.items()
            if value is not None
        ]
        file = given.get("config_file")
        yaml = read_yaml(Path(str(file)).expanduser()) if file is not None else None
        return run(entries, yaml, -1 if quiet else int(verbose))

    return _TableCommand(
        name,
        params=parameters,
        callback=callback,
        help=help_text,
        table=table,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "token_normalize_func": functools.partial(
                _complete, [*long_flags, "quiet", "verbose", "help"]
            ),
            "max_content_width": 100,
        },
    )


def _parameter(option: Option) -> click.Option:
    flags = [option.key, *option.flags]
    if isinstance(option.kind, Boolean):
        return click.Option(flags, is_flag=True, default=None, help=option.help)
    default = "" if option.default in (None, (), {}) else f"  [default: {_text(option.default)}]"
    return click.Option(flags, type=str, metavar=option.kind.metavar, help=option.help + default)


def _text(default: object) -> str:
    value = plain(default)
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _complete(names: Sequence[str], word: str) -> str:
    """The only one of `names` that begins with `word`, or `word` itself. `_` stands for `-`."""
    word = word.replace("_", "-")
    if word in names or len(word) < 2:
        return word
    matches = {name for name in names if name.startswith(word)}
    return matches.pop() if len(matches) == 1 else word


def _profile(command_line: Sequence[Entry], yaml: Node | None, verbosity: int) -> int:
    from model_analyzer.config.resolve import resolve_profile

    resolved = resolve_profile(command_line, yaml, Path.cwd())
    from model_analyzer.cli.profile import run

    return run(resolved.settings, resolved.remarks, verbosity)


def _report(command_line: Sequence[Entry], yaml: Node | None, verbosity: int) -> int:
    from model_analyzer.config.resolve import resolve_report

    resolved = resolve_report(command_line, yaml, Path.cwd())
    from model_analyzer.cli.report import run

    return run(resolved.settings, verbosity)


def profile() -> click.Command:
    return table_command(
        "profile", _profile, help_text="Measure configurations of models and recommend the best."
    )


def report() -> click.Command:
    return table_command(
        "report",
        _report,
        help_text="Write detailed reports of variants from the checkpoint, without a server.",
    )
