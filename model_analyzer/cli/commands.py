# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""click commands made from the option table.

What a command needs to run is imported when it runs, so that its help is instant.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from model_analyzer.cli.complete import complete_option
from model_analyzer.config.kinds import Boolean
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import options_of
from model_analyzer.config.table import ANALYZE, DOCTOR, PROFILE, Option, plain

# What most people need first, as --help shows it; --help-all shows the other options, too.
_FIRST: Mapping[str, Sequence[str]] = {
    PROFILE: (
        "config_file", "model_repository", "profile_models", "latency_budget", "concurrency",
        "batch_sizes", "run_config_search_mode", "triton_launch_mode", "export_path",
        "checkpoint_directory",
    ),
    ANALYZE: ("config_file", "profile_models", "checkpoint_directory", "export_path"),
    DOCTOR: (
        "config_file", "model_repository", "profile_models", "triton_launch_mode",
        "triton_server_path", "perf_analyzer_path",
    ),
}  # fmt: skip
_ALL = "help_all"


class _TableCommand(click.Command):
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

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if (record := parameter.get_help_record(ctx)) is not None
        }
        if self._first and not ctx.meta.get(_ALL):
            with formatter.section("Options that most people need"):
                formatter.write_dl([records[key] for key in self._first])
            keys = {option.key for option in self._table}
            with formatter.section("Output"):
                formatter.write_dl([row for key, row in records.items() if key not in keys])
            return
        for group, options in groupby(self._table, lambda option: option.group):
            rows = [records.pop(option.key) for option in options if option.key in records]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)
        with formatter.section("Output"):
            formatter.write_dl(list(records.values()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        if self._first and not ctx.meta.get(_ALL):
            groups = ", ".join(dict.fromkeys(option.group for option in self._table))
            formatter.write_text(
                f"There are {len(self._table)} options, about: {groups}. --help-all lists them,"
                " docs/options.md tells more."
            )
            formatter.write_paragraph()
        formatter.write_text(
            "Each option is a key of the YAML file, and can be given as an environment variable:"
            f" {self._table[0].variable} for {self._table[0].flags[-1]}. The command line counts"
            " before the environment, that before the file."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What the user said: options of the command line and of environment variables, the content of
    the YAML file if there is one, verbosity (-1 quiet, 0, 1 verbose), whether mode offline was
    chosen, and the switches that the command has beside its options, by name.
    """

    command_line: Sequence[Entry]
    environment: Sequence[Entry]
    yaml: Node | None
    verbosity: int
    offline: bool
    switches: Mapping[str, bool]


Run = Callable[[Invocation], int]


def table_command(
    name: str, run: Run, *, help_text: str, switches: Sequence[click.Option] = ()
) -> click.Command:
    """The click command `name` with its options from the table, and `switches` of its own.

    `run` returns the exit status.
    """
    table = options_of(name)
    first = _FIRST.get(name, ())
    parameters: list[click.Parameter] = [_parameter(option) for option in table if option.flags]
    parameters += [
        *switches,
        click.Option(["-q", "--quiet"], is_flag=True, help="Show errors only."),
        click.Option(["-v", "--verbose"], is_flag=True, help="Show every detail."),
    ]
    if first:
        parameters.append(_help_all())
    long_flags = [
        flag[2:] for parameter in parameters for flag in parameter.opts if flag.startswith("--")
    ]

    def callback(quiet: bool, verbose: bool, **values: Any) -> int:
        own = {str(switch.name): bool(values.pop(str(switch.name))) for switch in switches}
        flags = {option.key: option.flags[-1] for option in table if option.flags}
        return run(
            _invocation(
                [
                    Entry(key, flags[key], Node(value, flags[key]))
                    for key, value in values.items()
                    if value is not None
                ],
                verbosity=-1 if quiet else int(verbose),
                switches=own,
            )
        )

    return _TableCommand(
        name,
        params=parameters,
        callback=callback,
        help=help_text,
        table=table,
        first=first,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "token_normalize_func": functools.partial(_complete, [*long_flags, "help"]),
            "max_content_width": 100,
        },
    )


def _invocation(
    command_line: Sequence[Entry], *, verbosity: int, switches: Mapping[str, bool]
) -> Invocation:
    """With what the environment adds, and the file that one of them names."""
    from model_analyzer.config.environment import misspelled, read_environment
    from model_analyzer.config.sources import read_yaml

    for remark in misspelled(os.environ):
        click.echo(f"model-analyzer: warning: {remark}", err=True)
    environment = read_environment(os.environ)
    files = [entry for entry in (*command_line, *environment) if entry.key == "config_file"]
    mode = (click.get_current_context().obj or {}).get("mode")
    return Invocation(
        command_line=command_line,
        environment=environment,
        yaml=read_yaml(Path(files[0].node.text).expanduser()) if files else None,
        verbosity=verbosity,
        offline=mode == "offline",
        switches=switches,
    )


def _help_all() -> click.Option:
    def show(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            ctx.meta[_ALL] = True
            click.echo(ctx.get_help())
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options and exit.",
    )


def _parameter(option: Option) -> click.Option:
    flags = [option.key, *option.flags]
    if isinstance(option.kind, Boolean):
        return click.Option(flags, is_flag=True, default=None, help=option.help)
    default = "" if option.default in (None, (), {}) else f"  [default: {_text(option.default)}]"
    return click.Option(
        flags,
        type=str,
        metavar=option.kind.metavar,
        help=option.help + default,
        shell_complete=functools.partial(complete_option, option),
    )


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

    as_json, dry_run = given.switches["as_json"], given.switches["dry_run"]
    if as_json and not dry_run:
        raise click.UsageError("--json is for --dry-run: give both", click.get_current_context())
    resolved = resolve_profile(
        given.command_line,
        given.yaml,
        Path.cwd(),
        environment=given.environment,
        offline=given.offline,
    )
    if dry_run:
        from model_analyzer.cli import dry_run as dry

        return dry.run(resolved.settings, resolved.remarks, as_json=as_json)
    from model_analyzer.cli.profile import run

    return run(resolved.settings, resolved.remarks, given.verbosity)


def _analyze(given: Invocation) -> int:
    from model_analyzer.config.resolve import resolve_profile

    resolved = resolve_profile(
        given.command_line,
        given.yaml,
        Path.cwd(),
        environment=given.environment,
        command=ANALYZE,
        offline=given.offline,
    )
    from model_analyzer.cli.analyze import run

    return run(resolved.settings, resolved.remarks, given.verbosity)


def _report(given: Invocation) -> int:
    from model_analyzer.config.resolve import resolve_report

    resolved = resolve_report(
        given.command_line,
        given.yaml,
        Path.cwd(),
        environment=given.environment,
        offline=given.offline,
    )
    from model_analyzer.cli.report import run

    return run(resolved.settings, given.verbosity)


def _doctor(given: Invocation) -> int:
    from model_analyzer.cli.doctor import Asked, run
    from model_analyzer.config.origins import origins
    from model_analyzer.config.resolve import resolve_profile
    from model_analyzer.runner.repository import model_names

    resolve = functools.partial(
        resolve_profile,
        yaml=given.yaml,
        cwd=Path.cwd(),
        environment=given.environment,
        command=DOCTOR,
        offline=given.offline,
    )
    resolved = resolve(given.command_line)
    repository = resolved.settings.repository.path
    if repository is not None and not resolved.settings.models:
        names = tuple(Node(name, str(repository)) for name in model_names(repository))
        every = Entry("profile_models", str(repository), Node(names, str(repository)))
        resolved = resolve([*given.command_line, every])
    in_file = given.yaml.entries if given.yaml is not None else ()
    asked = Asked(
        settings=resolved.settings,
        remarks=resolved.remarks,
        given=origins((given.environment, in_file), options_of(DOCTOR), with_defaults=False),
        with_models=not given.switches["no_models"],
    )
    return run(asked, as_json=given.switches["as_json"], verbosity=given.verbosity)


def profile() -> click.Command:
    return table_command(
        PROFILE,
        _profile,
        switches=(
            click.Option(["--dry-run"], is_flag=True, help="Only tell what would be done."),
            click.Option(
                ["--json", "as_json"], is_flag=True, help="Tell it as JSON, for programs."
            ),
        ),
        help_text="""Measure configurations of models and recommend the best.

        \b
        Examples:
          model-analyzer profile -m models --profile-models resnet --latency-budget 50
          model-analyzer profile -f my.yaml --dry-run
          model-analyzer profile -f my.yaml --run-config-search-mode adaptive
        """,
    )


def analyze() -> click.Command:
    return table_command(
        ANALYZE,
        _analyze,
        help_text="""Write tables and reports again from the checkpoint: an old name, see report.

        \b
        Example:
          model-analyzer analyze -f my.yaml
        """,
    )


def report() -> click.Command:
    return table_command(
        "report",
        _report,
        help_text="""Write detailed reports of variants from the checkpoint, without a server.

        \b
        Example:
          model-analyzer report -n resnet_config_4,resnet_config_7 -e reports
        """,
    )


def doctor() -> click.Command:
    return table_command(
        DOCTOR,
        _doctor,
        switches=(
            click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs."),
            click.Option(["--no-models"], is_flag=True, help="Start no server, load no model."),
        ),
        help_text="""Check everything that a run needs, and say how to mend what is missing.

        It takes the options of profile, and checks what they name. The quick checks come first;
        then a server is started, and each model of the run, or of the repository, is loaded and
        answers one request.

        The exit status is 1 if there is a problem, which keeps a run from working; a warning is
        about what makes its numbers worse.

        \b
        Examples:
          model-analyzer doctor
          model-analyzer doctor -f my.yaml
          model-analyzer doctor -m models --no-models --json
        """,
    )
