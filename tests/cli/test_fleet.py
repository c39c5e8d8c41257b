# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Overviews of models: `report --fleet`, and runs with several models."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from model_analyzer.domain.goals import Goal
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import at_most, goal, measurement, trial, variant

Run = Callable[..., tuple[int, str, str]]


def measure(directory: Path, *models: str, by: Goal | None = None, rate: float = 100) -> None:
    with ProfileState(directory) as state:
        for model in models:
            of = variant(f"{model}_config_default", model=model, max_batch_size=8)
            if by is not None:
                state.record_search(model, {}, by, (), [""])
            for load in (1, 2):
                state.record(trial(of, concurrency=load), measurement(rate * load, 5))
        state.save()


def rows(page: Path) -> dict[str, str]:
    """The text of each row of an overview, by the link of the row, which leads to a file."""
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", page.read_text(), re.DOTALL)[1:]:
        (link,) = re.findall(r'<a href="([^"]*)"', row)
        assert not link.startswith("/")
        assert (page.parent / unquote(link)).is_file()
        found[unquote(link)] = re.sub(r"<[^>]*>", " ", row)
    return found


def test_models_of_several_checkpoints_are_told_apart(run: Run, tmp_path: Path) -> None:
    measure(tmp_path / "runs" / "a" / "checkpoints", "m", "odd name&")
    measure(tmp_path / "runs" / "b", "m")

    status, output, error = run("report", "--fleet", "runs/a", "runs/b", "runs/b/", "-e", "out")

    assert (status, error) == (0, "")
    page = tmp_path / "out" / "reports" / "index.html"
    assert output.splitlines()[-1] == f"wrote {page}"
    assert list(rows(page)) == [
        "summaries/a/m/result_summary.html",
        "summaries/b/m/result_summary.html",
        "summaries/a/odd name&/result_summary.html",
    ]
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "out"}


def test_without_directories_it_is_about_the_checkpoint_directory(run: Run, tmp_path: Path) -> None:
    measure(tmp_path / "here", "m", by=goal(*at_most(perf_latency_p99=1)))

    status, _, error = run("report", "--fleet", "-s", "here")

    assert (status, error) == (0, "")
    (text,) = rows(tmp_path / "reports" / "index.html").values()
    assert "limits missed" in text, "the goal of the run counts"


def test_prices_give_costs(run: Run, tmp_path: Path) -> None:
    with ProfileState(tmp_path / "checkpoints") as state:
        state.describe(devices=(), host={}, cores=8)
        state.record(trial(variant("m_config_default")), measurement(1000, 5))
        state.save()
    (tmp_path / "prices.yaml").write_text("currency: EUR\ndate: 2026-11-25\ncpu_core: 0.45\n")

    status, _, error = run("report", "--fleet", "--prices", "prices.yaml")

    assert (status, error) == (0, "")
    (text,) = rows(tmp_path / "reports" / "index.html").values()
    assert "1.00 EUR" in text, "8 cores at 0.45 for 3.6 million inferences"


def test_what_cannot_be_read_is_left_out_and_said_at_the_end(run: Run, tmp_path: Path) -> None:
    measure(tmp_path / "good", "m")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "0.ckpt").write_text("nonsense")

    status, output, error = run("report", "--fleet", "good", "empty", "bad", "-e", "out")

    assert status == 1, "a damaged checkpoint is no mistake of the user"
    (line,) = error.splitlines()
    assert "empty: no checkpoint found" in line
    assert "bad" in line
    assert "wrote" in output
    page = tmp_path / "out" / "reports" / "index.html"
    assert len(rows(page)) == 1
    assert page.read_text().count("Left out: ") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fleet", "none"), "none: no checkpoint found"),
        (("--fleet", "-e", "out"), "no checkpoint found"),
        (("some",), "unexpected argument 'some'"),
        (("--fleet", "-n", "m_config_default"), "cannot be combined"),
    ],
)
def test_nothing_to_show_is_a_mistake_in_one_line(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    status, output, error = run("report", *arguments)

    assert (status, output) == (2, "")
    assert message in error
    assert "Traceback" not in error
    assert not (tmp_path / "out").exists()


def test_a_run_with_several_models_has_an_overview(setting, make_model, tmp_path: Path) -> None:
    make_model("n1")
    make_model("n2")
    few = {"run_config_search_max_instance_count": 1, "run_config_search_max_concurrency": 1}

    output = setting.succeeds(
        profile_models={"n*": {"cpu_only": True, "latency_budget": 0.001}, "m": {"cpu_only": True}},
        **few,
    )

    page = tmp_path / "reports" / "index.html"
    assert f"wrote {page}" in output
    shown = rows(page)
    assert list(shown) == [f"summaries/{model}/result_summary.html" for model in ("n1", "n2", "m")]
    missed = ["limits missed" in text for text in shown.values()]
    assert missed == [True, True, False]


def test_all_models_of_the_repository_are_profiled(setting, make_model, tmp_path: Path) -> None:
    make_model("n")
    del setting.config["profile_models"]
    few = {"run_config_search_disable": True}

    setting.succeeds("--profile-models", "all", **few)

    assert {row[0] for row in setting.rows} == {"m", "n"}
    assert len(rows(tmp_path / "reports" / "index.html")) == 2


def test_commands_with_the_file_of_a_run_understand_its_patterns(
    setting, run: Run, tmp_path: Path
) -> None:
    """The conditions and goals of a pattern are those of the models that match it."""
    fewer = {"cpu_only": True, "perf_analyzer_flags": {"string-length": "16"}}
    setting.succeeds()
    setting.succeeds(profile_models={"m*": fewer}, run_config_search_disable=True)

    assert "1 measurement across 1 configuration" in run("best", "-f", "config.yaml")[2]
    assert "1 measurement across 1 configuration" not in run("best")[2]

    setting.profile("--dry-run", profile_models={"m*": {**fewer, "latency_budget": 0.001}})
    status, _, error = run("report", "--fleet", "-f", "config.yaml")
    assert (status, error) == (0, "")
    assert "limits missed" in (tmp_path / "reports" / "index.html").read_text()


def test_a_run_with_one_model_has_none(setting, tmp_path: Path) -> None:
    setting.succeeds(run_config_search_disable=True)
    assert not (tmp_path / "reports" / "index.html").exists()


def test_each_model_is_searched_in_its_mode_also_after_an_interruption(
    setting, make_model, run: Run, tmp_path: Path
) -> None:
    make_model("n")
    modes: dict[str, Any] = {
        "profile_models": {
            "m": {"cpu_only": True, "search": "quick"},
            "n": {"cpu_only": True, "search": "adaptive"},
        },
        "max_trials": 3,
    }
    setting.succeeds(**modes)
    again = setting.succeeds(**modes)

    assert "Profiling m_" not in again, "everything is known"
    assert "Profiling n_" not in again
    shown = run("checkpoint", "show")[1]
    assert "quick" in shown
    assert "adaptive" in shown
    summaries = tmp_path / "reports" / "summaries"
    assert "The search stopped" in (summaries / "n" / "result_summary.html").read_text()
    assert "The search stopped" not in (summaries / "m" / "result_summary.html").read_text()

    modes["profile_models"]["m"]["search"] = "brute"
    changed = setting.succeeds(**modes)

    assert "search.mode of m: was quick, now brute" in changed
    assert "search.mode of n" not in changed
    assert "Profiling n_" not in changed


def links(page: Path) -> list[str]:
    """The texts of the links to related pages, each of which leads to a file."""
    (related,) = re.findall(r'aria-label="Related pages">(.*?)</nav>', page.read_text(), re.DOTALL)
    pairs = re.findall(r'<a href="([^"]*)">([^<]*)</a>', related)
    for target, _ in pairs:
        assert (page.parent / unquote(target)).is_file()
    return [text for _, text in pairs]


def test_pages_link_each_other(run: Run, tmp_path: Path) -> None:
    measure(tmp_path / "checkpoints", "m", "odd name#")

    status, _, error = run("analyze", "-e", "out", "--profile-models", "m,odd name#")

    assert status == 0, error
    pages = tmp_path / "out" / "reports"
    assert links(pages / "summaries" / "odd name#" / "result_summary.html") == [
        "All models", "Details of odd name#_config_default",
    ]  # fmt: skip
    detail = pages / "detailed" / "odd name#_config_default" / "detailed_report.html"
    assert links(detail) == ["All models", "Summary of odd name#"]
    assert len(rows(pages / "index.html")) == 2

    (pages / "index.html").unlink()
    run("report", "-n", "m_config_default", "-e", "out")
    detail = pages / "detailed" / "m_config_default" / "detailed_report.html"
    assert links(detail) == ["Summary of m"]


def test_the_pages_of_an_overview_say_how_to_deploy_what_was_asked_for(
    run: Run, tmp_path: Path
) -> None:
    """By the goals of the file, which are not those of the run."""
    measure(tmp_path / "runs" / "a" / "checkpoints", "m", by=goal(*at_most(perf_latency_p99=40)))
    (tmp_path / "goals.yaml").write_text("latency_budget: 20\n")

    status, _, error = run("report", "--fleet", "runs/a", "-e", "out", "-f", "goals.yaml")

    assert (status, error) == (0, "")
    page = (tmp_path / "out/reports/summaries/m/result_summary.html").read_text()
    (configuration,) = re.findall(r'data-copy="([^"]*)" data-name="config.pbtxt"', page)
    assert "max_batch_size: 8" in configuration
    (command,) = re.findall(r'data-copy="([^"]*)" data-name="Kubernetes command"', page)
    words = shlex.split(unescape(command))
    assert words[:4] == ["model-analyzer", "best", "-m", "m"]
    assert "perf_latency_p99<20" in words
    status, text, error = run(*words[1:])
    assert (status, "max_batch_size: 8" in text) == (0, True), error
