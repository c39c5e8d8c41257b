# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""From what a run goes on, as the user says it."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState
from tests.phrases import USING_ITS_MEASUREMENTS

ALL = 10  # trials of the setting


def test_checkpoints_are_written_as_often_and_named_as_asked(setting) -> None:
    setting.succeeds("--checkpoint-every", "4", "--checkpoint-prefix", "night")

    assert setting.checkpoints == ["night-0.ckpt", "night-1.ckpt", "night-2.ckpt"]
    assert len(load(setting.directory / "checkpoints", "night").records) == ALL


def test_a_run_without_checkpoints_leaves_none_and_answers(setting) -> None:
    output = setting.succeeds("--no-checkpoint", "-v")

    assert not (setting.directory / "checkpoints").exists()
    assert "No checkpoint is read or written." in output
    assert "Saved checkpoint" not in output
    assert len(setting.rows) == ALL


def test_a_run_goes_on_from_a_chosen_checkpoint(setting, pretend) -> None:
    setting.profile("--checkpoint-every", "4")
    before = len(pretend.launches)
    first = load(setting.directory / "checkpoints").header.uuid

    setting.succeeds("--resume-from", "0")

    assert len(pretend.launches) - before == ALL - 4
    assert len(load(setting.directory / "checkpoints").records) == ALL
    setting.succeeds("--resume-from", first[:8])
    assert len(pretend.launches) - before == ALL - 4


def test_a_run_goes_on_from_elsewhere_and_keeps_what_it_measures_here(setting, pretend) -> None:
    setting.profile("--checkpoint-directory", "then")
    before = len(pretend.launches)
    elsewhere = {"checkpoint_load_directory": "then", "run_config_search_max_concurrency": 4}

    status, output = setting.profile(**elsewhere)
    again, _ = setting.profile(**elsewhere)

    assert (status, again) == (0, 0), output
    assert len(pretend.launches) - before == ALL // 2, (
        "once only: the second goes on from the first"
    )
    assert sorted(path.name for path in (setting.directory / "then").glob("*.ckpt")) == ["0.ckpt"]
    assert len(load(setting.directory / "checkpoints").records) == ALL * 3 // 2


def test_a_run_goes_on_from_a_file(setting, pretend) -> None:
    setting.profile("--checkpoint-directory", "then")
    (setting.directory / "then" / "0.ckpt").rename(setting.directory / "saved by hand")
    before = len(pretend.launches)

    setting.succeeds("--checkpoint-load-file", "saved by hand")

    assert len(pretend.launches) == before


def test_starting_anew_removes_what_there_was(setting, pretend) -> None:
    setting.profile()
    (setting.directory / "checkpoints" / "notes").write_text("mine")

    setting.succeeds("--fresh")

    assert len(pretend.launches) == 2 * ALL
    assert setting.checkpoints == ["0.ckpt"]
    assert (setting.directory / "checkpoints" / "notes").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Loaded checkpoint from file {}/checkpoints/1.ckpt"),
        (["--resume-from", "0"], "Loaded checkpoint from file {}/checkpoints/0.ckpt"),
        (
            ["--checkpoint-load-file", "saved", "--checkpoint-directory", "new"],
            "Loaded checkpoint from file {}/saved",
        ),
        (
            ["--checkpoint-load-directory", "checkpoints", "--checkpoint-directory", "new"],
            "Loaded checkpoint from file {}/checkpoints/1.ckpt",
        ),
        (["--checkpoint-directory", "new"], "No checkpoint file found, starting a fresh run."),
        (["--fresh"], "Starting a fresh run."),
    ],
)
def test_the_log_says_what_a_run_starts_from_and_nothing_else(
    setting, arguments: list[str], sentence: str
) -> None:
    setting.profile("--checkpoint-every", "6")
    assert setting.checkpoints == ["0.ckpt", "1.ckpt"]
    shutil.copy(setting.directory / "checkpoints" / "0.ckpt", setting.directory / "saved")

    output = setting.succeeds("-v", *arguments)

    lines = re.findall(r"Loaded checkpoint.*|.*tarting a fresh run.*|Starting from.*", output)
    assert [line.split("] ")[-1] for line in lines] == [sentence.format(setting.directory)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--resume-from", "7"], "no checkpoint '7'"),
        (["--resume-from", "nonsense"], "no checkpoint 'nonsense'"),
        (["--checkpoint-load-file", "nowhere"], "nowhere: cannot be read: No such file"),
        (["--checkpoint-load-directory", "nowhere"], "nowhere: no checkpoint found"),
        (["--checkpoint-load-file", "config.yaml"], "config.yaml: is not a checkpoint"),
    ],
)
def test_what_is_not_there_is_one_line(setting, arguments: list[str], said: str) -> None:
    output = setting.fails(2, "-q", *arguments)

    assert said in output
    assert len(output.splitlines()) == 1, output


@pytest.mark.parametrize(
    "arguments",
    [
        ["--fresh", "--resume-from", "0"],
        ["--fresh", "--no-checkpoint"],
        ["--no-checkpoint", "--checkpoint-load-file", "x"],
        ["--no-checkpoint", "--checkpoint-load-directory", "x"],
    ],
)
def test_two_beginnings_are_one_too_many(setting, arguments: list[str]) -> None:
    output = setting.fails(2, *arguments)

    assert "cannot be combined" in output


# -- another machine ---------------------------------------------------------------------------


@pytest.fixture
def elsewhere(setting) -> Path:
    """A checkpoint of everything, measured with another processor."""
    setting.profile()
    directory: Path = setting.directory / "checkpoints"
    checkpoint = load(directory)
    shutil.rmtree(directory)
    host = {**checkpoint.header.host, "Processor": "Another, 96 cores"}
    with ProfileState(directory) as state:
        state.start_from(checkpoint)
        state.describe(devices=[], host=host)
        for record in [*checkpoint.records]:
            machine = record.outcome.machine
            assert machine is not None
            machine = replace(machine, processor="Another", cores=96)
            state.record(record.trial, replace(record.outcome, machine=machine))
        state.save()
    return directory


def test_another_machine_is_an_error_where_nobody_can_be_asked(setting, pretend, elsewhere) -> None:
    before = len(pretend.launches)

    output = setting.fails(1, "-q")

    assert len(output.splitlines()) == 1, output
    assert f"The machine does not match the checkpoint: {elsewhere} was measured on" in output
    assert "was measured on a different processor: was Another, 96 cores" in output
    assert "--on-mismatch use or --on-mismatch fresh" in output
    assert len(pretend.launches) == before


def test_measurements_of_another_machine_are_used_where_that_is_asked_for(
    setting, pretend, elsewhere
) -> None:
    before = len(pretend.launches)

    output = setting.succeeds("--on-mismatch", "use")

    assert USING_ITS_MEASUREMENTS in output
    assert len(pretend.launches) == before


def test_measuring_afresh_beside_another_machine_keeps_what_was_measured_there(
    setting, pretend, elsewhere
) -> None:
    before = len(pretend.launches)
    old = sorted(elsewhere.glob("*.ckpt"))

    setting.succeeds("--on-mismatch", "fresh")

    assert len(pretend.launches) - before == ALL
    assert all(path.exists() for path in old)
    assert "Another" not in load(elsewhere).header.host["Processor"]


def test_what_else_is_different_is_said_and_no_obstacle(setting, pretend) -> None:
    setting.profile()
    before = len(pretend.launches)

    output = setting.succeeds("-v", run_config_search_max_concurrency=4)

    assert "search.max_concurrency of m: was 2, now 4" in output
    assert len(pretend.launches) - before == ALL // 2


def test_how_the_search_was_made_is_in_the_checkpoint(setting) -> None:
    setting.profile()

    lines = (setting.directory / "checkpoints" / "0.ckpt").read_text().splitlines()
    (search,) = [entry for entry in map(json.loads, lines) if entry["entry"] == "search"]
    assert search["subject"] == "m"
    assert search["search.max_concurrency"] == "2"


def is_round(record: TrialRecord) -> bool:
    return isinstance(record.outcome, Measurement) and record.outcome.is_round


def test_own_windows_are_measured_where_there_are_only_rounds(
    setting, pretend, tmp_path: Path
) -> None:
    """Killed in between, the run goes on with the next trial."""
    setting.succeeds(measurement="auto")
    short = len(load(tmp_path / "checkpoints").records)
    before = len(pretend.launches)

    process = setting.start(measurement="perf_analyzer")
    setting.wait_until(lambda: len(pretend.launches) > before + 2)
    process.kill()
    process.wait()
    setting.succeeds("-v", measurement="perf_analyzer")

    assert len(pretend.launches) - before in (ALL, ALL + 1)  # the one that was killed, too
    records = load(tmp_path / "checkpoints").records
    careful = [each for each in records if not is_round(each)]
    assert (len(careful), len(records)) == (ALL, short + ALL)
    assert {each.trial.repetition for each in careful} == {0}
    document = json.loads((tmp_path / "results" / "results.json").read_text())
    recommended = document["models"][0]["recommended"]
    assert (recommended["times_measured"], recommended["instalments"]) == (1, None)
    status, output = setting.profile("-v", measurement="perf_analyzer")
    assert (status, len(pretend.launches) - before in (ALL, ALL + 1)) == (0, True), output


def test_rounds_continue_own_windows(setting, pretend, tmp_path: Path) -> None:
    setting.succeeds()

    setting.succeeds(measurement="auto")

    records = load(tmp_path / "checkpoints").records
    firsts = [each for each in records if not each.trial.repetition]
    assert len(firsts) == ALL
    assert not any(map(is_round, firsts))
    further = [each for each in records if each.trial.repetition]
    assert further
    assert all(map(is_round, further))
    document = json.loads((tmp_path / "results" / "results.json").read_text())
    assert document["models"][0]["recommended"]["times_measured"] > 1


@pytest.mark.parametrize("counts", [False, True])
def test_the_time_of_earlier_runs_counts_for_a_budget_if_the_user_says_so(
    setting, pretend, counts: bool
) -> None:
    """The first run takes longer than the budget of the second, and leaves something to measure."""
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"sleep_s": 0.4}))
    adaptive = {"search": "adaptive", "budget_counts_earlier_runs": counts}
    setting.profile("--max-measurements", "3", **adaptive, budget="10m")
    before = len(pretend.launches)

    setting.succeeds(**adaptive, budget="1s")

    assert (len(pretend.launches) == before) is counts
