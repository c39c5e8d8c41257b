# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile` with a server that runs elsewhere, on pretend programs; A model repository with a URL,
in every command that needs its files.
"""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest

from model_analyzer import __version__
from model_analyzer.errors import EXIT_OK, EXIT_USAGE
from model_analyzer.runner.timings import Timings

GPU = 'nv_gpu_memory_total_bytes{gpu_uuid="GPU-aaaa"} 17069309952\n'


@pytest.fixture
def remote(setting, elsewhere):
    """Starts a server with a plan; the options that find it, without any repository."""

    def start(**plan: Any) -> dict[str, Any]:
        there = elsewhere(**{"repository": ["m"], **plan})
        for key in ("model_repository", "triton_server_path"):
            setting.config.pop(key, None)
        return {
            "triton_launch_mode": "remote",
            "triton_http_endpoint": there.http,
            "triton_grpc_endpoint": there.grpc,
            "triton_metrics_url": there.metrics,
        }

    return start


def test_a_remote_server_is_searched_like_one_of_our_own(setting, remote, pretend) -> None:
    setting.succeeds(**remote())

    assert len(setting.rows) == 10
    assert not [call for call in pretend.server_calls if call.startswith("stop")]
    assert pretend.server_calls[-1] == "unload m"


@pytest.mark.parametrize("metrics", ["", GPU], ids=["unknown GPUs", "a GPU in its metrics"])
def test_gpu_instances_are_searched_whatever_this_machine_has(setting, remote, metrics) -> None:
    output = setting.succeeds(
        **remote(metrics=metrics), profile_models=["m"], run_config_search_max_instance_count=1
    )

    assert "Setting instance_group to [{'count': 1, 'kind': 'KIND_GPU'}]" in output


def test_results_of_another_kind_of_gpu_are_not_used(setting, remote, pretend) -> None:
    once = {"run_config_search_disable": True, "concurrency": [1]}
    setting.profile(**remote(metrics=GPU), **once)
    setting.profile(**remote(metrics=GPU), **once)
    assert len(pretend.launches) == 1

    output = setting.succeeds(**remote(metrics=GPU.replace("aaaa", "bbbb")), **once)
    same = "GPU devices match checkpoint (others of the same kind: 1 x GPU (17069 MB))"
    assert same in output
    assert len(pretend.launches) == 1

    output = setting.fails(1, **remote(metrics=GPU.replace("1706", "3406")), **once)
    assert "GPU devices do not match checkpoint" in output
    assert len(pretend.launches) == 1


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_headers_reach_the_server_and_are_shown_and_stored_nowhere(
    setting, remote, pretend, protocol: str
) -> None:
    # a failure, so that there is an error log, too
    setting.config["perf_analyzer_path"] = str(
        pretend.perf_analyzer({}, {"status": 99, "text": "error: no luck today"})
    )

    output = setting.succeeds(
        "-v",
        **remote(header="authorization:Bearer s3cr3t"),
        client_protocol=protocol,
        perf_analyzer_flags={"http-header": ["Authorization: Bearer s3cr3t", "X-Key: t0psecret"]},
        triton_server_environment={"STORAGE": "https://me:s3cr3t@host/"},
        run_config_search_disable=True,
        concurrency=[1, 2],
    )

    assert "Authorization:Bearer s3cr3t" in pretend.launches[0]
    assert "-H 'Authorization: ******'" in output
    assert (setting.directory / "perf_analyzer_error.log").exists()
    ours = [
        path
        for path in setting.directory.rglob("*")
        if path.is_file() and "programs" not in path.parts and path.name != "config.yaml"
    ]
    assert len(ours) > 5
    for secret in ("s3cr3t", "t0psecret"):
        assert secret not in output
        assert not [path for path in ours if secret.encode() in path.read_bytes()]


def test_a_model_without_a_configuration_is_completed_by_the_remote_server(
    setting, remote, pretend
) -> None:
    (setting.directory / "models" / "m" / "config.pbtxt").unlink()
    repository = setting.config["model_repository"]

    setting.succeeds("--run-config-search-disable", **remote(), model_repository=repository)

    changes = [call for call in pretend.server_calls if call.split()[0] in ("load", "unload")]
    # left as it was found, and only then measured
    assert [call.split()[0] for call in changes] == ["load", "unload", "load", "unload"]
    text = (setting.directory / "output_model_repository/m_config_default/config.pbtxt").read_text()
    assert "max_batch_size: 8" in text
    assert "preferred_batch_size" not in text


def test_a_server_elsewhere_is_no_neighbour(setting, remote) -> None:
    """Where it is on this machine, its work would look like that of others."""
    setting.timings = Timings(busy_share=-1.0)

    output = setting.succeeds(**remote())

    assert "of this machine's CPU time" not in output


@pytest.fixture
def url(setting, tmp_path: Path) -> str:
    """The URL of the repository of the setting, which exists in memory only."""
    folder = f"memory://{uuid.uuid4().hex}"
    models = Path(setting.config["model_repository"])
    fsspec.filesystem("memory").put(f"{models}/", folder, recursive=True)
    models.rename(tmp_path / "elsewhere")
    setting.config["model_repository"] = folder
    setting.environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    return folder


@pytest.fixture
def is_fetched(tmp_path: Path) -> Callable[[], bool]:
    return lambda: bool([*(tmp_path / "cache").glob("model-analyzer/repositories/*/models/m")])


def test_a_run_measures_the_same_trials(setting, url: str, tmp_path: Path) -> None:
    setting.succeeds()
    rows = len(setting.rows)

    output = setting.succeeds(model_repository=str(tmp_path / "elsewhere"))

    assert "No changes made to analyzer data" in output  # everything has been measured
    assert len(setting.rows) == rows


def test_what_is_wrong_anyway_is_told_before_the_download(setting, url: str, is_fetched) -> None:
    output = setting.fails(EXIT_USAGE, export_path="/proc/nowhere")

    assert "/proc/nowhere cannot be written" in output
    assert not is_fetched()


def test_a_dry_run_needs_the_files(setting, url: str, is_fetched) -> None:
    output = setting.succeeds("--dry-run", "--json")

    [subject] = json.loads(output)["subjects"]
    assert subject["variants"]
    assert is_fetched()


def test_patterns_are_resolved_when_it_is_fetched(setting, url: str) -> None:
    output = setting.succeeds("--dry-run", "--json", profile_models="all")
    assert [subject["models"] for subject in json.loads(output)["subjects"]] == [["m"]]

    output = setting.fails(EXIT_USAGE, "--dry-run", profile_models="x*")
    assert "matches 'x*'" in output
    assert "models there: m" in output


def test_doctor_loads_the_models(setting, url: str, is_fetched) -> None:
    _, output = setting.profile("--json", command="doctor", profile_models=None)

    findings = {finding["check"]: finding for finding in json.loads(output)["findings"]}
    assert findings["model m"]["level"] == "ok"
    assert is_fetched()


def test_validate_fetches_nothing(setting, url: str, run, tmp_path: Path, is_fetched) -> None:
    setting.profile("--dry-run", model_repository="/nowhere")

    status, output, error = run("config", "validate", str(tmp_path / "config.yaml"))
    assert status == EXIT_USAGE, output  # it looks at a path
    text = (tmp_path / "config.yaml").read_text().replace("/nowhere", url)
    (tmp_path / "config.yaml").write_text(text)
    status, output, error = run("config", "validate", str(tmp_path / "config.yaml"))

    assert status == EXIT_OK, output + error
    assert not is_fetched()


@pytest.mark.parametrize("command", ["profile", "profile --dry-run", "doctor --json"])
def test_a_url_with_nothing_there_is_one_line_with_its_place(
    setting, url: str, command: str
) -> None:
    words = command.split()
    status, output = setting.profile(
        *words[1:], command=words[0], model_repository="memory://me:s3cr3t@nothing/here"
    )

    assert status != EXIT_OK
    [line] = [line for line in output.splitlines() if "no files there" in line]
    assert "config.yaml:1:19: memory://******@nothing/here: no files there" in line
    assert "s3cr3t" not in output


_HANGING = """\
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from model_analyzer import urls
from model_analyzer.cli.main import main

class Files:
    def invalidate_cache(self):
        pass

    def ls(self, folder, detail):  # in a thread of its own, as libraries do
        with ThreadPoolExecutor(1) as pool:
            pool.submit(threading.Event().wait).result()

try:
    urls.names_in(Files(), "x", urls.ListingLimits(seconds=0.1))
except ValueError as error:
    print(error)
sys.argv = ["model-analyzer", "--version"]
main()
"""


def test_the_program_ends_while_a_store_hangs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HANGING], capture_output=True, text=True, check=True, timeout=120
    )

    assert done.stdout == f"the listing takes more than 0.1 s\n{__version__}\n"


def test_config_show_masks_credentials(run, tmp_path: Path) -> None:
    path = tmp_path / "shown.yaml"
    path.write_text("model_repository: s3://me:s3cr3t@bucket/models\nprofile_models: [m]\n")

    _, output, _ = run("config", "show", str(path))

    assert "s3://******@bucket/models" in output
    assert "s3cr3t" not in output
