# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""click commands made from the option table.

What a command needs to run is imported when it runs, so that its help is instant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from model_analyzer.config.kinds import Boolean
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import options_of
from model_analyzer.config.table import ANALYZE, PROFILE, Option, plain


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What the user said: options of the command line, the content of the YAML file if there is
    one, verbosity (-1 quiet, 0, 1 verbose), whether mode offline was chosen, whether only to tell
    what would be done, and whether to tell that as JSON.
    """

    command_line: Sequence[Entry]
    yaml: Node | None
    verbosity: int
    offline: bool
    dry_run: bool
    as_json: bool


Run = Callable[[Invocation], int]


def table_command(name: str, run: Run, *, help_text: str) -> click.Command:
    """The click command `name` with its options from the table.

    `run` returns the exit status.
    """
    table = options_of(name)
    parameters: list[click.Parameter] = [_parameter(option) for option in table if option.flags]
    if name == PROFILE:
        parameters += [
            click.Option(["--dry-run"], is_flag=True, help="Only tell what would be done."),
            click.Option(
                ["--json", "as_json"], is_flag=True, help="Tell it as JSON, for programs."
            ),
        ]
    parameters += [
        click.Option(["-q", "--quiet"], is_flag=True, help="Show errors only."),
        click.Option(["-v", "--verbose"], is_flag=True, help="Show every detail."),
    ]
    long_flags = [
        flag[2:] for parameter in parameters for flag in parameter.opts if flag.startswith("--")
    ]

    @click.pass_context
    def callback(
        ctx: click.Context,
        /,
        quiet: bool,
        verbose: bool,
        dry_run: bool = False,
        as_json: bool = False,
        **given: str | bool | None,
    ) -> int:
        from model_analyzer.config.sources import read_yaml

        if as_json and not dry_run:
            raise click.UsageError("--json is for --dry-run: give both", ctx)
        flags = {option.key: option.flags[-1] for option in table if option.flags}
        entries = [
            Entry(key, flags[key], Node(value, flags[key]))
            for key, value in given.items()
            if value is not None
        ]
        file = given.get("config_file")
        yaml = read_yaml(Path(str(file)).expanduser()) if file is not None else None
        return run(
            Invocation(
                command_line=entries,
                yaml=yaml,
                verbosity=-1 if quiet else int(verbose),
                offline=bool(ctx.obj and ctx.obj["mode"] == "offline"),
                dry_run=dry_run,
                as_json=as_json,
            )
        )

    return _TableCommand(
        name,
        params=parameters,
        callback=callback,
        help=help_text,
        table=table,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "token_normalize_func": functools.partial(_complete, [*long_flags, "help"]),
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


def _profile(given: Invocation) -> int:
    from model_analyzer.config.resolve import resolve_profile

    resolved = resolve_profile(given.command_line, given.yaml, Path.cwd(), offline=given.offline)
    if given.dry_run:
        from model_analyzer.cli import dry_run

        return dry_run.run(resolved.settings, resolved.remarks, as_json=given.as_json)
    from model_analyzer.cli.profile import run

    return run(resolved.settings, resolved.remarks, given.verbosity)


def _analyze(given: Invocation) -> int:
    from model_analyzer.config.resolve import resolve_profile

    resolved = resolve_profile(
        given.command_line, given.yaml, Path.cwd(), command=ANALYZE, offline=given.offline
    )
    from model_analyzer.cli.analyze import run

    return run(resolved.settings, resolved.remarks, given.verbosity)


def _report(given: Invocation) -> int:
    from model_analyzer.config.resolve import resolve_report

    resolved = resolve_report(given.command_line, given.yaml, Path.cwd(), offline=given.offline)
    from model_analyzer.cli.report import run

    return run(resolved.settings, given.verbosity)


def profile() -> click.Command:
    return table_command(
        PROFILE, _profile, help_text="Measure configurations of models and recommend the best."
    )


def analyze() -> click.Command:
    return table_command(
        ANALYZE,
        _analyze,
        help_text="Write tables and reports again from the checkpoint: an old name, see report.",
    )


def report() -> click.Command:
    return table_command(
        "report",
        _report,
        help_text="Write detailed reports of variants from the checkpoint, without a server.",
    )
