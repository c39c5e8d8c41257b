# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every place that shows an answer shows the same one, with what the run was for in front."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from model_analyzer.domain.metrics import METRICS
from tests.cli.test_kinds import write_ensemble

Run = Callable[..., tuple[int, str, str]]


class Kind(NamedTuple):
    """A kind of run: its options, what the load generator does, what it is for, and whether the
    constraints can be met.
    """

    options: dict[str, Any]
    step: Callable[[int], dict[str, Any]]
    wish: str
    is_met: bool = True


def rates(number: int) -> dict[str, Any]:
    """Throughputs in an order that tells nothing."""
    return {"throughput": 100.0 + 37 * number % 101}


def services(number: int) -> dict[str, Any]:
    return {"service_ms": 4 + 3 * number % 7}


def streams(number: int) -> dict[str, Any]:
    return {"service_ms": 4 + 3 * number % 7, "tokens": 5}


IN_INSTALMENTS = {"measurement": "auto", "concurrency": [1, 2]}
KINDS = {
    "goodput": Kind(
        {**IN_INSTALMENTS, "objectives": ["perf_goodput"], "latency_budget": 15},
        services, "perf_goodput",
    ),
    "tokens": Kind(
        {**IN_INSTALMENTS, "objectives": ["output_token_throughput"], "model_type": "LLM",
         "client_protocol": "grpc"},
        streams, "output_token_throughput",
    ),
    "two models": Kind(
        {
            "profile_models": {name: {"cpu_only": True} for name in ("a", "b")},
            "run_config_profile_models_concurrently_enable": True,
            "run_config_search_mode": "quick",
            "run_config_search_max_concurrency": 1,
        },
        rates, "perf_throughput",
    ),
    "constraints that nothing meets": Kind(
        {"constraints": {"perf_latency_p99": {"max": 2}}}, rates, "perf_throughput", is_met=False,
    ),
    "an ensemble": Kind(
        {"profile_models": ["whole"], "concurrency_sweep_disable": True},
        rates, "perf_throughput",
    ),
}  # fmt: skip


def words(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def seen(page: Path) -> str:
    """The text of a page, without its scripts."""
    html = re.sub(r"<(script|style)\b.*?</\1>", " ", page.read_text(), flags=re.DOTALL)
    return words(unescape(re.sub(r"<[^>]*>", "", html)))


def first_metric(headers: Sequence[str]) -> str:
    """The first of the headers that is the tag of a metric."""
    return next(header for header in headers if header in METRICS)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_place_says_the_same(
    setting, pretend, make_model, run: Run, tmp_path: Path, kind: Kind
) -> None:
    for name in ("a", "b"):
        make_model(name)
    write_ensemble(tmp_path / "models", "whole", "a", "b")
    steps = [kind.step(number) for number in range(101)]
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer(*steps))
    options = {**kind.options, "output_formats": ["html", "md", "json", "csv"]}

    status, output = setting.profile(**options)

    assert status == 0, output
    (model,) = json.loads((tmp_path / "results" / "results.json").read_text())["models"]
    sentence, best = model["sentence"], model["recommended"]
    name, subject = best["variant"], model["model"]
    header = METRICS[kind.wish].header
    value = best["metrics"][kind.wish]
    assert sentence in words(output)
    assert name in sentence
    if kind.wish != "perf_throughput":
        first = values_of(sentence).split(", ")[0]
        assert METRICS[kind.wish].name in first or str(METRICS[kind.wish].unit) in first

    # the page, and the same in Markdown
    pages = tmp_path / "reports" / "summaries" / subject
    page = seen(pages / "result_summary.html")
    card = page[page.index("Result summary") : page.index("Best configurations")]
    assert words(name) in card
    chart = re.search(
        r"<figcaption>(.*?)</figcaption>", (pages / "result_summary.html").read_text()
    )
    assert chart is not None
    assert chart[1].startswith(f"{METRICS[kind.wish].name} vs.")
    assert sentence in words(re.sub(r"[\\*]", "", (pages / "result_summary.md").read_text()))

    # files for programs
    rows = list(csv.reader((tmp_path / "results" / "measurements.csv").read_text().splitlines()))
    assert first_metric(rows[0]) == kind.wish
    assert rows[1][rows[0].index("variant")] in name
    columns = (tmp_path / "results" / "metrics-model-inference.csv").read_text().splitlines()[0]
    assert header in columns

    # a run that goes on, for programs
    status, events = setting.profile("--progress", "json", **options)
    lines = [json.loads(line) for line in events.splitlines() if line.startswith("{")]
    (answer,) = (line for line in lines if line["event"] == "answer")
    assert (status, answer["sentence"], answer["verdict"]) == (0, sentence, model["verdict"])
    assert next(iter(answer["metrics"])).startswith(kind.wish)

    # commands
    misses = [] if kind.is_met else ["--allow-miss"]
    checkpoints = ("-s", "checkpoints")
    status, text, error = run("best", *checkpoints, "--format", "kubernetes", *misses)
    assert (status, sentence in words(error)) == (0, True), error
    comments = words(" ".join(line.strip("# ") for line in text.splitlines()[:2]))
    assert f"{name}: {values_of(sentence)}" in comments
    if not kind.is_met:
        assert run("best", *checkpoints)[0] == 1
    status, text, _ = run("checkpoint", "best", *checkpoints, *misses)
    assert (status, sentence in words(text)) == (0, True), text
    status, text, _ = run("checkpoint", "show", *checkpoints)
    assert (status, f"Variants, each at its best {header}" in words(text)) == (0, True), text
    status, text, _ = run("checkpoint", "trials", *checkpoints, "--format", "csv")
    assert first_metric(text.splitlines()[0].split(",")) == kind.wish
    status, text, _ = run("compare", "checkpoints", "checkpoints", "--format", "json")
    (compared,) = json.loads(text)["models"]
    assert (status, compared["best"]["new"]["variant"]) == (0, name)
    assert next(iter(compared["best"]["metrics"])) == kind.wish
    assert compared["best"]["metrics"][kind.wish]["new"] == pytest.approx(value)

    # the overview
    assert run("report", "--fleet", ".", "-e", "fleet")[0] == 0
    overview = (tmp_path / "fleet" / "reports" / "index.html").read_text()
    assert f'title="{name}: ' in overview
    headers = re.findall(r'data-key="([^"]*)"', overview)
    assert headers[headers.index("answer") + 1] == (
        "throughput" if kind.wish == "perf_throughput" else "goal"
    )


def values_of(sentence: str) -> str:
    """The values in a sentence, as they are written."""
    return re.split(r" \(measured once\)|: |; |\.( |$)", sentence.partition(" gives ")[2])[0]
