# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`--output-formats` of profile, analyze and report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from model_analyzer.reports.document import results_schema
from model_analyzer.state.profile_state import ProfileState
from tests.cli.conftest import output_of
from tests.unit.builders import failure, measurement, trial, variant

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A directory with a checkpoint of one model."""
    best = variant("m_config_0", max_batch_size=4)
    with ProfileState(tmp_path / "checkpoints") as state:
        state.record(trial(best, concurrency=1), measurement(100.0, 5.0))
        state.record(trial(best, concurrency=2), measurement(150.0, 6.0))
        state.record(trial(best, concurrency=4), failure("m did not load"))
        state.save()
    return tmp_path


def files(directory: Path) -> set[str]:
    """What was exported."""
    return {
        path.relative_to(directory).as_posix()
        for path in directory.rglob("*")
        if path.is_file() and "best" not in path.parts
    }


# Those of a summary in Markdown.
IMAGES = {
    f"reports/summaries/m/{chart}.svg"
    for chart in ("throughput_v_latency", "throughput_v_concurrency", "latency_v_concurrency")
}


def test_every_format_is_written_where_it_belongs(run: Run, measured: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    output_of(
        run(
            *("analyze", "--profile-models", "m", "-m", "models", "--skip-detailed-reports"),
            *("-e", "out", "--output-formats", "md,json,csv,parquet,png,svg"),
        )
    )

    out = measured / "out"
    assert files(out) == {
        *(
            f"plots/simple/m/{chart}.{form}"
            for chart in (
                "throughput_v_latency",
                "throughput_v_concurrency",
                "latency_v_concurrency",
            )
            for form in ("png", "svg")
        ),
        *IMAGES,
        "reports/summaries/m/answer.png",
        "reports/summaries/m/answer.svg",
        "reports/summaries/m/result_summary.html",
        "reports/summaries/m/result_summary.md",
        "results/measurements.csv",
        "results/measurements.parquet",
        "results/metrics-model-inference.csv",
        "results/results.json",
        "perf_analyzer_error.log",
    }
    jsonschema.validate(json.loads((out / "results/results.json").read_text()), results_schema())
    table = parquet.read_table(out / "results/measurements.parquet").to_pydict()
    assert table["concurrency"] == [2, 1, 4]
    assert table["failure"] == [None, None, "MODEL_NOT_LOADED"]
    assert len((out / "results/measurements.csv").read_text().splitlines()) == 4
    assert (out / "plots/simple/m/throughput_v_latency.svg").read_text().startswith("<svg")


def test_only_what_is_asked_for_is_written_and_html_always(run: Run, measured: Path) -> None:
    output_of(
        run(
            *("analyze", "--profile-models", "m", "-m", "models", "--skip-detailed-reports"),
            *("-e", "out", "-o", "md"),
        )
    )

    assert files(measured / "out") == {
        *IMAGES,
        "reports/summaries/m/result_summary.html",
        "reports/summaries/m/result_summary.md",
        "perf_analyzer_error.log",
    }


def test_report_writes_the_measurements_of_a_variant(run: Run, measured: Path) -> None:
    output = output_of(run("report", "-n", "m_config_0", "-e", "out", "-o", "csv,json,svg"))

    folder = measured / "out/reports/detailed/m_config_0"
    assert {path.name for path in folder.iterdir()} == {
        "detailed_report.html", "measurements.csv", "measurements.json",
    }  # fmt: skip
    assert not list((measured / "out/plots").rglob("*.png"))
    assert list((measured / "out/plots").rglob("throughput_v_latency.svg"))
    document = json.loads((folder / "measurements.json").read_text())
    assert [row["metrics"]["perf_throughput"] for row in document["measurements"]] == [150, 100]
    assert output.count("wrote ") == 3


@pytest.mark.parametrize("command", ["analyze", "report"])
def test_without_times_inside_the_server_the_breakdown_is_left_out(
    run: Run, measured: Path, command: str
) -> None:
    pytest.importorskip("weasyprint")
    arguments = {
        "analyze": ("--profile-models", "m", "-m", "models"),
        "report": ("-n", "m_config_0"),
    }[command]

    output_of(run(command, *arguments, "-e", "out", "-o", "png,svg,pdf,md,html"))

    assert not [name for name in files(measured / "out") if "latency_breakdown" in name]
    for page in (measured / "out/reports").rglob("*.html"):
        assert 'data-chart="throughput_v_latency"' in page.read_text()
        assert 'data-chart="latency_breakdown"' not in page.read_text()


@pytest.mark.parametrize("command", ["profile", "analyze", "report"])
def test_an_unknown_format_is_one_line_with_those_there_are(run: Run, command: str) -> None:
    subject = ["-n", "v"] if command == "report" else ["--profile-models", "m", "-m", "."]

    status, output, error = run(command, *subject, "-o", "html,docx")

    assert (status, output) == (2, "")
    assert "--output-formats: expected one of html, pdf, md, json, csv, parquet, " in error
    assert [line[-12:] for line in error.splitlines()] == ["found 'docx'"]


def hide(setting, module: str) -> None:
    """As if the package were not installed."""
    absent = setting.directory / "absent"
    absent.mkdir()
    (absent / f"{module}.py").write_text(f"raise ImportError('no {module}')\n")
    path = filter(None, [str(absent), os.environ.get("PYTHONPATH")])
    setting.environment["PYTHONPATH"] = os.pathsep.join(path)


MISSING = [
    ("pyarrow", {"output_formats": "parquet"}, "format parquet needs the package pyarrow"),
    ("optuna", {"run_config_search_mode": "optuna"}, "search mode optuna needs the package optuna"),
    ("docker", {"triton_launch_mode": "docker"}, "launch mode docker needs the package docker"),
]


@pytest.mark.parametrize(("module", "changes", "told"), MISSING)
@pytest.mark.parametrize("arguments", [(), ("--dry-run",)])
def test_what_is_not_installed_is_told_before_anything_starts(
    setting, pretend, arguments: tuple[str, ...], module: str, changes: dict[str, str], told: str
) -> None:
    hide(setting, module)

    output = setting.fails(2, *arguments, **changes)

    (line,) = [line for line in output.splitlines() if "pip install" in line]
    assert f"{told}: no {module} (pip install '{module}>=" in line
    assert "config.yaml:" in line
    assert "Traceback" not in output
    assert pretend.server_calls == []
    assert not (setting.directory / "results").exists()


@pytest.mark.parametrize("command", ["config validate", "doctor"])
@pytest.mark.parametrize(("module", "changes", "told"), MISSING)
def test_it_is_told_by_every_check(
    setting, run: Run, command: str, module: str, changes: dict[str, str], told: str
) -> None:
    hide(setting, module)

    setting.profile("--help", **changes)  # writes the file
    file = ["config.yaml"] if command == "config validate" else ["-f", "config.yaml", "--no-models"]
    status, *written = run(*command.split(), *file, env=setting.variables)
    output = " ".join("".join(written).split())

    assert status in (1, 2)
    assert output.count(f"pip install '{module}>=") == 1
    assert told in output or "the Docker SDK" in output


def test_without_its_library_pdf_is_left_out_with_one_line(setting) -> None:
    hide(setting, "weasyprint")
    told = "PDF is left out, HTML is written: output format pdf needs the package weasyprint: "

    for arguments in (("--dry-run",), ()):
        output = setting.succeeds(*arguments, "--output-formats", "pdf")

        assert output.count(told) == 1
        assert "Traceback" not in output
    reports = setting.directory / "reports"
    assert [*reports.rglob("result_summary.html")]
    assert not [*reports.rglob("*.pdf")]


def test_markdown_is_md(run: Run, measured: Path) -> None:
    (measured / "c.yaml").write_text("output_formats: [markdown, csv]\n")
    command = ("analyze", "--profile-models", "m", "-m", "models", "--skip-detailed-reports")

    for place, arguments in (
        ("line", ["--output-formats", "Markdown"]),
        ("yaml", ["-f", "c.yaml"]),
    ):
        output_of(run(*command, "-e", place, *arguments))
        assert any(name.endswith(".md") for name in files(measured / place)), place
