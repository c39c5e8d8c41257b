# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The border of output: every line that a command prints passes here, or through `cli.console`.

Texts from checkpoints, servers and models may hold escapes, which a terminal would obey.
"""

from __future__ import annotations

import sys

import click

from model_analyzer.domain.secrets import masked_text
from model_analyzer.domain.words import one_line, printable


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Prints `text`, escapes in visible form."""
    click.echo(printable(text), err=err, nl=nl)


def echo_data(content: str | bytes) -> None:
    """Prints what is to be deployed, or read by programs, exactly; on a terminal as `echo` does."""
    if sys.stdout.isatty():
        text = content.decode(errors="replace") if isinstance(content, bytes) else content
        content = printable(text)
    click.echo(content, nl=False)


def styled(text: str, **styles: bool | str) -> str:
    """A text for `echo_styled`, with a style of ours."""
    return click.style(printable(text), **styles)  # type: ignore[arg-type]


def echo_styled(text: str) -> None:
    """Prints what is made of `styled` and printable texts."""
    click.echo(text)


def complain(text: str) -> None:
    """A line about what is wrong, on standard error, without secrets."""
    click.echo(f"model-analyzer: {one_line(masked_text(text))}", err=True)
