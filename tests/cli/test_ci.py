# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The action for GitHub, the job for GitLab and the container image, as far as they run here."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Setting

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action" / "action.yml").read_text())


@pytest.fixture
def job(setting: Setting, pretend: Any) -> dict[str, str]:
    """The variables of a runner, in a directory with a configuration and a baseline."""
    setting.succeeds(concurrency=[1], run_config_search_disable=True)
    (setting.directory / "checkpoints").rename(setting.directory / "base line")
    setting.config |= {"concurrency": [1], "run_config_search_disable": True}
    (setting.directory / "run.yaml").write_text(json.dumps(setting.config))
    return {
        **setting.variables,
        "PATH": f"{Path(setting.program).parent}:{setting.variables['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT / "action"),
        "GITHUB_STEP_SUMMARY": str(setting.directory / "summary.md"),
        "GITHUB_OUTPUT": str(setting.directory / "output.txt"),
    }


def measure(job: dict[str, str], directory: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
    """Runs the step as a runner does: its status, the summary, and the outputs."""
    (step,) = [each for each in ACTION["runs"]["steps"] if each.get("id") == "measure"]
    given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) }}", lambda match: given[match[1]], text)
        for name, text in step["env"].items()
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env={**job, **variables}, cwd=directory, capture_output=True, text=True, timeout=180,
        check=False,
    )  # fmt: skip
    told = Path(job["GITHUB_OUTPUT"]).read_text().splitlines()
    summary = Path(job["GITHUB_STEP_SUMMARY"]).read_text()
    return done.returncode, summary + done.stderr, dict(line.split("=", 1) for line in told)


@pytest.mark.parametrize(
    ("rules", "status"),
    [("perf_throughput<-50%\n\nperf_latency_p99>900%\n", 0), ("perf_throughput>0", 3)],
)
def test_the_action_compares_with_the_baseline(
    job: dict[str, str], setting: Setting, rules: str, status: int
) -> None:
    told = measure(
        job,
        setting.directory,
        config="run.yaml",
        baseline="base line",
        fail_on=rules,
        output="o u t",
    )

    assert told[0] == status, told[1]
    assert "## Model Analyzer: changes" in told[1]
    for word in ("![", "Charts", "Throughput vs. Latency"):
        assert word not in told[1]
    assert "## Best configurations" in told[1]
    assert "## How it was measured" in told[1]
    assert told[2] == {
        "status": str(status), "report": "o u t/report.md", "junit": "o u t/compare.xml",
    }  # fmt: skip
    assert (setting.directory / "o u t" / "compare.xml").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("inputs", "status", "text"),
    [
        ({"config": "run.yaml", "baseline": "none"}, 0, "No baseline yet: none has no checkpoint."),
        ({"config": "run.yaml"}, 0, "# Result summary: m"),
        ({"config": "$(touch hacked)"}, 2, "$(touch hacked)"),
        ({"config": "--help; touch hacked"}, 2, "touch hacked"),
        (
            {"config": "run.yaml", "baseline": "base line", "fail_on": "x`touch hacked`"},
            2,
            "x`touch",
        ),
    ],
)
def test_the_action_says_what_it_did(
    job: dict[str, str], setting: Setting, inputs: dict[str, str], status: int, text: str
) -> None:
    told = measure(job, setting.directory, **inputs)

    assert (told[0], told[2]["status"], told[2]["junit"]) == (status, str(status), "")
    assert text in told[1]
    assert not (setting.directory / "hacked").exists()


def test_inputs_are_no_part_of_a_script() -> None:
    steps = ACTION["runs"]["steps"]
    assert [step for step in steps if "${{" in step["run"] or step["shell"] != "bash"] == []
    shown = re.findall(r"steps\.measure\.outputs\.(\w+)", json.dumps(ACTION["outputs"]))
    assert shown == [*ACTION["outputs"]]


@pytest.mark.parametrize(
    ("rule", "status"), [("perf_throughput<-50%", 0), ("perf_throughput>0", 3)]
)
def test_the_job_for_gitlab_runs(
    job: dict[str, str], setting: Setting, rule: str, status: int
) -> None:
    (described,) = yaml.safe_load((ROOT / "deploy" / "gitlab-ci.yml").read_text()).values()
    own = {"PACKAGE": "x", "CONFIG": "run.yaml", "BASELINE": "base line", "FAIL_ON": rule}
    assert own.keys() == described["variables"].keys()

    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(described["script"])],
        env={**job, **own}, cwd=setting.directory, capture_output=True, text=True, timeout=180,
        check=False,
    )  # fmt: skip

    assert done.returncode == status, done.stderr
    assert (setting.directory / described["artifacts"]["reports"]["junit"]).exists()


def test_the_image_is_small_pinned_and_without_rights() -> None:
    text = re.sub(r"\\\n\s*", "", (ROOT / "deploy" / "Containerfile").read_text())
    lines = [line.split(None, 1) for line in text.splitlines() if line and line[0] != "#"]
    words = {word for word, _ in lines}
    assert words == {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    bases = [rest.split()[0] for word, rest in lines if word == "FROM"]
    assert all(re.fullmatch(r"docker\.io/library/python:3\.\d+-slim-\w+", base) for base in bases)
    (user,) = [rest for word, rest in lines if word == "USER"]
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    assert all(json.loads(rest) for word, rest in lines if word in ("ENTRYPOINT", "CMD"))
    after = [word for word, _ in lines[[word for word, _ in lines].index("USER") :]]
    assert {"RUN", "COPY"}.isdisjoint(after), "files of the image belong to root"
    assert not re.search(r"curl|wget|sudo|apt", text)
