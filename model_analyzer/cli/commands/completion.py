# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer completion`: the script with which a shell completes our command lines."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from model_analyzer.cli.echo import echo
from model_analyzer.cli.program import COMPLETE_VARIABLE
from model_analyzer.errors import EXIT_OK

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
