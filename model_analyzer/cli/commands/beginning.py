# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer init` and `completion`: a starter directory that works as it is, and the script
with which a shell completes our command lines.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from model_analyzer.cli.echo import echo
from model_analyzer.cli.program import COMPLETE_VARIABLE
from model_analyzer.errors import EXIT_OK


@click.command("init", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", type=click.Path(path_type=Path))
def init(directory: Path) -> int:
    """Write example models and a commented configuration into a new DIRECTORY.

    Nothing is overwritten: the directory must be new or empty.

    \b
    Example:
      model-analyzer init start && model-analyzer profile -f start/config.yaml
    """
    from model_analyzer.app.starter import write_starter

    config = write_starter(directory)
    echo(f"Wrote {directory}. Next: model-analyzer profile -f {shlex.quote(str(config))}")
    return EXIT_OK


PROGRAM = "model-analyzer"


@click.command("completion", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the script that completes commands, options and values in a shell.

    Completed values are choices, paths, models of the repository, checkpoints and variants.

    \b
    Examples:
      model-analyzer completion bash > ~/.local/share/bash-completion/completions/model-analyzer
      model-analyzer completion zsh > ~/.zfunc/_model-analyzer      # fpath+=~/.zfunc in .zshrc
      model-analyzer completion fish > ~/.config/fish/completions/model-analyzer.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click completes each of these shells"
    echo(kind(ctx.find_root().command, {}, PROGRAM, COMPLETE_VARIABLE).source())
    return EXIT_OK
