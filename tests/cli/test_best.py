# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer best`: what is deployed, from a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml

from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.trials import Load, ServerSetup, Trial, Workload
from model_analyzer.reports.document import results_schema
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import at_most, failure, goal, measurement, objectives, trial, variant

FAILED = 1
USAGE = 2

Run = Callable[..., tuple[int, str, str]]

DEFAULT = variant("m_config_default", backend="python", max_batch_size=1)
FAST = variant("m_config_1", backend="python", max_batch_size=2, dynamic_batching={})
SLOW = variant("m_config_2", backend="python", max_batch_size=4)
SETUP = ServerSetup(version="2.51.0")


def record_one_model(state: ProfileState) -> None:
    state.record(trial(DEFAULT, concurrency=8, setup=SETUP), measurement(100.0, 5.0))
    state.record(trial(FAST, concurrency=8, setup=SETUP), measurement(300.0, 25.0))
    state.record(trial(SLOW, concurrency=8, setup=SETUP), measurement(250.0, 15.0))


@pytest.fixture
def best(run: Run, tmp_path: Path) -> Run:
    """The command, where one model was measured."""
    with ProfileState(tmp_path / "checkpoints") as state:
        state.describe(devices=(), host={"Processor": "CPU A, 2 cores"})
        record_one_model(state)
        state.save()
    return lambda *arguments: run("best", *arguments)


@pytest.fixture
def best_of_several(run: Run, tmp_path: Path) -> Run:
    """The command, where three models were measured: two of them together, of which one calls
    another, and one that only failed.
    """
    part = variant("p_config_0", model="p", backend="python")
    caller = variant("a_config_0", model="a", backend="python", composing=[part])
    works = (
        Workload(variant=caller, load=Load(value=1)),
        Workload(variant=variant("b_config_0", model="b"), load=Load(value=1)),
    )
    values = ModelMeasurement(values={"perf_throughput": 5.0})
    with ProfileState(tmp_path / "checkpoints") as state:
        record_one_model(state)
        state.record(Trial(workloads=works, setup=SETUP), Measurement(models=(values, values)))
        state.record(trial(variant("f_config_0", model="f")), failure("f did not load"))
        state.save()
    return lambda *arguments: run("best", *arguments)


def test_the_configuration_goes_to_a_file_and_the_reason_to_the_terminal(best: Run) -> None:
    status, output, error = best()

    assert status == 0
    assert output == 'max_batch_size: 2\ndynamic_batching {\n}\nbackend: "python"\n'
    assert "m_config_1 at concurrency 8 gives" in error
    assert best("-m", "m") == (status, output, error)


def test_goals_come_from_the_command_line_or_from_the_yaml_of_the_run(
    best: Run, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text(
        "profile_models: {m: {constraints: {perf_latency_p99: {max: 20}}}}\n"
        "checkpoint_directory: checkpoints\n"
    )

    for arguments in (
        ["--constraint", "perf_latency_p99<20"],
        ["-f", "c.yaml"],
        ["-f", "c.yaml", "--metric", "perf_throughput"],
    ):
        assert "max_batch_size: 4" in best(*arguments)[1], arguments
    assert "max_batch_size: 2" in best("-f", "c.yaml", "--constraint", "perf_latency_p99<99")[1]
    assert "max_batch_size: 1" in best("--metric", "perf_latency_p99")[1]
    assert "max_batch_size: 1" in best("-f", "c.yaml", "--metric", "perf_latency_p99")[1]
    assert "has a constraint but was not measured" in best("--constraint", "gpu_used_memory<5")[2]


def test_goals_are_those_of_the_run_where_no_others_are_given(best: Run, tmp_path: Path) -> None:
    with ProfileState(tmp_path / "checkpoints") as state:
        wished = objectives(perf_throughput=10)
        state.record_search("m", {}, goal(*at_most(perf_latency_p99=20), wished=wished))
    (tmp_path / "empty.yaml").write_text("checkpoint_directory: checkpoints\n")
    (tmp_path / "budget.yaml").write_text("latency_budget: 30\n")
    (tmp_path / "objectives.yaml").write_text("objectives: [perf_latency_p99]\n")

    for arguments, size, said in (
        ([], 4, "goals of the run: Throughput; Max p99 Latency: 20 ms"),
        (["-f", "empty.yaml"], 4, "goals of the run: Throughput; Max p99 Latency: 20 ms"),
        (["-f", "objectives.yaml"], 1, "goals of the run: Max p99 Latency: 20 ms"),
        (["--min-throughput", "200"], 4, "goals of the run: Throughput; Max p99 Latency: 20 ms"),
        (["-f", "budget.yaml"], 2, ""),
        (["-f", "budget.yaml", "--latency-budget", "20"], 4, ""),
        (["--latency-budget", "30"], 2, ""),
        (["--constraint", "none"], 2, ""),
    ):
        status, output, error = best(*arguments)
        assert (status, f"max_batch_size: {size}\n" in output) == (0, True), arguments
        messages = [line for line in error.splitlines() if "goals of the run" in line]
        assert messages == ([f"model-analyzer: {said}"] if said else []), arguments


def test_what_it_changes(best: Run) -> None:
    status, output, _ = best("--diff")

    assert status == 0
    changes = [line for line in output.splitlines() if line[0] in "+-"]
    assert changes == [
        "--- m/config.pbtxt", "+++ best/m/config.pbtxt", "-max_batch_size: 1",
        "+max_batch_size: 2", "+dynamic_batching {", "+}",
    ]  # fmt: skip
    assert best("--format", "diff")[1] == output
    status, output, error = best("--diff", "--metric", "perf_latency_p99")
    assert (status, output) == (0, "")
    assert "nothing to change" in error


def test_a_manifest_for_as_many_replicas_as_are_needed(best: Run) -> None:
    status, output, _ = best("--format", "kubernetes", "--throughput", "1000")

    assert status == 0
    config, deployment, service = yaml.safe_load_all(output)
    assert [config["kind"], deployment["kind"], service["kind"]] == [
        "ConfigMap", "Deployment", "Service",
    ]  # fmt: skip
    assert config["data"]["m.pbtxt"] == best()[1]
    assert deployment["spec"]["replicas"] == 4
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "nvcr.io/nvidia/tritonserver:24.10-py3"
    assert container["resources"] == {"requests": {"cpu": 2}}


def test_all_results_as_the_published_schema_says(best: Run, run: Run) -> None:
    status, output, _ = best("--format", "json")

    document = json.loads(output)
    jsonschema.validate(document, results_schema())
    assert status == 0
    assert document["models"][0]["recommended"]["variant"] == "m_config_1"
    assert document["complete"] is None
    assert json.loads(run("config", "schema", "--results")[1]) == results_schema()


def test_everything_as_files(best_of_several: Run, tmp_path: Path) -> None:
    status, output, error = best_of_several("--output-dir", "deploy")

    assert status == FAILED
    assert "No configuration of f could be measured: the only trial failed." in error
    files = [path for path in (tmp_path / "deploy").rglob("*") if path.is_file()]
    assert sorted(path.relative_to(tmp_path / "deploy").as_posix() for path in files) == [
        "a,b/kubernetes.yaml", "a/config.pbtxt", "b/config.pbtxt", "m/config.diff",
        "m/config.pbtxt", "m/kubernetes.yaml", "p/config.pbtxt",
    ]  # fmt: skip
    assert output.count("wrote ") == len(files)


def test_of_several_models_one_is_named(best_of_several: Run) -> None:
    for model in ("a", "p"):
        status, output, error = best_of_several("-m", model)
        assert (status, output) == (0, 'backend: "python"\n')
        assert ("a calls p: use --model" in error) == (model == "a")
    assert "-load-model=p" in best_of_several("-m", "b", "--format", "kubernetes")[1]
    status, output, error = best_of_several("-m", "f")
    assert (status, output) == (FAILED, "")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], USAGE, "--model: several models were measured: choose one of m, a,b, f"),
        (
            ["-m", "a,b"],
            USAGE,
            "--model: each model has its own config.pbtxt: choose one of a, p, b",
        ),
        (["-m", "x"], USAGE, "model 'x' was not measured; measured: m, a,b, f"),
        (["-m", "b", "--diff"], FAILED, "a, p, b: the configuration in the model repository was"),
        (["--diff", "--format", "json"], USAGE, "--diff: means --format diff"),
        (["--throughput", "5"], USAGE, "--throughput: only a Kubernetes manifest has replicas"),
        (["--format", "kubernetes", "--throughput", "0"], USAGE, "must be above 0, found 0"),
        (["--format", "kubernetes", "--throughput", "inf"], USAGE, "--throughput: expected a"),
        (["--format", "helm"], USAGE, "'helm' is not one of"),
        (["-s", "nowhere"], USAGE, "nowhere"),
        (["-f", "nowhere.yaml"], USAGE, "nowhere.yaml"),
        (["--constraint", "x"], USAGE, "write, for example, perf_latency_p99<20"),
        (["--output-dir", "checkpoints/0.ckpt"], USAGE, "check --output-dir"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(
    best_of_several: Run, arguments: list[str], status: int, message: str
) -> None:
    ended, output, error = best_of_several(*arguments)

    assert (ended, output) == (status, "")
    assert message in error.splitlines()[-1]
    assert "Traceback" not in error


def test_a_run_keeps_its_goals_even_if_nothing_more_is_measured_for_them(setting, run) -> None:
    directory = setting.directory / "checkpoints"
    setting.profile()
    assert run("best", "-s", str(directory))[2].count("goals of the run") == 0

    for budget in ("9999", "8888", "8888"):
        assert setting.profile("--latency-budget", budget)[0] == 0
        error = run("best", "-s", str(directory))[2]
        assert f"goals of the run: Throughput; Max p99 Latency: {int(budget):,} ms" in error
    assert setting.checkpoints == ["0.ckpt", "1.ckpt", "2.ckpt"]


def test_another_variant_that_meets_the_constraints_can_be_deployed(best: Run) -> None:
    status, text, told = best("--variant", "m_config_2", "--format", "kubernetes")
    assert (status, "m_config_2: 250 infer/sec" in text) == (0, True), told
    assert "m_config_2 at concurrency 8 gives 250 infer/sec" in told
    assert "150 % better than the default configuration" in told


@pytest.mark.parametrize(
    ("name", "flags", "problem"),
    [
        ("m_config_9", [], "m_config_9 is not among the variants of m"),
        (
            "m_config_1",
            ["--constraint", "perf_latency_p99<20"],
            "m_config_1 misses the constraints",
        ),
    ],
)
def test_a_variant_that_cannot_be_deployed_is_refused(
    best: Run, name: str, flags: list[str], problem: str
) -> None:
    status, text, told = best("--variant", name, *flags)
    assert (status, text) == (USAGE, "")
    assert f"--variant: {problem}" in told


@pytest.mark.parametrize("command", ["best --output-dir out/best", "analyze --export-path out"])
def test_a_part_that_two_answers_configure_is_below_its_caller(
    run: Run, tmp_path: Path, command: str
) -> None:
    part = variant("p_config_0", model="p", max_batch_size=2)
    with ProfileState(tmp_path / "checkpoints") as state:
        state.record(trial(variant("a_c", model="a", composing=[part])), measurement(100.0, 5.0))
        state.record(trial(variant("p_c", model="p", max_batch_size=1)), measurement(100.0, 5.0))
        state.save()

    names = ["--profile-models", "a,p"] if command.startswith("analyze") else []
    status, *texts = run(*command.split(), *names)

    assert status == 0
    assert "a needs p with max_batch_size 2 instead of 1 (recommended for p)" in "".join(texts)
    for place, limit in (("p", 1), ("a/p", 2)):
        text = (tmp_path / "out/best" / place / "config.pbtxt").read_text()
        assert text == f"max_batch_size: {limit}\n"
