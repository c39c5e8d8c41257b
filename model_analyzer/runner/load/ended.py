# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A perf_analyzer that has ended: what it left behind, and the failure that it may stand for."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from model_analyzer.domain.measurements import Values
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.reading import read_ends, read_regular
from model_analyzer.runner.load.genai_perf import parse_genai_table
from model_analyzer.runner.load.output import (
    OutputVerdict,
    Report,
    composing_model,
    deciding_lines,
    is_loaded,
    judge,
    parse_composing_table,
    parse_report,
    parse_table,
    requests_failed,
    why_not_loaded,
)
from model_analyzer.runner.load.profile_export import token_metrics
from model_analyzer.runner.process import describe_status
from model_analyzer.runner.server.log import error_lines, hint

log = logging.getLogger(__name__)

TABLE = "results.csv"
OUTPUT = "output.txt"
EXPORT = "export.json"

# What is kept of the output: beginning and end, which tell everything.
_MOST_OUTPUT_BYTES = 8 * 2**20
# Millions of responses; to parse them takes several times as much memory.
_MOST_EXPORT_BYTES = 512 * 2**20
# A line for each load, and there is one; a table for each composing model.
_MOST_TABLE_BYTES = 2**20
_MOST_TABLES = 1000

_UNCOUNTED_HINT = "is each of bls_composing_models called? One that gets no request breaks it"

_HEADLINE = " Perf Analyzer Launched ".center(80, "=")
_GENAI_TABLE = "profile_export_genai_perf.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """One perf_analyzer that has ended, or was stopped: `stopped` says why. `death` tells of a
    process of a model that died meanwhile, if any did.

    `tokens` holds the metrics of a language model. A server that was `embedded` in it has
    written into the same output.
    """

    command: str
    status: int
    output: str
    table: Values | None
    tokens: Values | None
    composing: Mapping[str, Values]
    embedded: bool
    stopped: FailureReason | None
    death: str

    @property
    def verdict(self) -> OutputVerdict:
        return judge(self.status, self.output, has_table=self.table is not None)

    @property
    def transcript(self) -> str:
        """Command and output, under the headline by which scripts find them."""
        return f"{_HEADLINE}\nCommand: {self.command}\n\n{self.output}"

    @property
    def report(self) -> Report:
        return parse_report(self.output)


def collect(
    directory: Path,
    command: str,
    status: int | None,
    *,
    embedded: bool,
    stopped: FailureReason | None,
    death: str,
) -> Ended:
    """What a perf_analyzer left in the directory in which it ran; of what it printed, the
    beginning and the end.
    """
    table = directory / TABLE
    composing = {}
    for path in islice(directory.glob(f"*_v*.{TABLE}"), _MOST_TABLES):
        model = composing_model(path.name, TABLE)
        values = parse_composing_table(_text(path, _MOST_TABLE_BYTES))
        if model is not None and values:
            composing[model] = values
    return Ended(
        command=command,
        status=137 if status is None else status,
        output=read_ends(directory / OUTPUT, most_bytes=_MOST_OUTPUT_BYTES),
        table=parse_table(_text(table, _MOST_TABLE_BYTES)) if table.exists() else None,
        tokens=_tokens(directory),
        composing=dict(sorted(composing.items())),
        embedded=embedded,
        stopped=stopped,
        death=death,
    )


def _tokens(directory: Path) -> Values | None:
    export = directory / EXPORT
    if export.exists():
        return token_metrics(_text(export, _MOST_EXPORT_BYTES))
    for path in directory.glob(f"*/{_GENAI_TABLE}"):
        return parse_genai_table(_text(path, _MOST_TABLE_BYTES))
    return None


def _text(path: Path, most_bytes: int) -> str:
    """The content of a file; nothing of what is no regular file, or larger than that."""
    try:
        return read_regular(path, most_bytes=most_bytes).decode(errors="replace")
    except OSError as error:
        log.warning("%s of perf_analyzer: %s", path.name, error.strerror)
        return ""


def failure_of(name: str, one: Ended) -> Failure:
    """Why there is no measurement of the variant `name`, from what is known of one that failed."""
    lines = deciding_lines(one.output)
    if one.embedded and not is_loaded(one.output):
        return _not_loaded(name, one)
    if one.status > 128 or one.status < 0:
        return Failure(
            reason=FailureReason.LOAD_GENERATOR_DIED,
            message=f"perf_analyzer was {describe_status(one.status)} while it measured {name}",
            log=lines,
        )
    if one.status == 0 and not requests_failed(one.output):
        return Failure(
            reason=FailureReason.NO_RESULT,
            message=f"perf_analyzer ended without a result for {name}",
            log=lines,
            hint="a latency-threshold that the load exceeds gives none",
        )
    reason = (*lines, describe_status(one.status))[0]
    return Failure(
        reason=FailureReason.REQUEST_FAILED,
        message=f"{name}: perf_analyzer failed: {reason}",
        log=lines,
        hint=_UNCOUNTED_HINT if one.verdict is OutputVerdict.UNCOUNTED else "",
    )


def no_tokens(name: str, one: Ended) -> Failure:
    """The export of the responses is empty, although the measurement itself succeeded."""
    return Failure(
        reason=FailureReason.NO_RESULT,
        message=f"{name}: perf_analyzer exported no responses, so no token can be timed",
        log=deciding_lines(one.output),
        hint="random numbers may be what it cannot export: give input-data in perf_analyzer_flags",
    )


def _not_loaded(name: str, one: Ended) -> Failure:
    lines = error_lines(one.output.splitlines())
    reason = why_not_loaded(one.output) or (lines or (describe_status(one.status),))[0]
    return Failure(
        reason=FailureReason.MODEL_NOT_LOADED,
        message=f"{name} did not load: {reason[:300]}",
        log=lines,
        hint=hint(reason, *lines),
    )
