# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`doctor` on pretend programs: runs that would work, and runs that would not."""

from __future__ import annotations

import json
import os
import socket
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import gpu
from tests.phrases import FOREIGN_DIRECTORY, NOT_AN_INTEGER, too_large_batch

WORKS, FAILS, USAGE = 0, 1, 2


@pytest.fixture
def examine(setting):
    """Findings by the name of their check, after the status that is expected."""

    def call(
        *arguments: str, ends: int | None = WORKS, **changes: Any
    ) -> dict[str, dict[str, Any]]:
        status, output = setting.profile(*arguments, "--json", command="doctor", **changes)
        document = json.loads(output)
        assert document["works"] is (status == WORKS)
        assert sum(document["counts"].values()) == len(document["findings"])
        findings = {finding["check"]: finding for finding in document["findings"]}
        assert ends in (None, status), findings
        return findings

    return call


def test_a_run_that_would_work(examine, pretend) -> None:
    findings = examine()

    assert findings["server starts"]["found"] == (
        "Triton 9.99: not tested (2.28 to 2.51 are tested)"
    )
    assert findings["perf_analyzer measures"]["level"] == "ok"
    assert findings["model m"]["found"] == "loads, and answers a request"
    assert [call for call in pretend.server_calls if call.startswith("load m ")]
    assert not [finding for finding in findings.values() if finding["level"] == "problem"]


def test_a_name_in_the_repository_is_never_split(examine, setting) -> None:
    del setting.config["profile_models"]
    (Path(setting.config["model_repository"]) / "a,b;c" / "1").mkdir(parents=True)

    findings = examine("--no-models", ends=None)

    models = {name for name in findings if name.startswith("model ")} - {"model repository"}
    assert models <= {"model a,b;c"}


@pytest.mark.parametrize(
    ("name", "sentence"), [("none", "does not exist"), ("empty", "contains no model")]
)
def test_a_repository_without_a_model_is_a_finding(
    examine, setting, name: str, sentence: str
) -> None:
    del setting.config["profile_models"]
    repository = setting.directory / name
    if name == "empty":
        repository.mkdir()

    findings = examine("--no-models", model_repository=str(repository), ends=FAILS)

    assert findings["model repository"]["found"] == f"{repository} {sentence}"


def test_it_tells_a_person_in_80_columns(setting) -> None:
    setting.environment["COLUMNS"] = "80"

    output = setting.succeeds(command="doctor")

    assert max(len(line) for line in output.splitlines() if "/" not in line) <= 80
    for subject in ("Options", "Machine", "Storage", "Network", "GPUs", "Programs"):
        assert f"\n{subject}\n" in "\n" + output
    assert "Everything that a run needs is in place" in output.splitlines()[-1]


def test_without_models_no_server_is_started(examine, pretend) -> None:
    findings = examine("--no-models")

    assert findings["models"]["found"] == "not loaded (--no-models)"
    assert pretend.server_calls == []


def test_each_model_that_does_not_work_is_told_with_its_fix(examine, make_model) -> None:
    words = {
        "fail": "No module named 'nosuch'",
        "die": "the server died while it loaded",
        "empty": "answers with empty tensors",
    }
    for fake in words:
        make_model(fake, fake=fake)

    findings = examine(profile_models=dict.fromkeys((*words, "m")), ends=FAILS)

    for name, text in words.items():
        assert findings[f"model {name}"]["level"] == "problem"
        assert text in findings[f"model {name}"]["found"]
        assert findings[f"model {name}"]["fix"]
    assert findings["model m"]["level"] == "ok"


def test_every_finding_says_what_to_do(examine, setting, make_model) -> None:
    make_model("fail", fake="fail")
    (setting.directory / "models" / "empty").mkdir()

    found = examine(
        profile_models={
            "m": {"perf_analyzer_flags": {"input-data": "nowhere.json", "percentile": 99.5}},
            "fail": {},
            "empty": {},
            "missing": {},
        },
        triton_docker_labels={"a": "b"},
        gpus=["7"],
        checkpoint_directory="config.yaml",
        triton_install_path="/no",
        ends=None,
    )

    wrong = [finding for finding in found.values() if finding["level"] != "ok"]
    assert len(wrong) >= 6
    for finding in wrong:
        assert finding["fix"], finding
        assert "PACKAGE" not in finding["fix"]
        assert finding["fix"] != "correct it"


def test_a_model_whose_load_hangs_is_told_with_its_fix(examine, make_model) -> None:
    make_model("hangs", fake="hang")

    findings = examine("--model-load-timeout", "1", profile_models=["hangs"], ends=FAILS)

    assert "was not loaded within 1 s" in findings["model hangs"]["found"]
    assert findings["model hangs"]["fix"]


def test_without_names_every_model_of_the_repository_is_tried(examine, setting) -> None:
    (setting.directory / "models" / "broken").mkdir()
    del setting.config["profile_models"]

    findings = examine(ends=FAILS)

    assert findings["model m"]["level"] == "ok"
    assert "no version directory" in findings["model broken"]["found"]


def test_what_the_options_want_and_the_models_do_not_have_is_told_once(examine, make_model) -> None:
    make_model("small", max_batch_size=2)
    models = {
        "mm": None,
        "small": {
            "parameters": {"batch_sizes": 4},
            "model_config_parameters": {"max_batch_size": [1, 2]},
        },
    }

    findings = examine("--no-models", profile_models=models, ends=FAILS)

    assert "no model 'mm' in " in findings["model mm"]["found"]
    assert "config.yaml:" in findings["option"]["found"]
    assert too_large_batch(4, largest=2) in findings["option"]["found"]
    assert not {"file", "defaults"} & set(findings)  # it is not "valid"


def test_a_program_that_is_not_there_is_a_problem_with_its_fix(examine, tmp_path: Path) -> None:
    findings = examine(perf_analyzer_path=str(tmp_path / "none"), ends=FAILS)

    assert "does not exist" in findings["perf_analyzer"]["found"]
    assert "model-analyzer runtime install" in findings["perf_analyzer"]["fix"]
    assert "perf_analyzer measures" not in findings
    assert findings["model m"]["level"] == "ok"


def test_a_runtime_that_the_run_installs_is_no_problem(examine, setting, tmp_path: Path) -> None:
    setting.environment |= {"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "none")}

    findings = examine(
        perf_analyzer_path=None, triton_server_path=None, runtime_install=True, ends=None
    )

    for name in ("tritonserver", "perf_analyzer"):
        assert findings[name]["level"] == "ok"
        assert findings[name]["found"].endswith("the run installs it (runtime_install)")
    assert "not loaded" in findings["models"]["found"]
    assert not [*(tmp_path / "none").glob("*/runtime*")]


def test_a_port_that_is_taken_does_not_keep_models_from_being_tried(examine) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        findings = examine(triton_http_endpoint=f"localhost:{port}", ends=FAILS)

    assert f"process {os.getpid()}" in findings["port"]["found"]
    assert findings["model m"]["level"] == "ok"


def test_directories_that_cannot_be_written_are_problems(examine, setting) -> None:
    (setting.directory / "file").touch()

    findings = examine(
        "--no-models", checkpoint_directory="file", export_path="/proc/x", ends=FAILS
    )

    assert findings["checkpoints"]["level"] == findings["export path"]["level"] == "problem"
    assert "--export-path" in findings["export path"]["fix"]


def test_a_directory_of_variants_that_must_not_be_replaced_is_a_problem(examine, setting) -> None:
    (setting.directory / "output_model_repository" / "mine").mkdir(parents=True)

    findings = examine("--no-models", override_output_model_repository=False, ends=FAILS)

    assert findings["variants"]["level"] == "problem"
    assert "--override-output-model-repository" in findings["variants"]["fix"]
    examine("--no-models")


def test_the_models_are_never_offered_for_replacement(examine, setting) -> None:
    models = setting.config["model_repository"]

    findings = examine("--no-models", output_model_repository_path=models, ends=FAILS)

    assert "contains the model repository" in findings["variants"]["found"]
    assert "--override" not in findings["variants"]["fix"]


def test_the_path_of_a_problem_is_whole_whatever_is_in_it(examine, setting) -> None:
    directory = setting.directory / "what: ever"
    (directory / "mine").mkdir(parents=True)

    findings = examine(
        "--no-models",
        override_output_model_repository=False,
        output_model_repository_path=str(directory),
        ends=None,
    )

    assert (
        findings["variants"]["found"] == f"output model repository {directory} {FOREIGN_DIRECTORY}"
    )
    assert findings["variants"]["fix"].startswith("give --override-output-model-repository")


def test_gpus_are_told_as_the_driver_shows_them(examine, setting, driver) -> None:
    driver.has(gpu(0), gpu(1, programs=[7]))
    setting.environment = driver.environment

    findings = examine("--no-models", gpus="GPU-1111")

    assert findings["GPU driver"]["found"] == "999.99"
    assert "in use by 1 program" in findings["GPU"]["found"]
    assert findings["GPUs of a run"]["found"] == "GPU-1111"


def test_a_gpu_that_is_not_here_is_a_problem(examine, setting, driver) -> None:
    setting.environment = driver.environment

    findings = examine("--no-models", gpus="GPU-9999", ends=FAILS)

    assert "there is no GPU GPU-9999 here" in findings["GPUs of a run"]["found"]


def test_in_mode_docker_the_engine_has_to_answer(examine, setting, engine, tmp_path: Path) -> None:
    engine.plan(images={"tritonserver:test": {"Env": []}})
    setting.environment["DOCKER_HOST"] = engine.host
    image = {"triton_launch_mode": "docker", "triton_docker_image": "tritonserver:test"}

    findings = examine("--no-models", **image)
    assert "has tritonserver:test" in findings["Docker"]["found"]

    setting.environment["DOCKER_HOST"] = f"unix://{tmp_path}/none"
    findings = examine("--no-models", **image, ends=FAILS)
    assert "no Docker engine answers" in findings["Docker"]["found"]


def test_a_server_elsewhere_has_to_listen(examine, elsewhere) -> None:
    server = elsewhere(loaded=["m"])
    remote = {"triton_launch_mode": "remote", "triton_http_endpoint": server.http}

    findings = examine(**remote, triton_grpc_endpoint=server.grpc)
    assert "accepts connections" in findings["remote server"]["found"]

    server.process.kill()
    server.process.wait()
    findings = examine(**remote, triton_grpc_endpoint=server.grpc, ends=FAILS)
    assert "no server listens" in findings["remote server"]["found"]
    assert "models" not in findings  # none is waited for


def reached(server) -> dict[str, Any]:
    """The options that lead to a server elsewhere."""
    return {
        "triton_launch_mode": "remote",
        "triton_http_endpoint": server.http,
        "triton_grpc_endpoint": server.grpc,
        "triton_metrics_url": server.metrics,
    }


@pytest.mark.parametrize(("version", "warns"), [("2.68.0", True), ("2.51.0", False)])
def test_a_new_server_has_to_allow_shared_memory(
    examine, elsewhere, version: str, warns: bool
) -> None:
    server = elsewhere(loaded=["m"], version=version)

    findings = examine(
        **reached(server),
        reload_model_disable=True,
        perf_analyzer_flags={"shared-memory": "system"},
    )

    finding = findings.get("shared memory of m", {})
    assert (finding.get("level") == "warning") is warns
    assert not warns or "start it with --allow-client-shm=true" in finding["fix"]


def test_the_first_request_of_a_sequence_ends_it(examine, setting, pretend) -> None:
    config = Path(setting.config["model_repository"]) / "m" / "config.pbtxt"
    config.write_text(f"{config.read_text()}\nsequence_batching {{ }}\n")

    findings = examine(ends=None)

    assert findings["model m"]["found"] == "loads, and answers a request"
    launch = pretend.launches[-1]
    assert launch[launch.index("--sequence-length") + 1] == "1"


def test_a_server_that_perf_analyzer_cannot_measure_is_a_problem(
    examine, elsewhere, pretend
) -> None:
    server = elsewhere(loaded=["m"], version="2.33.0")

    findings = examine(**reached(server), reload_model_disable=True, ends=FAILS)

    assert "refuses perf_analyzer's requests over gRPC" in findings["model m"]["found"]
    assert findings["model m"]["fix"] == "use --client-protocol http"
    assert pretend.launches == []


def test_a_run_on_a_server_that_cannot_be_measured_ends_before_its_first_trial(
    setting, elsewhere, pretend
) -> None:
    server = elsewhere(loaded=["m"], version="2.33.0")

    output = setting.fails(USAGE, **reached(server), reload_model_disable=True)

    assert "model m: Triton 2.33 refuses perf_analyzer's requests over gRPC" in output
    assert "use --client-protocol http" in output
    assert pretend.launches == []


def test_a_server_in_poll_mode_cannot_be_searched(examine, elsewhere, pretend) -> None:
    server = elsewhere(loaded=["m"], polls=True)

    findings = examine(**reached(server), ends=FAILS)
    assert findings["model control"]["level"] == "problem"
    assert "the server does not allow loading models" in findings["model control"]["found"]
    assert "--model-control-mode=explicit" in findings["model control"]["fix"]

    findings = examine(**reached(server), reload_model_disable=True)
    assert findings["model m"]["found"] == "loads, and answers a request"
    assert pretend.launches[-1][pretend.launches[-1].index("--request-count") + 1] == "1"


def test_data_is_checked_against_what_a_server_says_of_its_model(
    examine, setting, elsewhere
) -> None:
    server = elsewhere(loaded=["m"])
    del setting.config["model_repository"]
    (setting.directory / "in.json").write_text('{"data": [{"IN": [0.5, 0.5, 0.5, 2019]}]}')
    models = {"m": {"cpu_only": True, "perf_analyzer_flags": {"input-data": "in.json"}}}

    findings = examine(**reached(server), profile_models=models, ends=FAILS)

    assert "element 4 is 2019: write 2019.0 (FP32)" in findings["model m"]["found"]


def test_a_model_elsewhere_is_left_as_it_is(examine, elsewhere, pretend) -> None:
    server = elsewhere(repository=["m"])

    findings = examine(**reached(server))
    assert "the run loads it" in findings["model m"]["found"]
    findings = examine(**reached(server), reload_model_disable=True, ends=FAILS)
    assert "is not loaded on the server" in findings["model m"]["found"]
    assert not [call for call in pretend.server_calls if call.startswith("load m")]


def test_a_model_that_the_server_does_not_have(examine, elsewhere) -> None:
    findings = examine(**reached(elsewhere(repository=["other"])), ends=FAILS)

    assert findings["model m"]["found"] == (
        "the server's repository has no such model (it has other)"
    )


def test_a_server_without_gpus_is_told_with_the_remedy(examine, elsewhere, make_model) -> None:
    server = elsewhere(repository=["m", "anywhere"])
    make_model("anywhere", kind="KIND_AUTO")

    findings = examine(**reached(server), ends=None)
    assert findings["GPUs of the server"]["level"] == "ok"
    findings = examine(**reached(server), profile_models=["m"], ends=None)
    assert findings["GPUs of the server"]["level"] == "ok"  # its groups are on CPUs
    findings = examine(**reached(server), profile_models=["m", "anywhere"], ends=None)
    assert findings["GPUs of the server"]["level"] == "warning"
    assert findings["GPUs of the server"]["found"].endswith("instances of KIND_GPU for anywhere")
    assert "cpu_only: true" in findings["GPUs of the server"]["fix"]
    assert "GPUs of a run" not in findings


def test_the_first_request_of_the_run_is_sent_with_its_flags(examine, setting, pretend) -> None:
    flags = {"string-length": "7", "percentile": "99", "measurement-interval": "9000"}

    examine(
        profile_models={"m": {"cpu_only": True, "perf_analyzer_flags": flags}}, batch_sizes=[4, 2]
    )

    launch = pretend.launches[-1]
    sent = dict(pairwise(launch))
    assert (sent["-m"], sent["-b"], sent["--string-length"]) == ("m", "2", "7")
    assert sent["--request-count"] == "1"
    assert not {"--percentile", "--measurement-interval"} & {*launch}


def test_a_model_that_refuses_the_requests_of_the_run_is_a_problem(examine, pretend) -> None:
    refusal = "Thread [0] had error: [request id: 0] x must be between 0 and 100"
    pretend.perf_analyzer({}, {"status": 99, "text": refusal})

    findings = examine(ends=FAILS)

    assert "does not answer the requests of this run" in findings["model m"]["found"]
    assert "x must be between 0 and 100" in findings["model m"]["found"]
    assert "give input-data that it accepts" in findings["model m"]["fix"]


def test_variables_are_told_and_wrong_ones_are_usage_errors(examine, setting) -> None:
    setting.environment["MODEL_ANALYZER_CHECKPOINT_DIRECTORY"] = "elsewhere"
    findings = examine("--no-models", ends=None)

    assert findings["MODEL_ANALYZER_CHECKPOINT_DIRECTORY"]["found"] == "elsewhere"
    assert "/elsewhere" in findings["checkpoints"]["found"]

    setting.environment["MODEL_ANALYZER_CONCURRENCY"] = "many"
    status, output = setting.profile("--no-models", command="doctor")
    assert (status, output) == (
        USAGE,
        f"model-analyzer: MODEL_ANALYZER_CONCURRENCY: {NOT_AN_INTEGER}, found 'many'\n",
    )
