# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile` on a machine with pretend GPUs: which are used, what is measured and shown of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import GIB, gpu

ON_GPUS = {"instance_group": [{"count": [1, 2], "kind": "KIND_GPU"}]}


@pytest.fixture
def on_gpus(setting, pretend, driver):
    """Model `m` on two GPUs: two variants that use them and a default that does not."""
    setting.environment = {**driver.environment, "CUDA_VISIBLE_DEVICES": "0,1"}
    setting.config |= {
        "triton_server_path": str(pretend.tritonserver(tell=["CUDA_VISIBLE_DEVICES"])),
        "perf_analyzer_path": str(pretend.perf_analyzer(tell=["CUDA_VISIBLE_DEVICES"])),
        "profile_models": {
            "m": {"parameters": {"concurrency": [1]}, "model_config_parameters": ON_GPUS}
        },
        "duration_seconds": 0.5,
        "monitoring_interval": 0.2,
    }
    driver.has(gpu(0), gpu(1, used=2 * GIB, utilization=100))
    return setting


@pytest.fixture
def table(setting) -> Callable[[str], list[list[str]]]:
    """The rows of a table, the header first."""

    def read(name: str) -> list[list[str]]:
        text = (setting.directory / "results" / f"metrics-{name}.csv").read_text()
        return [line.split(",") for line in text.splitlines() if line]

    return read


def cuda(pretend) -> set[str]:
    """CUDA_VISIBLE_DEVICES of the server and of every perf_analyzer."""
    calls = [call for call in pretend.server_calls if call.startswith("CUDA_")]
    calls += [word for launch in pretend.launches for word in launch if word.startswith("CUDA_")]
    return {line.partition("=")[2] for line in calls}


def test_all_gpus_are_used_measured_and_shown(on_gpus, pretend, table) -> None:
    output = on_gpus.succeeds()

    lines = output.splitlines()
    start = lines.index("[Model Analyzer] Initializing GPUDevice handles")
    assert lines[start + 1 : start + 3] == [
        "[Model Analyzer] Using GPU 0 NVIDIA Pretend with UUID GPU-0000",
        "[Model Analyzer] Using GPU 1 NVIDIA Pretend with UUID GPU-1111",
    ]
    assert cuda(pretend) == {"GPU-0000,GPU-1111"}
    assert output.count("Profiling server only metrics...") == 1
    assert pretend.starts == 1  # the idle server is the one that is used afterwards
    server = table("server-only")
    assert server == [
        [
            "Model",
            "GPU UUID",
            "GPU Memory Usage (MB)",
            "GPU Utilization (%)",
            "GPU Power Usage (W)",
        ],
        ["triton-server", "GPU-0000", "1073.7", "50.0", "75.5"],
        ["triton-server", "GPU-1111", "2147.5", "100.0", "75.5"],
    ]
    header, *rows = table("model-gpu")
    assert len(header) == 10
    assert len(rows) == 4  # two variants and two GPUs; the default is on CPUs
    assert {row[4] for row in rows} == {"m_config_0", "m_config_1"}
    assert {tuple(row[7:]) for row in rows} == {
        ("1073.7", "50.0", "75.5"), ("2147.5", "100.0", "75.5"),
    }  # fmt: skip
    # instances are counted on every GPU
    assert {row[4] for row in on_gpus.rows} == {"1:CPU", "2:GPU", "4:GPU"}
    page = (on_gpus.directory / "reports" / "summaries" / "m" / "result_summary.html").read_text()
    assert "GPU(s): 2 x NVIDIA Pretend. Total Available GPU Memory: 32.0 GB" in page
    assert "Max GPU Memory Usage (MB)" in page


def test_energy_is_measured_and_can_be_asked_for(on_gpus) -> None:
    """Each pretend GPU takes 75.5 W, also while it is idle."""
    constraints = {"energy_per_inference": {"max": 5}}
    on_gpus.succeeds(
        objectives=["energy_per_inference"], constraints=constraints, collect_cpu_metrics=True
    )

    results = json.loads((on_gpus.directory / "results" / "results.json").read_text())
    assert results["metrics"]["energy_per_inference"]["unit"] == "J"
    (model,) = results["models"]
    assert model["unmeasured_objectives"] == []
    measured = [each for variant in model["variants"] for each in variant["measurements"]]
    assert len(measured) == 3, "the default on CPUs is compared by energy, too"
    for each in measured:
        metrics = each["metrics"]
        assert metrics["gpu_metered_power"] == pytest.approx(151, rel=0.1)
        assert metrics["energy_per_inference"] == pytest.approx(
            metrics["gpu_metered_power"] / metrics["perf_throughput"]
        )
    page = (on_gpus.directory / "reports" / "summaries" / "m" / "result_summary.html").read_text()
    assert "GPU Energy Per Inference" in page


def test_energy_with_the_c_api_is_unknown(on_gpus, tmp_path) -> None:
    """It would be that of loading the model, too."""
    library = tmp_path / "triton" / "lib" / "libtritonserver.so"
    library.parent.mkdir(parents=True)
    library.touch()

    on_gpus.succeeds(triton_launch_mode="c_api", triton_install_path=str(library.parent.parent))

    results = json.loads((on_gpus.directory / "results" / "results.json").read_text())
    (model,) = results["models"]
    on_gpu = [
        each["metrics"]
        for variant in model["variants"]
        for each in variant["measurements"]
        if "gpu_used_memory" in each["metrics"]
    ]
    assert len(on_gpu) == 2
    assert not {"gpu_metered_power", "energy_per_inference"} & set().union(*on_gpu)


def test_energy_of_a_part_of_a_gpu_is_unknown_not_0(on_gpus, driver) -> None:
    part = {"uuid": "MIG-1", "name": "NVIDIA Pretend MIG 1g", "total": 2 * GIB, "used": GIB}
    driver.has(gpu(0, slices=[part]))
    on_gpus.environment["CUDA_VISIBLE_DEVICES"] = "MIG-1"

    on_gpus.succeeds(objectives=["energy_per_inference"])

    results = json.loads((on_gpus.directory / "results" / "results.json").read_text())
    (model,) = results["models"]
    assert model["unmeasured_objectives"] == ["energy_per_inference"]
    assert "energy" not in json.dumps(model["variants"])


def test_verbose_shows_the_three_tables_that_scripts_count(on_gpus) -> None:
    output = on_gpus.succeeds("-v")

    lines = output.splitlines()
    at = [
        lines.index(f"{title}:")
        for title in ("Models (Inference)", "Models (GPU Metrics)", "Server Only")
    ]
    assert at == sorted(at)
    for start, rows, columns in zip(at, (3, 4, 2), (9, 10, 5), strict=True):
        shown = lines[start + 2 : start + 2 + rows]
        assert [len(row.split()) for row in shown] == [columns] * rows
        assert lines[start + 2 + rows] == ""


def test_a_second_run_observes_nothing_and_shows_the_same(on_gpus, pretend, table) -> None:
    on_gpus.profile()
    first = table("model-gpu"), table("server-only")
    launches = len(pretend.launches)

    output = on_gpus.succeeds()

    assert "GPU devices match checkpoint" in output
    assert "Profiling server only metrics" not in output
    assert len(pretend.launches) == launches
    assert (table("model-gpu"), table("server-only")) == first
    assert on_gpus.checkpoints == ["0.ckpt"]


def test_equal_gpus_go_on_from_what_others_measured(on_gpus, pretend, driver) -> None:
    on_gpus.profile()
    launches = len(pretend.launches)
    driver.has(gpu(2), gpu(0))

    output = on_gpus.succeeds()

    same = "GPU devices match checkpoint (others of the same kind: 2 x NVIDIA Pretend)"
    assert same in output
    assert len(pretend.launches) == launches


def test_a_checkpoint_of_other_gpus_is_refused(on_gpus, pretend) -> None:
    on_gpus.profile()
    launches = len(pretend.launches)

    output = on_gpus.fails(1, "--gpus", "1")

    assert "GPU devices do not match checkpoint" in output
    assert "choose another --checkpoint-directory" in output
    assert "Traceback" not in output
    assert len(pretend.launches) == launches
    on_gpus.succeeds("--gpus", "1", "-s", "elsewhere")


@pytest.mark.parametrize(
    ("gpus", "visible", "used"),
    [
        ("0", None, ["GPU-0000"]),
        ("1,2", None, ["GPU-1111", "GPU-2222"]),
        ("GPU-2222", None, ["GPU-2222"]),
        ("GPU-2222,GPU-0000", None, ["GPU-2222", "GPU-0000"]),
        ("all", "2", ["GPU-2222"]),
        ("all", "1,2", ["GPU-1111", "GPU-2222"]),
        ("0", "2,1", ["GPU-2222"]),
    ],
)
def test_some_gpus_are_used(on_gpus, driver, pretend, gpus, visible, used) -> None:
    driver.has(gpu(0), gpu(1), gpu(2))
    on_gpus.environment["CUDA_VISIBLE_DEVICES"] = "0,1,2" if visible is None else visible

    output = on_gpus.succeeds("--gpus", gpus, "-d", "0")

    lines = [line for line in output.splitlines() if "Using GPU" in line]
    assert [line.split()[-1] for line in lines] == used
    assert cuda(pretend) == {",".join(used)}


def test_no_gpus_are_used_when_none_are_requested(on_gpus, pretend) -> None:
    on_gpus.config["profile_models"] = ["m"]

    output = on_gpus.succeeds("--gpus", "[]")

    assert "No GPUs requested" in output
    assert "Using GPU" not in output
    assert cuda(pretend) == {""}
    assert not (on_gpus.directory / "results" / "metrics-model-gpu.csv").exists()
    assert not (on_gpus.directory / "results" / "metrics-server-only.csv").exists()
    assert "Setting instance_group to [{'count': 2, 'kind': 'KIND_CPU'}]" in output


@pytest.mark.parametrize("wanted", ["7", "GPU-nope"])
def test_a_gpu_that_is_not_there_is_a_usage_error_that_lists_those_that_are(
    on_gpus, pretend, wanted: str
) -> None:
    output = on_gpus.fails(2, "--gpus", wanted)

    error = [line for line in output.splitlines() if "model-analyzer:" in line]
    assert error == [
        f"model-analyzer: gpus: there is no GPU {wanted} here (available: 0: NVIDIA Pretend"
        " GPU-0000, 1: NVIDIA Pretend GPU-1111)"
    ]
    assert pretend.server_calls == []


def test_the_servers_own_variable_gives_way_to_the_choice(on_gpus, pretend) -> None:
    output = on_gpus.succeeds(
        "--gpus", "0", triton_server_environment={"CUDA_VISIBLE_DEVICES": "7"}
    )

    assert cuda(pretend) == {"GPU-0000"}
    assert "CUDA_VISIBLE_DEVICES of the server is set from --gpus" in output


def test_a_cpu_model_leaves_the_gpus_alone_unless_asked(on_gpus, table) -> None:
    models = {"m": {"cpu_only": True, "parameters": {"concurrency": [1]}}}
    on_gpus.succeeds(profile_models=models)
    assert not (on_gpus.directory / "results" / "metrics-model-gpu.csv").exists()
    assert not (on_gpus.directory / "results" / "metrics-server-only.csv").exists()

    on_gpus.succeeds("--always-report-gpu-metrics", "-s", "other", profile_models=models)
    assert len(table("model-gpu")) == 1 + 2 * len(on_gpus.rows)
    assert len(table("server-only")) == 3


def test_a_mig_device_is_used_by_its_uuid_and_tells_its_memory(
    on_gpus, driver, pretend, table
) -> None:
    parts = [
        {"uuid": f"MIG-{n}", "name": "NVIDIA Pretend MIG 1g.2gb", "total": 2 * GIB, "used": GIB}
        for n in (0, 1)
    ]
    driver.has(gpu(0, slices=parts))

    output = on_gpus.succeeds("--gpus", "MIG-1")

    assert cuda(pretend) == {"MIG-1"}
    said = (
        "GPU metrics that are not available here: gpu_utilization, gpu_power_usage,"
        " gpu_metered_power of MIG-1"
    )
    assert output.count(said) == 1
    assert output.count("GPU output field") == 2
    header, *rows = table("model-gpu")
    assert header[-1] == "GPU Memory Usage (MB)"
    assert {(row[1], row[-1]) for row in rows} == {("MIG-1", "1073.7")}


def test_gpu_memory_can_be_bounded_and_made_small(on_gpus, driver) -> None:
    on_gpus.succeeds(constraints={"gpu_used_memory": {"max": 3000}}, objectives=["gpu_used_memory"])

    # 1 and 2 GiB in use: the sum over both GPUs counts, also for the default, which is on CPUs
    assert {row[6] for row in on_gpus.rows} == {"No"}
    assert len(on_gpus.rows) == 3
    page = (on_gpus.directory / "reports" / "summaries" / "m" / "result_summary.html").read_text()
    assert "Constraint targets: Max GPU Memory Usage: 3,000 MB over all GPUs" in page
    assert "Memory is the sum over the GPUs" in page
    assert "could not be checked" not in page


def test_the_users_columns_are_written(on_gpus, table) -> None:
    output = on_gpus.succeeds(
        "--gpu-output-fields", "model_name,gpu_uuid,gpu_free_memory,nonsense",
        "--server-output-fields", "gpu_uuid,gpu_total_memory",
        "--filename-model-gpu", "metrics-g.csv", "--filename-server-only", "metrics-s.csv",
    )  # fmt: skip

    assert table("g")[:2] == [
        ["Model", "GPU UUID", "GPU Memory Available (MB)"],
        ["m", "GPU-0000", "16106.1"],
    ]
    assert table("s")[1:] == [["GPU-0000", "17179.9"], ["GPU-1111", "17179.9"]]
    assert 'GPU output field "nonsense" is neither a metric nor a column' in output


def test_the_report_command_shows_gpus_too(on_gpus, run) -> None:
    on_gpus.profile()

    status, _, error = run("report", "-n", "m_config_0,m_config_default", "-e", ".")

    assert (status, error) == (0, "")
    details = on_gpus.directory / "reports" / "detailed"
    with_gpus = (details / "m_config_0" / "detailed_report.html").read_text()
    assert "on GPU(s) 2 x NVIDIA Pretend with total memory 32.0 GB" in with_gpus
    assert "GPU Utilization (%)</th>" in with_gpus
    assert "on CPU." in (details / "m_config_default" / "detailed_report.html").read_text()


def test_a_broken_driver_is_named_and_the_run_goes_on_without_gpus(on_gpus, driver) -> None:
    driver.has(gpu(), error="NVMLError_LibRmVersionMismatch")

    output = on_gpus.succeeds(profile_models={"m": {"parameters": {"concurrency": [1]}}})

    assert "GPUs cannot be used: NVMLError_LibRmVersionMismatch" in output


# ------------------------------------------------------------- a server that tells of its GPUs


def metrics(**gpus: int) -> str:
    """The metrics of a server with these GPUs, each with so many MB in use."""
    lines = []
    for name, used in gpus.items():
        label = f'{{gpu_uuid="GPU-{name}"}}'
        lines += [
            f"nv_gpu_memory_used_bytes{label} {used * 1_000_000}",
            f"nv_gpu_memory_total_bytes{label} 16000000000",
            f"nv_gpu_utilization{label} 0.75",
            f"nv_gpu_power_usage{label} 50.5",
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def served(on_gpus, pretend, driver) -> Any:
    """The server has two GPUs; this machine has no driver for them."""
    driver.has(error="NVMLError_LibraryNotFound")
    path = pretend.directory / "metrics.txt"
    path.write_text(metrics(x=100, y=300))
    on_gpus.config["triton_server_path"] = str(
        pretend.tritonserver(metrics=str(path), tell=["CUDA_VISIBLE_DEVICES"])
    )
    return on_gpus


def test_without_a_driver_the_gpus_of_the_server_are_observed(served, table) -> None:
    output = served.succeeds()

    assert "Using GPU 1 GPU (16000 MB) with UUID GPU-y" in output
    assert [row[1:] for row in table("server-only")[1:]] == [
        ["GPU-x", "100.0", "75.0", "50.5"],
        ["GPU-y", "300.0", "75.0", "50.5"],
    ]
    assert len(table("model-gpu")) == 5


def test_gpus_of_the_server_can_be_chosen(served, table) -> None:
    served.succeeds("--gpus", "GPU-y")
    assert {row[1] for row in table("model-gpu")[1:]} == {"GPU-y"}

    output = served.fails(2, "--gpus", "GPU-0000", "-s", "other")
    present = "0: GPU (16000 MB) GPU-x, 1: GPU (16000 MB) GPU-y"
    assert f"there is no GPU GPU-0000 here (available: {present})" in output


def test_a_machine_without_gpus_keeps_its_variable_and_has_no_gpu_tables(
    on_gpus, driver, pretend
) -> None:
    driver.has(error="NVMLError_LibraryNotFound")
    on_gpus.environment["CUDA_VISIBLE_DEVICES"] = "3"

    output = on_gpus.succeeds("-v", profile_models={"m": {"parameters": {"concurrency": 1}}})

    assert cuda(pretend) == {"3"}
    assert "Profiling server only metrics... left out: no GPU to observe" in output
    assert "Models (GPU Metrics)" not in output
    assert "Server Only" not in output
    assert "GPU output field" not in output
    assert {path.name for path in (on_gpus.directory / "results").iterdir()} == {
        "measurements.csv", "metrics-model-inference.csv", "results.json",
    }  # fmt: skip


def test_the_checkpoint_holds_what_every_monitor_saw(on_gpus) -> None:
    on_gpus.profile("--collect-cpu-metrics")

    lines = (on_gpus.directory / "checkpoints" / "0.ckpt").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert [device["uuid"] for device in entries[0]["devices"]] == ["GPU-0000", "GPU-1111"]
    (idle,) = [entry for entry in entries if entry["entry"] == "server-only"]
    assert set(idle["gpus"]) == {"GPU-0000", "GPU-1111"}
    measured = [entry for entry in entries if entry["entry"] == "measurement"]
    assert sorted(len(entry.get("gpus", {})) for entry in measured) == [0, 2, 2]
    assert all(entry["host"]["cpu_used_ram"] > 0 for entry in measured)


def test_a_dry_run_counts_a_server_for_each_variant_that_may_keep_memory(on_gpus, pretend) -> None:
    output = on_gpus.succeeds("--dry-run", "--json")

    document = json.loads(output)
    assert document["subjects"][0]["server_starts"] == document["subjects"][0]["loads"] == 3
    assert document["assumptions"]["seconds_idle"] == 0.5
    assert pretend.server_calls == []
