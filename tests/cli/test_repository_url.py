# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A model repository with a URL, in every command that needs its files."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest

from model_analyzer import __version__
from model_analyzer.errors import EXIT_OK, EXIT_USAGE


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
    status, output = setting.profile()
    assert status == EXIT_OK, output
    rows = len(setting.rows)

    status, output = setting.profile(model_repository=str(tmp_path / "elsewhere"))

    assert status == EXIT_OK, output
    assert "No changes made to analyzer data" in output  # everything has been measured
    assert len(setting.rows) == rows


def test_what_is_wrong_anyway_is_told_before_the_download(setting, url: str, is_fetched) -> None:
    status, output = setting.profile(export_path="/proc/nowhere")

    assert status == EXIT_USAGE
    assert "/proc/nowhere cannot be written" in output
    assert not is_fetched()


def test_a_dry_run_needs_the_files(setting, url: str, is_fetched) -> None:
    status, output = setting.profile("--dry-run", "--json")

    assert status == EXIT_OK, output
    [subject] = json.loads(output)["subjects"]
    assert subject["variants"]
    assert is_fetched()


def test_patterns_are_resolved_when_it_is_fetched(setting, url: str) -> None:
    status, output = setting.profile("--dry-run", "--json", profile_models="all")
    assert status == EXIT_OK, output
    assert [subject["models"] for subject in json.loads(output)["subjects"]] == [["m"]]

    status, output = setting.profile("--dry-run", profile_models="x*")
    assert status == EXIT_USAGE
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
