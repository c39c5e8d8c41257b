# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""click commands made from the option table: options, short and full help, and the invocation."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from model_analyzer.cli.complete import complete_option
from model_analyzer.cli.echo import echo
from model_analyzer.config.former_keys import FORMER_KEYS, OF_A_MODEL
from model_analyzer.config.kinds import Boolean, Deployed
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import options_of
from model_analyzer.config.table import ANALYZE, DOCTOR, PROFILE, Option, plain

if TYPE_CHECKING:
    from model_analyzer.app.bench.devices import Job
    from model_analyzer.config.given_options import GivenOptions
    from model_analyzer.runner.timings import Timings

# What most people need first, as --help shows it; --help-all shows the other options, too.
_FIRST: Mapping[str, Sequence[str]] = {
    PROFILE: (
        "config_file", "model_repository", "profile_models", "latency_budget", "concurrency",
        "batch_sizes", "search", "triton_launch_mode", "export_path",
        "checkpoint_directory",
    ),
    ANALYZE: ("config_file", "profile_models", "checkpoint_directory", "export_path"),
    DOCTOR: (
        "config_file", "model_repository", "profile_models", "triton_launch_mode",
        "triton_server_path", "perf_analyzer_path",
    ),
}  # fmt: skip
_ALL = "help_all"


class TableCommand(click.Command):
    """Shows its options in the groups of the table, or only the `first` of them; accepts
    unambiguous prefixes of them, and their names in YAML.
    """

    def __init__(
        self,
        *args: Any,
        table: Sequence[Option] = (),
        first: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._table = table
        self._first = first

    @property
    def groups(self) -> Mapping[str, Sequence[str]]:
        """The keys of the table, by the headings under which they are shown."""
        by_group = groupby(self._table, lambda option: option.group)
        return {group: [option.key for option in options] for group, options in by_group}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            key = error.option_name.lstrip("-").replace("-", "_")
            in_file = [option.key for option in self._table if not option.flags]
            meant = next((name for name in _meant(key) if name in in_file), "")
            if key not in FORMER_KEYS and not meant:
                raise
            hint = f"write {meant} in the YAML file" if meant else self._on_command_line(key)
            message = f"No such option {error.option_name!r}: {hint}"
            raise click.UsageError(message, ctx) from None
        except click.UsageError as error:
            file = re.search(r"extra argument \((.*\.ya?ml)\)$", error.message)
            if file is None:
                raise
            raise click.UsageError(f"{error.message}: give -f {file[1]}", ctx) from None

    def _on_command_line(self, key: str) -> str:
        """What to give in place of a former flag: the flag of the option that replaces it."""
        hint = FORMER_KEYS[key]
        flags = {option.key: option.flags[-1] for option in self._table if option.flags}
        match = re.match(r"write (\w+)(?!:)\b", hint)
        if match is None or match[1] not in flags:
            return hint
        return f"give {flags[match[1]]}{hint[match.end() :]}"

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if (record := parameter.get_help_record(ctx)) is not None
        }
        if self._first and not ctx.meta.get(_ALL):
            with formatter.section("Common options"):
                formatter.write_dl([records[key] for key in self._first])
            known = {option.key for option in self._table}
            with formatter.section("Output"):
                formatter.write_dl([row for key, row in records.items() if key not in known])
            return
        for group, keys in self.groups.items():
            rows = [records.pop(key) for key in keys if key in records]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)
        with formatter.section("Output"):
            formatter.write_dl(list(records.values()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        if self._first and not ctx.meta.get(_ALL):
            formatter.write_text(
                f"{len(self._table)} options in total: {', '.join(self.groups)}. --help-all lists"
                " them; docs/options.md describes them."
            )
            formatter.write_paragraph()
        formatter.write_text(
            "Each option is also a YAML key and an environment variable, for example"
            f" {self._table[0].variable} for {self._table[0].flags[-1]}. The command line"
            " overrides environment variables, which override the YAML file."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The options that a command gets; verbosity (-1 quiet, 0, 1 verbose); by name the switches
    that the command has beside its options; and its arguments. `timings` are those of a test, if
    it chose some.
    """

    options: GivenOptions
    verbosity: int
    switches: Mapping[str, bool]
    arguments: Sequence[str]
    timings: Timings | None

    def job(self, command: str = PROFILE) -> Job:
        """The run that the options describe."""
        from model_analyzer.app.bench.devices import Job

        return Job.of(self.options.profile(command), os.environ, self.timings)


Run = Callable[[Invocation], int]


def table_command(name: str, *own: click.Parameter) -> Callable[[Run], click.Command]:
    """Makes a click command of a function that returns the exit status: with the options that the
    table has for `name`, and with switches and arguments of its own.
    """
    return functools.partial(_command, name, own)


def _meant(key: str) -> Sequence[str]:
    """Keys that the user may mean: options of other commands have other names."""
    return key, f"{key}s", {"metric": "objectives"}.get(key, "")


def _command(name: str, own: Sequence[click.Parameter], run: Run) -> click.Command:
    table = options_of(name)
    first = _FIRST.get(name, ())
    parameters: list[click.Parameter] = [_parameter(option) for option in table if option.flags]
    parameters += [
        *own,
        click.Option(["-q", "--quiet"], is_flag=True, help="Show errors only."),
        click.Option(["-v", "--verbose"], is_flag=True, help="Show every detail."),
    ]
    # --help-all is left out: --he stays short for --help
    long_flags = [
        flag[2:] for parameter in parameters for flag in parameter.opts if flag.startswith("--")
    ]
    if first:
        parameters.append(_help_all())
    return TableCommand(
        name,
        params=parameters,
        callback=_callback(run, table, own),
        help=run.__doc__,
        table=table,
        first=first,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "token_normalize_func": functools.partial(_complete, [*long_flags, "help"]),
            "max_content_width": 100,
        },
    )


def _callback(
    run: Run, table: Sequence[Option], own: Sequence[click.Parameter]
) -> Callable[..., int]:
    flags = {option.key: option.flags[-1] for option in table if option.flags}

    def callback(quiet: bool, verbose: bool, **values: Any) -> int:
        given = {parameter: values.pop(str(parameter.name)) for parameter in own}
        is_switch = {parameter: isinstance(parameter, click.Option) for parameter in own}
        entries = [
            Entry(key, flags[key], Node(value, flags[key]))
            for key, value in values.items()
            if value is not None
        ]
        context = click.get_current_context().obj or {}
        invocation = Invocation(
            options=read_options(entries, offline=context.get("mode") == "offline"),
            verbosity=-1 if quiet else int(verbose),
            switches={str(each.name): bool(given[each]) for each in own if is_switch[each]},
            arguments=[text for each in own if not is_switch[each] for text in given[each]],
            timings=context.get("timings"),
        )
        return run(invocation)

    return callback


def read_options(command_line: Sequence[Entry], *, offline: bool = False) -> GivenOptions:
    """All options that are given, with a warning about misspelled variables. Raises ConfigError."""
    from model_analyzer.config.given_options import GivenOptions
    from model_analyzer.config.sources import misspelled

    warn_about(misspelled(os.environ))
    return GivenOptions.read(command_line, os.environ, Path.cwd(), offline=offline)


def warn_about(remarks: Iterable[str]) -> None:
    for remark in remarks:
        echo(f"model-analyzer: warning: {remark}", err=True)


def _help_all() -> click.Option:
    def show(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            echo(ctx.get_help())
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options and exit.",
    )


_WITHOUT_VALUE: Mapping[str, Any] = {"is_flag": False, "flag_value": "true"}


def _parameter(option: Option) -> click.Option:
    flags = [option.key, *option.flags]
    takes_url = isinstance(option.kind, Deployed)
    if isinstance(option.kind, Boolean) and not takes_url:
        return click.Option(flags, is_flag=True, default=None, help=option.help)
    default = "" if option.default in (None, (), {}) else f"  [default: {_text(option.default)}]"
    return click.Option(
        flags,
        type=str,
        **(_WITHOUT_VALUE if takes_url else {}),
        metavar=option.kind.metavar,
        help=option.help + default,
        callback=functools.partial(_no_flag, option.flags[-1]),
        shell_complete=functools.partial(complete_option, option),
    )


def _no_flag(
    flag: str, ctx: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """The value, unless it is a flag: the one before may be short for an option with a value."""
    flags = {flag for each in ctx.command.get_params(ctx) for flag in each.opts}
    if value is not None and (value.startswith("--") or value in flags):
        raise click.UsageError(f"{flag} needs a value, and {value} is none", ctx)
    return value


def _text(default: object) -> str:
    value = plain(default)
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _complete(names: Sequence[str], word: str) -> str:
    """The only one of `names` that begins with `word`, or `word` itself. `_` stands for `-`. What a
    model has in YAML is short for nothing else.
    """
    word = word.replace("_", "-")
    is_of_a_model = FORMER_KEYS.get(word.replace("-", "_"), "").startswith(OF_A_MODEL)
    if word in names or len(word) < 2 or is_of_a_model:
        return word
    matches = {name for name in names if name.startswith(word)}
    return matches.pop() if len(matches) == 1 else word
