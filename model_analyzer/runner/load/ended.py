# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a perf_analyzer that has ended, or its failure."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from model_analyzer.domain.measurements import Values
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.domain.words import counted
from model_analyzer.reading.untrusted import open_text, read_ends, read_regular
from model_analyzer.runner.client.interface import RESTRICTED
from model_analyzer.runner.load.command import parse_genai_table
from model_analyzer.runner.load.output import (
    OVERTAKEN,
    OutputVerdict,
    Report,
    composing_model,
    deciding_lines,
    is_loaded,
    judge,
    last_lines,
    of_all_versions,
    parse_composing_table,
    parse_counted,
    parse_report,
    parse_table,
    refuses_data,
    request_error,
    requests_failed,
    why_not_loaded,
)
from model_analyzer.runner.load.profile_export import Export, read_export
from model_analyzer.runner.load.sampling import token_metrics
from model_analyzer.runner.process import describe_status
from model_analyzer.runner.server.log import error_lines, hint

log = logging.getLogger(__name__)

TABLE = "results.csv"
OUTPUT = "output.txt"
EXPORT = "export.json"

# The size of the stored output: its beginning and its end are enough.
_MOST_OUTPUT_BYTES = 8 * 2**20
# Enough for millions of responses.
_MOST_EXPORT_BYTES = 512 * 2**20
_BLOCK_CHARACTERS = 2**18
# A table has one line for each load, here one; each version of a composing model has a table.
_MOST_TABLE_BYTES = 2**20
_MOST_TABLES = 1000

_UNCOUNTED_HINT = "check that each of bls_composing_models gets requests; remove the others"
_REQUEST_HINT = (
    "the model answered a request with this error, and perf_analyzer stops at the first one:"
    " correct the model, or give input-data that it accepts in perf_analyzer_flags"
)
_DATA_HINT = (
    "the input-data does not fit the model: `model-analyzer config validate` names input and"
    " element, except in files of more than 256 MiB"
)
# Words in the error of a request that the server refused, what happened, and what to do.
_REFUSALS = (
    (
        "Exceeds maximum queue size",
        "the server refused a request, since its queue was full",
        "raise max_queue_size in the model's queue policy, give it more instances, or use a lower"
        " load",
    ),
    (
        "Request timeout expired",
        "a request waited longer in the queue than it may",
        "raise default_timeout_microseconds in the model's queue policy above 600000, since Triton"
        " may look at such a queue half a second late even under a low load; or give the model more"
        " instances, or use a lower load",
    ),
    (
        OVERTAKEN,
        "the server dropped a sequence, which may have waited too long for a slot",
        "raise max_sequence_idle_microseconds in the model's sequence_batching (1 s by default),"
        " give it more slots (instances, max_batch_size), or use a lower load",
    ),
    (
        RESTRICTED,
        "the server refused a call of perf_analyzer, which needs a header",
        "give the header that it names in perf_analyzer_flags: {http-header: 'NAME: VALUE'}; gRPC"
        " and HTTP have different names",
    ),
    (
        "OpenAI response returns HTTP code",
        "the server refused a request, or broke it off (which perf_analyzer calls code 400)",
        "send a payload of input-data to the server with curl: its answer says more",
    ),
)
_OUTPUT_HINT = "--perf-output shows all that perf_analyzer says"

_HEADLINE = " Perf Analyzer Launched ".center(80, "=")
_GENAI_TABLE = "profile_export_genai_perf.csv"


@dataclass(frozen=True, slots=True)
class Stop:
    """Why we stop a perf_analyzer: `message` and `hint` are those of the failure."""

    reason: FailureReason
    message: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A perf_analyzer that has ended. `stopped` is the reason if we stopped it. `death` is a text
    about a process of a model that died meanwhile, or "".

    `export` has the times of all its requests, if perf_analyzer exported them, and `export_bytes`
    is the size of the file. `genai` has the metrics of genai-perf. If a server was `embedded`, the
    output also contains its log. The server drops a sequence that is silent for `idle_s`.
    """

    command: str
    status: int
    output: str
    table: Values | None
    export: Export | None
    export_bytes: int
    genai: Values | None
    composing: Mapping[str, Values]
    embedded: bool
    stopped: Stop | None
    death: str
    idle_s: float = 0.0

    @property
    def verdict(self) -> OutputVerdict:
        of_windows_ms = max(self.report.latencies, default=math.inf) / 1000
        latency_ms = (self.table or {}).get("perf_latency_p99", of_windows_ms)
        return judge(
            self.status,
            self.output,
            has_table=self.table is not None,
            is_quick=latency_ms < 1000 * self.idle_s / 2,
        )

    @property
    def transcript(self) -> str:
        """Command and output, under the headline that scripts look for."""
        return f"{_HEADLINE}\nCommand: {self.command}\n\n{self.output}"

    @property
    def report(self) -> Report:
        return parse_report(self.output)

    @property
    def has_tokens(self) -> bool:
        """Whether perf_analyzer or genai-perf told when responses came."""
        return self.export is not None or self.genai is not None

    @property
    def tokens(self) -> Values | None:
        """The token metrics of a language model in the windows that perf_analyzer reports."""
        if self.export is None:
            return self.genai
        return token_metrics(self.export, *self.export.reported)


def collect(
    directory: Path,
    command: str,
    status: int | None,
    *,
    embedded: bool,
    stopped: Stop | None,
    death: str,
    idle_s: float = 0.0,
    is_openai: bool = False,
) -> Ended:
    """The results of a perf_analyzer in its working directory, with the beginning and the end of
    its output.
    """
    table, export = directory / TABLE, directory / EXPORT
    versions: dict[str, list[Values]] = {}  # of each composing model
    for path in sorted(islice(directory.glob(f"*_v*.{TABLE}"), _MOST_TABLES)):
        model = composing_model(path.name, TABLE)
        values = parse_composing_table(_text(path, _MOST_TABLE_BYTES))
        if model is not None and values:
            versions.setdefault(model, []).append(values)
    output = read_ends(directory / OUTPUT, most_bytes=_MOST_OUTPUT_BYTES)
    rows = _text(table, _MOST_TABLE_BYTES) if table.exists() else ""
    return Ended(
        command=command,
        status=137 if status is None else status,
        output=output,
        table=parse_table(rows),
        export=read_export(_blocks(export), parse_counted(rows, output), is_openai=is_openai),
        export_bytes=export.stat().st_size if export.is_file() else 0,
        genai=_genai(directory),
        composing={name: of_all_versions(versions[name]) for name in sorted(versions)},
        embedded=embedded,
        stopped=stopped,
        death=death,
        idle_s=idle_s,
    )


def _blocks(path: Path) -> Iterator[str]:
    """The text of a file, if there is one and it is not too large."""
    if not path.exists():
        return
    try:
        with open_text(path, most_bytes=_MOST_EXPORT_BYTES) as text:
            while block := text.read(_BLOCK_CHARACTERS):
                yield block
    except OSError as error:
        _warn(path, error)


def _warn(path: Path, error: OSError) -> None:
    log.warning("%s of perf_analyzer: %s", path.name, error.strerror)


def _genai(directory: Path) -> Values | None:
    for path in directory.glob(f"*/{_GENAI_TABLE}"):
        return parse_genai_table(_text(path, _MOST_TABLE_BYTES))
    return None


def _text(path: Path, most_bytes: int) -> str:
    return _content(path, most_bytes).decode(errors="replace")


def _content(path: Path, most_bytes: int) -> bytes:
    """The content of a file; nothing if it is not a regular file or larger than `most_bytes`."""
    try:
        return read_regular(path, most_bytes=most_bytes)
    except OSError as error:
        _warn(path, error)
        return b""


def failure_of(name: str, ended: Ended) -> Failure:
    """The failure of the variant `name`, from the perf_analyzer that failed."""
    lines = deciding_lines(ended.output) or last_lines(ended.output)
    if ended.embedded and not is_loaded(ended.output):
        return _not_loaded(name, ended)
    if ended.status > 128 or ended.status < 0:
        return Failure(
            reason=FailureReason.LOAD_GENERATOR_DIED,
            message=f"perf_analyzer was {describe_status(ended.status)} while it measured {name}",
            log=lines,
            hint="`dmesg` shows if memory ran out",
        )
    if ended.status == 0 and not requests_failed(ended.output):
        return Failure(
            reason=FailureReason.NO_RESULT,
            message=f"perf_analyzer ended without a result for {name}",
            log=lines,
            hint="if perf_analyzer_flags has a latency-threshold, the load may exceed it: raise it",
        )
    reason = (*deciding_lines(ended.output), "")[0]
    if not reason:
        reason = describe_status(ended.status)
        reason += f"; its last words: {' / '.join(lines)}" if lines else ""
    what, advice = "perf_analyzer failed", _OUTPUT_HINT
    if ended.verdict is OutputVerdict.UNCOUNTED:
        advice = _UNCOUNTED_HINT
    elif requests_failed(ended.output):
        reason = request_error(reason)
        what, advice = _refusal(reason) or ("a request failed", hint(*lines) or _REQUEST_HINT)
    else:
        usual = _DATA_HINT if refuses_data(ended.output) else _OUTPUT_HINT
        what, advice = _refusal(reason) or (what, hint(*lines) or usual)
    return Failure(
        reason=FailureReason.REQUEST_FAILED,
        message=f"{name}: {what}: {reason}",
        log=lines,
        hint=advice,
    )


def _refusal(error: str) -> tuple[str, str] | None:
    """What happened to a call that the server refused, and what to do; None for others."""
    return next(((what, advice) for words, what, advice in _REFUSALS if words in error), None)


def without_responses(name: str, answered: int, ended: Ended) -> Failure:
    """The failure of a model that streams nothing: perf_analyzer counts no such request."""
    return Failure(
        reason=FailureReason.NO_REQUESTS,
        message=f"{name}: the model ended {counted(answered, 'request')} without a single response,"
        " and perf_analyzer counts only requests with one",
        log=deciding_lines(ended.output),
        hint="measure with input-data to which it responds (perf_analyzer_flags)",
    )


def failed_answers(name: str, errors: Sequence[str]) -> Failure:
    """The failure of a server that ended answers with an error, which perf_analyzer counts as
    successes.
    """
    return Failure(
        reason=FailureReason.REQUEST_FAILED,
        message=f"{name}: {counted(len(errors), 'answer')} failed: {errors[0]}",
        log=tuple(dict.fromkeys(errors))[:8],
        hint="the log of the server says why; use a lower load if it has too much to do",
    )


def no_tokens(name: str, ended: Ended) -> Failure:
    """The failure of a run that succeeded, but exported no responses."""
    return Failure(
        reason=FailureReason.NO_RESULT,
        message=f"{name}: perf_analyzer exported no responses, so there are no token metrics",
        log=deciding_lines(ended.output),
        hint="it may not be able to export random input: give input-data in perf_analyzer_flags",
    )


def _not_loaded(name: str, ended: Ended) -> Failure:
    lines = error_lines(ended.output.splitlines())
    reason = why_not_loaded(ended.output) or (lines or (describe_status(ended.status),))[0]
    return Failure(
        reason=FailureReason.MODEL_NOT_LOADED,
        message=f"{name} did not load: {reason[:300]}",
        log=lines,
        hint=hint(reason, *lines) or "--perf-output shows all that the server says",
    )
