# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile --dry-run`, at a terminal."""

from __future__ import annotations

import json
import os

from model_analyzer.app.bench.job import Job
from model_analyzer.app.preview import preview
from model_analyzer.cli.echo import echo
from model_analyzer.cli.foreseen import document_of, lines_of
from model_analyzer.config.resolve import Resolved
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.errors import EXIT_OK, ConfigError


def run(resolved: Resolved[ProfileSettings], *, as_json: bool) -> int:
    """Shows what `profile` would do with these settings; the exit status."""
    for remark in resolved.remarks:
        echo(remark, err=True)
    foreseen = preview(Job.of(resolved, os.environ))
    for warning in foreseen.warnings:
        echo(str(warning), err=True)
    if foreseen.problems:
        raise ConfigError(*foreseen.problems)
    if as_json:
        echo(json.dumps(document_of(foreseen.plans, foreseen.idle_s), indent=2))
    else:
        for line in lines_of(foreseen.plans, foreseen.idle_s):
            echo(line)
    return EXIT_OK
