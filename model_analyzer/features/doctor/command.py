# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer doctor`: checks what a run needs."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, repeat

import click

from model_analyzer.cli.echo import echo, echo_styled, styled
from model_analyzer.cli.table_command import Invocation, table_command
from model_analyzer.config.table import DOCTOR
from model_analyzer.domain.words import printable, shortened
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED
from model_analyzer.features.doctor.findings import Finding, Level, document_of, verdict

_JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs.")
_NO_MODELS = click.Option(
    ["--no-models"], is_flag=True, help="Do not start a server or load models."
)

_COLOURS = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "red"}
_INDENT = " " * 11
_MOST_COLUMNS = 100
_MOST_DETAILS = 2
_MOST_CHARACTERS = 200

# A blank that is no place to break a line: commands are copied.
_HARD_BLANK = "\u00a0"


@table_command(DOCTOR, _JSON, _NO_MODELS)
def doctor(invocation: Invocation) -> int:
    """Check that everything a run needs is in place, and say how to fix problems.

    It takes the options of profile and checks them. Quick checks come first; then it starts a
    server, loads each model of the run (or of the repository) and sends it one request.

    The exit status is 1 if there is a problem, which would make a run fail. A warning means
    that measurements would be less precise.

    \b
    Examples:
      model-analyzer doctor
      model-analyzer doctor -f my.yaml
      model-analyzer doctor -m models --no-models --json
    """
    from model_analyzer.features.doctor.examination import Examination, examine

    with ExitStack() as stack:
        examination = Examination.of(
            invocation.options,
            os.environ,
            invocation.timings,
            with_models=not invocation.switches["no_models"],
            stack=stack,
        )
        return show(
            examine(examination),
            as_json=invocation.switches["as_json"],
            verbosity=invocation.verbosity,
        )


def show(findings: Iterable[tuple[str, Finding]], *, as_json: bool, verbosity: int) -> int:
    """Shows each finding as soon as it is there; the exit status."""
    shown: list[tuple[str, Finding]] = []
    columns, heading = min(shutil.get_terminal_size().columns, _MOST_COLUMNS), ""
    for subject, finding in findings:
        shown.append((subject, finding))
        if as_json or (verbosity < 0 and finding.level is Level.OK):
            continue
        if subject != heading:
            echo_styled(("\n" if heading else "") + styled(subject, bold=True))
            heading = subject
        for line in lines_of(finding, columns, all_details=verbosity > 0):
            echo_styled(line)
    levels = [finding.level for _, finding in shown]
    if as_json:
        echo(json.dumps(document_of(shown), indent=1))
    else:
        echo(("\n" if heading else "") + verdict(levels))
    return EXIT_RUN_FAILED if Level.PROBLEM in levels else EXIT_OK


def lines_of(finding: Finding, columns: int, *, all_details: bool = False) -> Iterator[str]:
    """The finding in lines of at most `columns`, unless a word or a command is longer.

    Only the last details are shown, as far as they fit, unless `all_details` are wanted.
    """
    level = styled(f"  {finding.level.value:9}", fg=_COLOURS[finding.level])
    first, *more = _wrapped(f"{finding.check}: {finding.found}", columns)
    rest = printable(first.removeprefix(finding.check))
    yield level + styled(finding.check, bold=True) + rest
    yield from (_INDENT + printable(line) for line in more)
    details = finding.details
    if not all_details:
        details = tuple(shortened(detail, _MOST_CHARACTERS) for detail in details[-_MOST_DETAILS:])
    for detail in details:
        yield from (styled(f"{_INDENT}| {line}", dim=True) for line in _wrapped(detail, columns))
    if finding.fix:
        for mark, line in zip(
            chain("→", repeat(" ")), _wrapped(finding.fix, columns - 2), strict=False
        ):
            yield f"{_INDENT}{mark} {printable(line)}"


def _wrapped(text: str, columns: int) -> Sequence[str]:
    """Lines that fit behind the indent. Commands, between backticks, stay in one piece."""
    parts = " ".join(text.split()).split("`")
    held = [
        part.replace(" ", _HARD_BLANK) if index % 2 else part for index, part in enumerate(parts)
    ]
    lines = textwrap.wrap(
        "`".join(held),
        max(columns - len(_INDENT) - 2, 20),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_HARD_BLANK, " ") for line in lines] or [""]
