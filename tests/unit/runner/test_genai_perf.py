# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""genai-perf's command line and table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.trials import Load, LoadKind, Workload
from model_analyzer.domain.windows import Window
from model_analyzer.runner.load.genai_perf import build_genai_command, parse_genai_table

GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer" / "genai_perf.csv"


def command(load: Load, flags: dict[str, Any] | None = None) -> list[str]:
    variant = ModelVariant(
        model="m",
        name="m_config_0",
        config={"model_transaction_policy": {"decoupled": True}},
        files="f",
    )
    work = Workload(
        variant=variant,
        load=load,
        flags=flags or {},
        times_tokens=True,
        genai_perf={
            "backend": "vllm",
            "tokenizer": "/tok",
            "streaming": "true",
            "url": "elsewhere",
            "model": "other",
            "output-tokens-mean": "128",
            "output-tokens-mean-deterministic": "true",
            "verbose": "false",
            "extra-inputs": ("a:1", "b:2"),
        },
    )
    return build_genai_command(
        Path("/bin/genai-perf"),
        work,
        reached_by={"url": "127.0.0.1:9001", "protocol": "grpc"},
        table="results.csv",
        window=Window.of(work.flags),
        user_directory=Path("/home/user"),
    )


def test_the_load_is_reported_to_genai_perf_and_the_table_to_perf_analyzer() -> None:
    assert command(Load(value=4)) == [
        "/bin/genai-perf", "profile", "-m", "m", "-u", "127.0.0.1:9001", "--backend", "vllm",
        "--tokenizer", "/tok", "--output-tokens-mean", "128",
        "--output-tokens-mean-deterministic", "--extra-inputs", "a:1", "--extra-inputs", "b:2",
        "--streaming", "--concurrency", "4",
        "--measurement-interval", "5000", "--artifact-dir", ".",
        "--", "-f", "results.csv", "-v", "--verbose-csv",
    ]  # fmt: skip


def test_flags_that_genai_perf_decides_do_not_reach_perf_analyzer() -> None:
    words = command(
        Load(kind=LoadKind.REQUEST_RATE, value=3),
        {"input-data": "mine.json", "measurement-interval": "700", "max-threads": "2"},
    )

    assert words[words.index("--request-rate") + 1] == "3"
    assert words[words.index("--measurement-interval") + 1] == "700"
    passed = words[words.index("--") + 1 :]
    assert passed == ["-f", "results.csv", "-v", "--verbose-csv", "--max-threads", "2"]


def test_a_recorded_table_is_read_in_milliseconds() -> None:
    values = parse_genai_table(GOLDEN.read_text())

    assert values is not None
    assert values["time_to_first_token_avg"] == 41.26
    assert values["inter_token_latency_p25"] == 6.70
    assert values["output_token_throughput"] == 219.07
    assert len(values) == 19  # no p10, p5, p1: nobody asks for them


@pytest.mark.parametrize(
    ("unit", "shown"), [("ns", '"41,260,000.0"'), ("us", "41260"), ("ms", "41.26")]
)
def test_the_unit_is_that_of_the_heading(unit: str, shown: str) -> None:
    text = (
        f"Metric,avg,min\nTime To First Token ({unit}),{shown},N/A\n\n"
        "Metric,Value\nOutput Token Throughput (per sec),12\n"
    )

    values = parse_genai_table(text)

    assert values == {"time_to_first_token_avg": 41.26, "output_token_throughput": 12}


def test_a_table_without_token_metrics_has_none() -> None:
    assert parse_genai_table("Metric,avg\nRequest Latency (ms),1\n") is None
    assert parse_genai_table("") is None
