# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer checkpoint`: the group and its commands."""

from __future__ import annotations

import click

from model_analyzer.cli.commands.checkpoint.files import (
    download,
    export,
    import_,
    merge,
    metadata,
    stats,
    upload,
    verify,
)
from model_analyzer.cli.commands.checkpoint.shown import best, list_, show, trials

_COMMANDS = (
    list_, show, trials, best, metadata, verify, stats, merge, import_, export, download, upload,
)  # fmt: skip


class _InOrder(click.Group):
    """Lists its commands in the order in which people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group("checkpoint", cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"]})
def checkpoint() -> None:
    """Show, check, export and merge checkpoints.

    CHECKPOINT is a number, a uuid or the beginning of a uuid, the path of a file, `best` or
    `latest`. The default, `latest`, means all results of the directory.

    \b
    Example:
      model-analyzer checkpoint list -s start/checkpoints
    """


for _command in _COMMANDS:
    checkpoint.add_command(_command)
