# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Parse, dispatch, catch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from model_analyzer import __version__
from model_analyzer.cli.echo import complain, echo
from model_analyzer.domain.secrets import masked_text
from model_analyzer.domain.words import printable
from model_analyzer.errors import EXIT_OK, EXIT_USAGE, ConfigError, ModelAnalyzerError

if TYPE_CHECKING:
    from model_analyzer.runner.timings import Timings

COMPLETE_VARIABLE = "_MODEL_ANALYZER_COMPLETE"  # the name that click expects

# where the module of a command is: in the core, or beside it
_CORE = "model_analyzer.cli.commands.{}"
_FEATURE = "model_analyzer.features.{}.command"
_PROOF, _TRACKING = _FEATURE.format("proof"), _FEATURE.format("tracking")
_BEGINNING, _REPORT = _CORE.format("beginning"), _CORE.format("report")

# heading -> command -> its module and its line in the help
_SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Measure": {
        "profile": (_CORE, "Measure configurations and recommend the best one."),
    },
    "Use results": {
        "report": (_CORE, "Write detailed reports of variants, without a server."),
        "best": (_CORE, "Print the recommended configuration for deployment."),
        "predict": (
            _FEATURE.format("prediction"),
            "Predict throughput and latency from runs of similar models.",
        ),
        "capacity": (_FEATURE, "Say how many replicas serve a rate."),
        "explain": (_FEATURE, "Say why requests are slow."),
        "endure": (_PROOF, "Keep a configuration under its load, and say whether it holds."),
        "watch": (_FEATURE, "Say whether running servers are as promised."),
        "checkpoint": (_CORE, "Show, check, export and merge checkpoints."),
        "compare": (_FEATURE, "Compare two checkpoints; fail if results got worse."),
        "track": (_TRACKING, "Send measurements and answers to MLflow or Weights & Biases."),
        "analyze": (_REPORT, "Legacy command: write tables and reports from the checkpoint."),
    },
    "Set up": {
        "init": (_BEGINNING, "Write a starter directory: example models and a configuration."),
        "doctor": (_FEATURE, "Check that everything a run needs is in place."),
        "config": (_CORE, "Check YAML files, show option values, print the JSON Schema."),
        "cluster": (_FEATURE, "Prepare runs on several machines: check nodes, print manifests."),
        "runtime": (_CORE, "Install, show, start or remove a tritonserver and perf_analyzer."),
        "mcp": (
            _FEATURE.format("agents"),
            "Let an agent measure, in directories and a time you name.",
        ),
        "completion": (_BEGINNING, "Print a shell completion script."),
    },
}
_COMMANDS = {name: listed for section in _SECTIONS.values() for name, listed in section.items()}

_EPILOG = """\
\b
Examples:
  model-analyzer init start && model-analyzer profile -f start/config.yaml
  model-analyzer profile -m models --profile-models resnet --latency-budget 50
  model-analyzer COMMAND --help

\b
Exit status:
  0  success
  1  the command failed or was interrupted
  2  an option is wrong, or the file, directory, model or checkpoint that it names
  3  compare --fail-on: results got worse; watch: something is not as promised

Each option of profile and report can be given as an environment variable, too:
MODEL_ANALYZER_CHECKPOINT_DIRECTORY for --checkpoint-directory.
"""


class _Commands(click.Group):
    """Imports a command at the moment it is used, so that --help is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        place, _ = _COMMANDS[name]
        command: click.Command = getattr(import_module(place.format(name)), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            nearest = get_close_matches(args[0], _COMMANDS, n=1)
            hint = f", did you mean '{nearest[0]}'?" if nearest else ""
            hint = ": --help lists all" if args[0] == "help" else hint
            raise click.UsageError(f"no command '{args[0]}'{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                rows = [(name.ljust(width), text) for name, (_, text) in commands.items()]
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text(_EPILOG)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=text)
            for name, (_, text) in _COMMANDS.items()
            if name.startswith(incomplete)
        ]


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(version)s")
@click.option(
    "-m",
    "--mode",
    type=click.Choice(["online", "offline"]),
    default="online",
    help="Topic of the reports: online for latency under load, offline for throughput by batch"
    " size.",
)
@click.pass_context
def program(ctx: click.Context, mode: str) -> None:
    """Find the best configuration of a Triton model by measuring it."""
    ctx.obj = {"mode": mode, "timings": ctx.obj}
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())


def run(timings: Timings | None = None) -> int:
    """Runs the program; the only place that turns errors into messages and exit statuses."""
    if COMPLETE_VARIABLE in os.environ:
        from model_analyzer.cli.complete import prepare

        prepare()
    try:
        status = program.main(standalone_mode=False, prog_name="model-analyzer", obj=timings)
    except click.ClickException as error:
        _show(error)
        status = EXIT_USAGE
    except click.exceptions.Abort as error:  # click's word for an interrupt
        raise KeyboardInterrupt from error
    except ConfigError as error:
        for problem in error.problems:
            complain(str(problem))
        status = error.exit_status
    except ModelAnalyzerError as error:
        complain(str(error))
        status = error.exit_status
    except FileNotFoundError as error:
        if error.filename is not None:
            raise
        complain("the current directory no longer exists: change to another directory")
        status = EXIT_USAGE
    return status if isinstance(status, int) else EXIT_OK


def _show(error: click.ClickException) -> None:
    """What click says about a wrong command line, which may hold anything."""
    text = StringIO()
    error.show(file=text)
    click.echo(printable(masked_text(text.getvalue())), err=True, nl=False)
