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


IN_ROUNDS = {"measurement": "auto", "concurrency": [1, 2]}
KINDS = {
    "goodput": Kind(
        {**IN_ROUNDS, "objectives": ["perf_goodput"], "latency_budget": 15},
        services, "perf_goodput",
    ),
    "tokens": Kind(
        {**IN_ROUNDS, "objectives": ["output_token_throughput"], "model_type": "LLM",
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


def values_of(sentence: str) -> str:
    """The values in a sentence, as they are written."""
    return re.split(r" \(measured once\)|: |; |\.( |$)", sentence.partition(" gives ")[2])[0]


class Said(NamedTuple):
    """What a run answered, by its results for programs."""

    sentence: str
    variant: str
    model: str
    verdict: str
    wish: str
    value: float
    is_met: bool

    @property
    def header(self) -> str:
        return METRICS[self.wish].header

    @classmethod
    def by(cls, directory: Path, kind: Kind) -> Said:
        (model,) = json.loads((directory / "results" / "results.json").read_text())["models"]
        best = model["recommended"]
        return cls(
            model["sentence"], best["variant"], model["model"], model["verdict"],
            kind.wish, best["metrics"][kind.wish], kind.is_met,
        )  # fmt: skip


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

    output = setting.succeeds(**options)

    said = Said.by(tmp_path, kind)
    assert said.sentence in words(output)
    assert said.variant in said.sentence
    if said.wish != "perf_throughput":
        first = values_of(said.sentence).split(", ")[0]
        assert METRICS[said.wish].name in first or str(METRICS[said.wish].unit) in first
    check_files(tmp_path, said)
    status, events = setting.profile("--progress", "json", **options)
    lines = [json.loads(line) for line in events.splitlines() if line.startswith("{")]
    (answer,) = (line for line in lines if line["event"] == "answer")
    assert (status, answer["sentence"], answer["verdict"]) == (0, said.sentence, said.verdict)
    for line in [*(line for line in lines if line["event"] in ("best", "trial_finished")), answer]:
        assert next(iter(line["metrics"])).startswith(said.wish), line["event"]
    (*_, best) = (line for line in lines if line["event"] == "best")
    bounded = kind.options.get("constraints") or kind.options.get("latency_budget")
    assert bool(best["constraints"]) is bool(bounded)
    assert all(each["met"] is said.is_met for each in best["constraints"])
    check_commands(run, said)
    check_overview(run, tmp_path, said)


def check_files(directory: Path, said: Said) -> None:
    """The page, the same in Markdown, and tables."""
    folder = directory / "reports" / "summaries" / said.model
    page = folder / "result_summary.html"
    text = seen(page)
    assert words(said.variant) in text[: text.index("Best configurations")]
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page.read_text())
    assert captions[0].startswith(f"{METRICS[said.wish].name} vs.")
    written = (folder / "result_summary.md").read_text()
    assert said.sentence in words(re.sub(r"[\\*]", "", written))
    rows = csv.reader((directory / "results" / "measurements.csv").read_text().splitlines())
    headers, best, *_ = rows
    assert first_metric(headers) == said.wish
    assert best[headers.index("variant")] in said.variant
    known = (directory / "results" / "metrics-model-inference.csv").read_text()
    assert said.header in known.splitlines()[0]


def check_commands(run: Run, said: Said) -> None:
    """What commands say about the checkpoint."""
    where, misses = ("-s", "checkpoints"), [] if said.is_met else ["--allow-miss"]
    status, text, error = run("best", *where, "--format", "kubernetes", *misses)
    assert (status, said.sentence in words(error)) == (0, True), error
    comments = words(" ".join(line.strip("# ") for line in text.splitlines()[:2]))
    assert f"{said.variant}: {values_of(said.sentence)}" in comments
    if not said.is_met:
        assert run("best", *where)[0] == 1
    status, text, _ = run("checkpoint", "best", *where, *misses)
    assert (status, said.sentence in words(text)) == (0, True), text
    status, text, _ = run("checkpoint", "show", *where)
    assert (status, f"Variants, each at its best {said.header}" in words(text)) == (0, True), text
    status, text, _ = run("checkpoint", "trials", *where, "--format", "csv")
    assert first_metric(text.splitlines()[0].split(",")) == said.wish
    status, text, _ = run("compare", "checkpoints", "checkpoints", "--format", "json")
    (compared,) = json.loads(text)["models"]
    assert (status, compared["best"]["new"]["variant"]) == (0, said.variant)
    assert next(iter(compared["best"]["metrics"])) == said.wish
    assert compared["best"]["metrics"][said.wish]["new"] == pytest.approx(said.value)


def check_overview(run: Run, directory: Path, said: Said) -> None:
    """The overview of all models."""
    assert run("report", "--fleet", ".", "-e", "fleet")[0] == 0
    overview = (directory / "fleet" / "reports" / "index.html").read_text()
    assert f'title="{said.variant}: ' in overview
    keys = re.findall(r'data-key="([^"]*)"', overview)
    is_plain = said.wish == "perf_throughput"
    assert keys[keys.index("answer") + 1] == ("throughput" if is_plain else "goal")
