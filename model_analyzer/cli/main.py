# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Parse, dispatch, catch, exit."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module

import click

from model_analyzer import __version__
from model_analyzer.errors import (
    EXIT_OK,
    EXIT_RUN_FAILED,
    EXIT_USAGE,
    ConfigError,
    ModelAnalyzerError,
)

# command -> (module with a function of that name that makes it, its line in the help)
_COMMANDS: Mapping[str, tuple[str, str]] = {
    "profile": ("commands", "Measure configurations and recommend the best."),
    "analyze": ("commands", "Old name: tables and reports again from the checkpoint."),
    "report": ("commands", "Write detailed reports of variants, without a server."),
    "best": ("best", "Print the recommended configuration, to be deployed."),
    "checkpoint": ("checkpoint.commands", "Look at what was measured, and use it elsewhere."),
    "compare": ("compare", "Tell what changed between two checkpoints, or fail if it got worse."),
    "config": ("config", "Check YAML files, or describe them to an editor."),
    "init": ("init", "Write a starter directory: example models and a configuration."),
    "doctor": ("doctor", "Check everything that a run needs."),
    "runtime": ("runtime", "Install, show or remove a tritonserver and perf_analyzer."),
}


class _Commands(click.Group):
    """Imports a command at the moment it is used, so that --help is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = import_module(f"model_analyzer.cli.{_COMMANDS[name][0]}")
        command: click.Command = getattr(module, name)()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            nearest = get_close_matches(args[0], _COMMANDS, n=1)
            hint = f", did you mean '{nearest[0]}'?" if nearest else ""
            raise click.UsageError(f"no command '{args[0]}'{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


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
    help="What reports are about: latency under load, or throughput over batch size.",
)
@click.pass_context
def program(ctx: click.Context, mode: str) -> None:
    """Finds the configuration of a Triton model worth deploying, by measuring."""
    ctx.obj = {"mode": mode}
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Runs the program; the only place that turns errors into messages and exit statuses."""
    try:
        status = program.main(standalone_mode=False, prog_name="model-analyzer")
    except click.ClickException as error:
        error.show()
        status = EXIT_USAGE
    except click.exceptions.Abort:
        _say("stopped")
        status = EXIT_RUN_FAILED
    except ConfigError as error:
        for problem in error.problems:
            _say(str(problem))
        status = error.exit_status
    except ModelAnalyzerError as error:
        _say(str(error))
        status = error.exit_status
    except FileNotFoundError as error:
        if error.filename is not None:
            raise
        _say("the current directory does not exist any more: change to another")
        status = EXIT_USAGE
    except KeyboardInterrupt:
        _say("interrupted")
        status = EXIT_RUN_FAILED
    except BrokenPipeError:
        # whoever read our output has gone: say nothing more, also not at shutdown
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = EXIT_RUN_FAILED
    sys.exit(status if isinstance(status, int) else EXIT_OK)


def _say(text: str) -> None:
    click.echo(f"model-analyzer: {text}", err=True)
