# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer compare`, on small checkpoints."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import ServerError
from model_analyzer.state.profile_state import ProfileState
from tests.cli.conftest import error_of, output_of
from tests.unit.builders import failure, goal, measurement, objectives, trial, variant

REGRESSION = 3
RULE = ("--fail-on", "perf_throughput<-3%")

Run = Callable[..., tuple[int, str, str]]


def measure(
    directory: Path,
    *,
    factor: float = 1,
    files: str = "old",
    cpu: str = "A",
    model: str = "m",
    gpus: tuple[str, ...] = (),
) -> None:
    """Seven loads with windows that agree within half a percent."""
    setup = ServerSetup(flags={"rate-limit": files}, devices=gpus)
    of = variant(f"{model}_config_default", model=model, files=files)
    with ProfileState(directory) as state:
        state.describe(devices=(), host={"Processor": cpu, "Server": "2.51"})
        for load in range(1, 8):
            rate = 100 * load * factor * (1 + load % 3 / 1000)
            state.record(
                trial(of, concurrency=load, setup=setup),
                measurement(rate, 5 / factor, windows=[rate, rate * 1.005, rate * 0.995]),
            )
        state.save()


@pytest.fixture
def sides(tmp_path: Path) -> Path:
    """`base`, `again` (the same but for noise), and `slow`, of other files on another machine."""
    measure(tmp_path / "base")
    measure(tmp_path / "again", factor=1.001)
    measure(tmp_path / "slow", factor=0.9, files="new", cpu="B")
    return tmp_path


def test_a_regression_ends_with_status_3(run: Run, sides: Path) -> None:
    status, output, error = run("compare", "base", "slow", *RULE)

    assert (status, error) == (REGRESSION, "")
    assert "m: perf_throughput<-3%: failed (best: -10.0 %" in output
    best = next(line for line in output.splitlines() if line.startswith("best  "))
    assert best.endswith("worse")


@pytest.fixture
def for_latency(tmp_path: Path) -> Path:
    """`base` and `named` were searched for the lowest p99, and have the same configurations under
    other names; `plain` is of a run for throughput.
    """
    quick, many = (variant("m_config_3", max_batch_size=size) for size in (1, 8))
    for name, wished in (
        ("base", "perf_latency_p99"),
        ("named", "perf_latency_p99"),
        ("plain", ""),
    ):
        with ProfileState(tmp_path / name) as state:
            if wished:
                state.record_search("m", {}, goal(wished=objectives(**{wished: 10})))
            other = "m_config_7" if name == "named" else "m_config_3"
            state.record(trial(replace(quick, name=other), concurrency=1), measurement(100, 2))
            state.record(
                trial(replace(many, name="m_config_4"), concurrency=8), measurement(300, 20)
            )
            state.save()
    return tmp_path


def test_the_goal_is_that_of_the_run(run: Run, for_latency: Path) -> None:
    _, output, _ = run("compare", "base", "base")
    assert "best in both is m_config_3" in output
    assert output.index("p99 Latency") < output.index("Throughput")

    _, output, _ = run("compare", "base", "base", "--metric", "perf_throughput")
    assert "best in both is m_config_4" in output

    _, output, _ = run("compare", "plain", "base")
    assert "best in both is m_config_3" in output
    assert "m was measured with other goals in BASE: Throughput" in output


def test_the_same_configuration_with_two_names_is_one(run: Run, for_latency: Path) -> None:
    _, output, _ = run("compare", "base", "named")

    assert "best in both is m_config_7 at concurrency 1 (m_config_3 in BASE)" in output


def test_without_a_regression_it_ends_well(run: Run, sides: Path) -> None:
    output = output_of(run("compare", "base", "again", *RULE, "--fail-on", "perf_latency_p99>20"))

    assert output.count(": passed (") == 2
    assert run("compare", "base", "slow")[0] == 0, "without rules it only tells"


@pytest.mark.parametrize("form", ["table", "html", "md", "json", "junit"])
def test_differences_are_stated_in_every_format(run: Run, sides: Path, form: str) -> None:
    _, output, _ = run("compare", "base", "slow", "--format", form)

    for text in ("processor", "files of m", "server flags: rate-limit"):
        assert text in output
    assert "processor" not in run("compare", "base", "again", "--format", form)[1]


def test_json_has_every_number(run: Run, sides: Path) -> None:
    status, output, error = run("compare", "base", "slow", *RULE, "--format", "json")

    document = json.loads(output)
    (model,) = document["models"]
    change = model["best"]["metrics"]["perf_throughput"]
    assert change["change_percent"] == pytest.approx(-10)
    assert change["interval_percent"][0] < -10 < change["interval_percent"][1]
    assert len(model["common_trials"]) == 7
    assert (status, document["regression"]) == (REGRESSION, True)
    assert "m: perf_throughput<-3%: failed" in error


def test_junit_has_a_case_for_each_rule(run: Run, sides: Path) -> None:
    rules = (*RULE, "--fail-on", "perf_latency_p99>90%", "--fail-on", "gpu_used_memory>5%")
    run("compare", "base", "slow", *rules, "--format", "junit", "-o", "junit.xml")

    suite = ElementTree.parse(sides / "junit.xml").getroot()[0]
    results = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert results == {
        "perf_throughput<-3%": ["failure"],
        "perf_latency_p99>90%": [],
        "gpu_used_memory>5%": ["skipped"],
    }
    assert suite.get("failures") == "1"


def test_a_page_is_written(run: Run, sides: Path) -> None:
    status, output, error = run(
        "compare", "base", "slow", *RULE, "--format", "html", "-o", "changes.html"
    )

    assert (status, output) == (REGRESSION, "")
    assert error.splitlines()[0] == "wrote the comparison to changes.html"
    page = (sides / "changes.html").read_text()
    assert "Regression: 1 of 1 rule broken" in page
    assert page.count("<figure") == 3


def test_a_page_of_checkpoints_without_common_trials(run: Run, tmp_path: Path) -> None:
    measure(tmp_path / "base")
    with ProfileState(tmp_path / "failed") as state:
        state.record(trial(variant("m_config_default"), concurrency=1), failure())
        state.save()

    output = output_of(run("compare", "base", "failed", "--format", "html"))
    assert "Unknown: NEW has only failures." in output
    assert "<figure" not in output


def test_each_kind_of_hardware_is_compared_with_the_same_kind(run: Run, tmp_path: Path) -> None:
    for gpu, factor in (("L4", 0.8), ("H100", 1.001)):
        measure(tmp_path / "base", gpus=(gpu,))
        measure(tmp_path / "new", gpus=(gpu,), factor=factor)

    output = output_of(run("compare", "base", "new", *RULE), REGRESSION)
    assert "m on 1 x L4: perf_throughput<-3%: failed (best: -20.0 %" in output
    assert "m on 1 x H100: perf_throughput<-3%: passed" in output
    assert "m on 1 x L4: 7 common trials:" in output
    _, output, _ = run("compare", "base", "new", *RULE, "--format", "json")
    document = json.loads(output)
    assert {part["hardware"]: part["status"] for part in document["rules"]} == {
        "1 x L4": "failed", "1 x H100": "passed",
    }  # fmt: skip
    assert [part["hardware"] for part in document["models"]] == ["1 x H100", "1 x L4"]
    _, output, _ = run("compare", "base", "new", *RULE, "--format", "junit")
    suites = ElementTree.fromstring(output)
    assert [suite.get("name") for suite in suites] == ["m on 1 x H100", "m on 1 x L4"]


def test_a_kind_of_hardware_on_one_side_is_named(run: Run, tmp_path: Path) -> None:
    measure(tmp_path / "base", gpus=("L4",))
    measure(tmp_path / "new", gpus=("L4",))
    measure(tmp_path / "new", gpus=("L4", "L4"))
    measure(tmp_path / "other", gpus=("H100",))

    _, output, _ = run("compare", "base", "new")
    assert "only in NEW, so not compared: m on 2 x L4" in output
    assert "m on 1 x L4: best in both is" in output
    # where each side has one kind, these are compared
    _, output, _ = run("compare", "base", "other")
    assert "GPUs: 1 x L4 in BASE, 1 x H100 in NEW" in output
    assert "\nm: best in both is" in output
    error = error_of(run("compare", "new", "other"), 1)
    assert "new has measurements of m on 1 x L4, m on 2 x L4, other has outcomes of m on" in error


def test_names_stay_text_in_markdown(run: Run, tmp_path: Path) -> None:
    for side in ("base", "new"):
        measure(tmp_path / side, model="<script>|*x*")

    _, output, _ = run("compare", "base", "new", "--format", "md")
    assert run("compare", "base", "new", "--format", "markdown")[1] == output
    assert "<script>" not in output
    assert r"&lt;script>\|\*x\*" in output


def test_what_cannot_be_judged_fails_strictly(run: Run, sides: Path) -> None:
    arguments = ("compare", "base", "again", "--fail-on", "gpu_used_memory>5%")

    status, output, _ = run(*arguments)
    assert status == 0
    assert "gpu_used_memory>5%: not certain (best: GPU Memory Usage was not measured)" in output
    assert run(*arguments, "--strict")[0] == REGRESSION


def test_a_model_that_only_fails_now_is_a_regression(run: Run, sides: Path) -> None:
    with ProfileState(sides / "broken") as state:
        state.record(trial(variant("m_config_default", files="new")), failure())
        state.save()

    output = output_of(run("compare", "base", "broken", *RULE), REGRESSION)
    assert "m: perf_throughput<-3%: failed (NEW has only failures)" in output


@pytest.mark.parametrize("new", ["again", "again@0", "again/0.ckpt", "again@latest"])
def test_a_side_is_a_directory_a_file_or_one_of_a_directory(
    run: Run, sides: Path, new: str
) -> None:
    output = output_of(run("compare", "base@0", new))

    assert "m: 7 common trials:" in output


def test_numbers_are_of_the_checkpoint_directory(run: Run, sides: Path) -> None:
    measure(sides / "base", files="next")
    output = output_of(run("compare", "0", "1", "-s", "base"))

    assert "files of m: old in BASE, next in NEW" in output


def test_a_checkpoint_compared_with_itself_is_named(run: Run, sides: Path) -> None:
    output = output_of(run("compare", "base", "base"))

    assert "BASE and NEW are the same checkpoint, so they show no change" in output
    assert "resumed" not in output


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("base", "other"), 1, "nothing to compare: base has measurements of m, other has"),
        (
            ("base", "nowhere", "--checkpoint-directory", "base"),
            2,
            "'nowhere' is neither a directory or file nor a checkpoint of base (available: 0)",
        ),
        (("base", "slow", "--fail-on", "perf_throughput=3"), 2, "--fail-on: "),
        (("base", "slow", "--fail-on", "perf_thruput<3"), 2, "did you mean 'perf_throughput'"),
        (("base", "slow", "--metrics", "speed"), 2, "--metrics: unknown metric 'speed'"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    run: Run, sides: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    measure(sides / "other", model="n")
    ended, output, error = run("compare", *arguments)

    assert (ended, output) == (status, "")
    (line,) = error.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("base", "slow", "--budget", "1m"), "--budget: only a --live comparison measures"),
        (("base", "slow", "-m", "m"), "--model: only a --live comparison measures"),
        (("--live", "nowhere", "base"), "'nowhere' is neither a directory, nor a URL such as"),
        (("--live", "base", "slow"), "base has no model: a repository has a directory"),
        (("--live", "ftp://host:21", "base"), "no server is reached by 'ftp://host:21'"),
        (("--live", "grpc://a:1", "http://b:2"), "compare both servers over the same protocol"),
        (("--live", "base", "slow", "--budget", "soon"), "expected a duration"),
        (
            ("--live", "base", "slow", "--concurrency", "2", "--request-rate", "5"),
            "--request-rate: give this or --concurrency, not both",
        ),
        (("--live", "triton:2.44", "triton:1.0", "--model-repository", "base"), "no such Triton"),
    ],
    ids=["budget", "model", "side", "empty", "scheme", "protocols", "duration", "loads", "version"],
)
def test_what_cannot_be_measured_is_refused(
    run: Run, sides: Path, arguments: tuple[str, ...], says: str
) -> None:
    status, _, error = run("compare", *arguments)

    assert (status, says in error) == (2, True), error


def test_a_server_is_asked_for_its_models_with_the_headers_of_the_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def refuse(*_: object) -> None:
        asked.extend(_)
        raise ServerError("asked")

    monkeypatch.setattr("model_analyzer.features.compare.live.connect", refuse)
    (tmp_path / "c.yaml").write_text(
        "profile_models: m\nperf_analyzer_flags: {http-header: 'X-Key: a'}"
    )
    urls = ("http://a:1", "http://b:2")

    status, _, error = run("compare", "--live", *urls, "-f", str(tmp_path / "c.yaml"))

    assert (status, error) == (
        1,
        "model-analyzer: http://a:1: cannot be asked for its models: asked\n",
    )
    assert asked[-1] == {"http-header": "X-Key: a"}
