# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Asks at the terminal, where there is one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from model_analyzer.domain.printable import one_line


class Terminal:
    """`app.ports.Questions` for a person, on standard error."""

    def confirm(self, text: str) -> bool:
        return not sys.stdin.isatty() or click.confirm(one_line(text), err=True)

    def choose(self, text: str, choices: Sequence[str], default: str) -> str | None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        *context, question = text.splitlines()
        shown = "\n".join([one_line("\n".join(context)), question] if context else [question])
        answer: str = click.prompt(shown, type=click.Choice(choices), default=default, err=True)
        return answer
