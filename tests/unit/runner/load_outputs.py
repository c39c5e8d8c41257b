# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a perf_analyzer may leave behind, right and damaged, and what must hold for all of it.

Shared by the tests, which try some dozens, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure
from model_analyzer.noise.laws import judged
from model_analyzer.runner.load.ended import (
    EXPORT,
    OUTPUT,
    TABLE,
    Ended,
    collect,
    failure_of,
    no_tokens,
)
from model_analyzer.runner.load.output import OutputVerdict
from model_analyzer.runner.load.sampling import sampled
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.format.codec import Encoder, encode
from model_analyzer.state.format.header import Header
from model_analyzer.state.records import Records
from tests.damaged_texts import damaged
from tests.unit.config.configurations import mutated_trees
from tests.unit.state.samples import trial

GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer"
GENAI_TABLE = "artifacts/profile_export_genai_perf.csv"


def _golden(pattern: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob(pattern))]


_NUMBERS = (
    "0", "-1", "1e999", "-inf", "nan", "9" * 400, "1_0", "\u0661", "0x10", "", " ", "1.2.3", ".",
    "1e5", "1e-400",
)  # fmt: skip
_PIECES = st.sampled_from(
    [*_NUMBERS, ",", "\n", "\r", '"', ",,,,", "\0", "\x1b[2J", "\udcff", "ü", "Inferences/Second",
     "Request count: ", "Pass [1] throughput: ", " infer/sec", "Thread [0] had error: ",
     "Thread [0] had error: failed", "Please use a larger time window", "Usage: ", "error",
     "Failed to obtain stable measurement", "failed to find the requested model version",
     "*** Measurement Settings ***", "failed to load 'm' version 1: Internal: ", "x" * 9000],
)  # fmt: skip
_JSON_PIECES = st.sampled_from(
    [*_NUMBERS, "{", "}", "[", "]", ",", ":", '"', "null", "true", '"num_output_tokens":true',
     '"return_num_output_tokens":true', '"return_num_output_tokens":1', "[" * 2000, "{}", "[]"],
)  # fmt: skip
_EXPORTS = [json.loads(text) for text in _golden("*.json")]
_TABLES = damaged(st.sampled_from(_golden("*.csv")), _PIECES, least=0)
_EXPORT_TEXTS = st.one_of(
    damaged(st.sampled_from(_golden("*.json")), _JSON_PIECES, least=0),
    mutated_trees(st.sampled_from(_EXPORTS)).map(json.dumps),
    mutated_trees(
        st.sampled_from([export["experiments"][0]["requests"][0] for export in _EXPORTS])
    ).map(
        lambda request: json.dumps(
            {"experiments": [{"requests": [request], "window_boundaries": [0, 2**62]}]}
        )
    ),
)

# How it ended, what it printed, and the files that it wrote: name to text.
OUTPUTS = st.fixed_dictionaries(
    {
        "status": st.sampled_from([0, 1, 2, 3, 99, 128, 134, 137, 139, 255, -9, None]),
        "text": damaged(st.sampled_from(_golden("*.txt")), _PIECES, least=0),
        "files": st.fixed_dictionaries(
            {},
            optional={
                TABLE: _TABLES,
                f"part_v1.{TABLE}": _TABLES,
                f"x_v{TABLE}": _TABLES,
                f"a b\n_v1.{TABLE}": _TABLES,
                EXPORT: _EXPORT_TEXTS,
                GENAI_TABLE: _TABLES,
            },
        ),
        "embedded": st.booleans(),
    }
)


def is_measured_or_failed(example: Mapping[str, Any]) -> None:
    """It gives a measurement of finite values, or a failure in a sentence; either can be written to
    a checkpoint and read again.
    """
    with TemporaryDirectory() as name:
        directory = Path(name)
        for file, text in {OUTPUT: example["text"], **example["files"]}.items():
            path = directory / file
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        ended = collect(
            directory,
            "perf_analyzer",
            example["status"],
            embedded=example["embedded"],
            stopped=None,
            death="",
        )
    assert ended.transcript
    for values in (ended.table, ended.tokens, *ended.composing.values()):
        assert_that_these_are_values(values or {})
    assert math.isfinite(ended.report.spread)
    survives(failure_of("m", ended))
    survives(no_tokens("m", ended))
    if ended.verdict is OutputVerdict.DONE:
        survives(_measurement(ended))
        if ended.export is not None:
            model = sampled(ended.export, in_flight=2, batch_size=1, with_tokens=True)
            assert_that_these_are_values({} if model is None else model.values)
            survives(_measurement(ended) if model is None else Measurement(models=(model,)))


def assert_that_these_are_values(values: Mapping[str, float]) -> None:
    for tag, value in values.items():
        assert tag in METRICS
        assert type(value) is float or type(value) is int
        assert math.isfinite(value), f"{tag}: {value}"


def _measurement(ended: Ended) -> Measurement:
    model = ModelMeasurement(
        values={**(ended.table or {}), **(ended.tokens or {})},
        requests=ended.report.requests,
        windows=ended.report.windows,
        composing=ended.composing,
    )
    return Measurement(models=(model,))


def survives(outcome: Outcome) -> None:
    """What the runner makes of it is the same after it was in a checkpoint."""
    of = trial(1)
    outcome = judged(of, outcome)
    if isinstance(outcome, Failure):
        assert outcome.message.strip()
        assert all(len(line) <= 1000 for line in (outcome.message, *outcome.log))
    records, encoder = Records(), Encoder()
    for entry in encoder.record(of.key, TrialRecord(of, outcome)):
        records.take(entry, encode(entry))
    read = Checkpoint.from_bytes(Checkpoint(header=Header(), records=records).to_bytes())
    assert not read.damage
    assert [record.outcome for record in read.records] == [outcome]
