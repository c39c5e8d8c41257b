# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer doctor`, at a terminal."""

from __future__ import annotations

import json

from model_analyzer.app.doctor import Asked, examine
from model_analyzer.cli.echo import echo, echo_styled, styled
from model_analyzer.cli.findings import columns_here, document_of, lines_of, verdict
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED
from model_analyzer.runner.checks.finding import Finding, Level


def run(asked: Asked, *, as_json: bool, verbosity: int) -> int:
    """Shows each finding as soon as it is known; the exit status."""
    findings: list[tuple[str, Finding]] = []
    columns, shown = columns_here(), ""
    for subject, finding in examine(asked):
        findings.append((subject, finding))
        if as_json or (verbosity < 0 and finding.level is Level.OK):
            continue
        if subject != shown:
            echo_styled(("\n" if shown else "") + styled(subject, bold=True))
            shown = subject
        for line in lines_of(finding, columns, all_details=verbosity > 0):
            echo_styled(line)
    if as_json:
        echo(json.dumps(document_of(findings), indent=1))
    else:
        echo(("\n" if shown else "") + verdict(findings))
    has_problem = any(finding.level is Level.PROBLEM for _, finding in findings)
    return EXIT_RUN_FAILED if has_problem else EXIT_OK
