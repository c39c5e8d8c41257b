# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer checkpoint …`, each command on a small checkpoint."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant, freeze
from model_analyzer.domain.slots import Lane
from model_analyzer.state.checkpoint import load
from model_analyzer.state.format.codec import encode
from model_analyzer.state.node import NodeJournal
from model_analyzer.state.profile_state import ProfileState
from tests.cli.conftest import error_of, output_of
from tests.phrases import wrong_limit
from tests.unit.builders import (
    at_least,
    at_most,
    conclusion,
    failure,
    goal,
    measurement,
    objectives,
    one_round,
    trial,
    variant,
)

FAILED = 1
USAGE = 2
METADATA = {"owner": {"team": "vision", "tickets": [7, {"id": 17}]}, "note": "before the update"}

Run = Callable[..., tuple[int, str, str]]


def size(number: int, *, model: str = "m", name: str = "") -> ModelVariant:
    """A variant with a batch limit of its own."""
    name = name or f"{model}_config_{number}"
    return variant(name, model=model, backend="python", max_batch_size=2**number)


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    """Two checkpoints: of model `m` (one variant fails), and then of `n`, too."""
    directory = tmp_path / "checkpoints"
    with ProfileState(directory) as state:
        state.describe(devices=(), host={"Processor": "CPU A, 2 cores", "Host": "here"})
        default = size(0, name="m_config_default")
        state.record(trial(default, concurrency=1), measurement(100.0, 5.0, requests=10))
        state.record(trial(default, concurrency=8), measurement(180.0, 30.0))
        state.record(trial(size(1), concurrency=8), measurement(300.0, 25.0))
        state.record(trial(size(2), concurrency=8), measurement(250.0, 15.0))
        state.record(trial(size(3), concurrency=8), failure("m did not load"))
        state.save()
        state.record(trial(size(1, model="n")), measurement(50.0, 1.0))
        state.record_metadata(METADATA)
        state.save()
    return directory


@pytest.fixture
def call(run: Run, checkpoints: Path) -> Run:
    """A command of the group, in the directory above the checkpoints."""
    return lambda *arguments: run("checkpoint", *arguments)


def one_line(error: str) -> str:
    (line,) = error.splitlines()
    assert line.startswith("model-analyzer: ")
    return line.removeprefix("model-analyzer: ")


def column(output: str, number: int) -> list[str]:
    """A column of a plain table, without its title and header."""
    return [line.split()[number] for line in output.splitlines()[2:] if line]


@pytest.mark.parametrize(
    "command",
    [
        *(["list"], ["show"], ["trials"], ["best"], ["verify"], ["stats"], ["merge"], ["export"]),
        *(["metadata", "get"], ["metadata", "set"], ["metadata", "remove"]),
    ],
)
def test_help_has_an_example(run: Run, command: list[str]) -> None:
    output = output_of(run("checkpoint", *command, "--help"))

    assert f"model-analyzer checkpoint {' '.join(command)} " in output.partition("Example:")[2]


# -- list and show -----------------------------------------------------------------------------


def test_list_tells_what_each_holds(call: Run) -> None:
    status, output, error = call("list")

    assert (status, error) == (0, "")
    title, header, first, second, *_ = output.splitlines()
    assert title == "Checkpoints in checkpoints:"
    assert header.split("  ")[-1].strip() == "State"
    assert first.split()[4:] == ["m", "4", "4", "1", "300", "intact"]
    assert second.split()[4:] == ["m,n", "5", "5", "1", "300", "intact"]


def test_list_sorts_by_the_best_of_a_metric(call: Run, checkpoints: Path) -> None:
    with ProfileState(checkpoints) as state:
        state.record(trial(size(4)), measurement(400.0, 50.0))

    _, output, _ = call("list", "--sort-by", "perf_throughput", "--json")
    assert [item["best"] for item in json.loads(output)] == [
        {"perf_throughput": 400.0},
        {"perf_throughput": 300.0},
        {"perf_throughput": 300.0},
    ]
    assert [item["index"] for item in json.loads(output)] == [None, 0, 1]
    _, output, _ = call("list", "--sort-by", "perf_latency_p99", "--limit", "1")
    assert column(output, 0) == ["1"]
    _, output, _ = call("list", "--sort-by", "index", "--order", "desc")
    assert column(output, 0) == ["1", "0", "-"]
    _, output, _ = call("list", "--sort-by", "time", "--metric", "perf_latency_p99", "--json")
    assert set(json.loads(output)[0]["best"]) == {"perf_latency_p99"}


def test_list_names_damage(call: Run, checkpoints: Path) -> None:
    path = checkpoints / "0.ckpt"
    path.write_bytes(path.read_bytes()[:-1])

    output = output_of(call("list", "--sort-by", "state", "--order", "desc", "--json"))

    assert [item["state"].partition(":")[0] for item in json.loads(output)] == ["damaged", "intact"]


def test_list_names_the_file_that_is_damaged(call: Run, checkpoints: Path) -> None:
    shutil.copy(checkpoints / "0.ckpt", checkpoints / "5.ckpt")
    (checkpoints / "7.ckpt").write_bytes(b"")
    (checkpoints / "8.ckpt").mkdir()
    (checkpoints / "9.ckpt").write_bytes(encode({"entry": "header", "format": 99}))

    status, output, error = call("list")

    assert (status, error) == (0, "")
    assert column(output, 0) == ["0", "1", "5", "7", "8", "9"]
    states = [re.split(" {2,}", line)[-1] for line in output.splitlines()[2:8]]
    assert states[:5] == [
        "intact", "intact", "intact", "damaged: 7.ckpt: it is empty",
        "damaged: 8.ckpt: cannot be read: Is a directory",
    ]  # fmt: skip
    assert states[5].startswith("damaged: 9.ckpt: written in format 99 by a newer")
    documents = json.loads(call("list", "--json")[1])
    assert [item["index"] for item in documents] == [0, 1, 5, 7, 8, 9]
    assert documents[3]["file"] == "7.ckpt"
    assert documents[3]["state"] == "damaged: 7.ckpt: it is empty"
    assert re.search("Index +5\n", call("show", "5")[1])


def test_show_prints_plain_words(call: Run, checkpoints: Path) -> None:
    search = {
        "search.mode": "brute",
        "search.disable": "False",
        "search.together": "True",
        "search.seed": "None",
        "m.loads": "(1, 2)",
        "m.batch_sizes": "()",
        "m.parameters": "{'dynamic_batching': [{'a': 1}, None], 'count': (1, 2)}",
        "m.goal": "perf_throughput: 10; Max p99 Latency: 20 ms",
    }
    with ProfileState(checkpoints) as state:
        state.record_search("m", search, goal())
        other = variant(
            "m_config_9", default_model_filename="x", optimization={"eager_batching": True}
        )
        state.record(trial(other), measurement(1.0))
        state.save()

    _, output, _ = call("show")

    shown = dict(
        re.split(" {2,}", line) for line in output.partition("Search of m:")[2].splitlines()[1:9]
    )
    assert shown == {
        "Name": "Value",
        "search.mode": "brute",
        "search.disable": "no",
        "search.together": "yes",
        "search.seed": "not set",
        "m.loads": "1, 2",
        "m.batch_sizes": "none",
        "m.parameters": '{"dynamic_batching": [{"a": 1}, null], "count": [1, 2]}',
    }
    assert "perf_throughput: 10; Max p99 Latency: 20 ms" in output
    assert not re.search("None|True|False|'", output)


def test_show_tells_how_it_was_searched_and_what_came_of_it(call: Run, checkpoints: Path) -> None:
    best = trial(size(1), concurrency=8)
    search = {"search.mode": "adaptive", "quick.max_concurrency": "64", "adaptive.max_trials": "9"}
    with ProfileState(checkpoints) as state:
        state.record_search("m", search, goal())
        state.record_conclusion(Lane("m"), conclusion(best, trials=5))
        state.save()

    _, output, _ = call("show")

    concluded, _, method = output.partition("Search of m")
    assert re.search(r"search.mode +adaptive\n", method)
    assert re.search(r"adaptive.max_trials +9\n", method)
    assert "quick." not in method
    assert re.search(rf"Conclusion about m(.*\n)+?Recommended +{best}\n", concluded)
    assert "after 5 trials" in concluded
    assert "better, with a chance of" in concluded


def test_show_takes_a_number_a_uuid_and_a_path(call: Run, checkpoints: Path) -> None:
    uuid = json.loads(call("list", "--json")[1])[0]["uuid"]

    for which in ("0", uuid, str(checkpoints / "0.ckpt")):
        _, output, _ = call("show", which)
        assert uuid in output
        assert "n_config_1" not in output


def test_digits_are_the_number_of_a_checkpoint_or_begin_a_uuid(
    call: Run, checkpoints: Path
) -> None:
    path = checkpoints / "0.ckpt"
    uuid = json.loads(call("list", "--json")[1])[0]["uuid"]
    digits = "12345678" + uuid[8:]
    header, *others = path.read_bytes().splitlines(keepends=True)
    entry = json.loads(header)
    del entry["crc"]
    path.write_bytes(encode({**entry, "uuid": digits}) + b"".join(others))
    # the digest at the end is no longer right, so this is in the list only
    assert json.loads(call("list", "--json")[1])[0]["uuid"] == digits

    for which in ("1234", "1234567", "12345678"):
        assert "0.ckpt is damaged" in one_line(call("show", which)[2])
    assert "no checkpoint '123': there" in one_line(call("show", "123")[2])
    assert call("show", "1")[0] == 0


# -- rounds -------------------------------------------------------------------------------


def lawful(rate: float) -> Measurement:
    """100 requests, one after the other."""
    return one_round([1000 / rate] * 100, seconds=100 / rate)


@pytest.fixture
def in_rounds(tmp_path: Path) -> Path:
    """A lucky round: m_config_1 had 100 and 50 infer/sec, m_config_2 always 70. In another
    checkpoint, m_config_2 had 75.
    """
    directory = tmp_path / "rounds"
    for number, rates in ((1, (100, 50)), (2, (70, 70))):
        with ProfileState(directory) as state:
            for repetition, rate in enumerate(rates):
                state.record(
                    replace(trial(size(number)), repetition=repetition),
                    replace(lawful(rate), started=repetition + 1.0),
                )
    shutil.copytree(directory, tmp_path / "copy")
    with ProfileState(directory) as state:
        state.save()
    with ProfileState(tmp_path / "copy") as state:
        state.record(replace(trial(size(2)), repetition=2), replace(lawful(90), started=3.0))
        state.save()
    shutil.copy(tmp_path / "copy/0.ckpt", directory / "1.ckpt")
    return directory


POOLED = 200 / 3  # of m_config_1: 200 requests in 3 seconds


def test_the_best_value_is_that_of_pooled_rounds(run: Run, in_rounds: Path) -> None:
    def call(*arguments: str) -> str:
        status, output, error = run("checkpoint", *arguments)
        assert (status, error) == (0, "")
        return output

    where = ("-s", str(in_rounds))
    listed = json.loads(call("list", "--json", *where))
    assert [each["best"] for each in listed] == [
        {"perf_throughput": pytest.approx(best)} for best in (70.0, 300 / (200 / 70 + 100 / 90))
    ]
    assert "  75.6  " in call("list", *where)
    shown = call("show", "0", *where)
    assert re.search(r"m_config_1 .* 66.7 +20.2 +2 +0\n", shown)
    assert re.search(r"m_config_2 .* 70.0 +14.4 +2 +0\n", shown)
    assert "1.ckpt" in call("show", "best", *where)


def test_trials_are_pooled_unless_single_measurements_are_asked_for(
    run: Run, in_rounds: Path
) -> None:
    def call(*arguments: str) -> str:
        status, output, error = run("checkpoint", *arguments, "-s", str(in_rounds))
        assert (status, error) == (0, "")
        return output

    pooled = call("trials", "0", "--sort-by", "perf_throughput")
    assert pooled.startswith("2 trials, measurements pooled:\n")
    assert column(pooled, 1) == ["m_config_2", "m_config_1"]
    assert column(pooled, -1) == ["2", "2"]
    single = call("trials", "0", "--sort-by", "perf_throughput", "--single")
    assert single.startswith("4 single measurements, not pooled:\n")
    assert column(single, 1) == ["m_config_1", "m_config_2", "m_config_2", "m_config_1"]
    assert column(single, -1) == ["0", "0", "1", "1"]
    rows = json.loads(call("trials", "0", "--where", "perf_throughput<70", "--format", "json"))
    assert [(row["perf_throughput"], row["measurements"]) for row in rows] == [(POOLED, 2)]


def test_an_export_says_which_single_measurements_belong_together(
    run: Run, in_rounds: Path
) -> None:
    where = ("0", "-s", str(in_rounds))
    rows = json.loads(run("checkpoint", "export", *where, "--format", "json")[1])
    assert len({row["trial"] for row in rows}) == 4
    assert len({row["first_trial"] for row in rows}) == 2
    assert [row["repetition"] for row in rows] == [0, 1, 0, 1]


# -- trials and export -------------------------------------------------------------------------


def test_trials_are_chosen_and_sorted(call: Run) -> None:
    status, output, _ = call(
        "trials", "--where", "perf_latency_p99<=25", "--where", "model=m",
        "--sort-by", "perf_throughput", "--top-n", "2",
    )  # fmt: skip

    assert status == 0
    assert column(output, 1) == ["m_config_1", "m_config_2"]

    status, _, error = call("trials", "--sort-by", "gpu_used_memory", "--top-n", "1")
    assert status == 0
    assert error == "model-analyzer: no trial has gpu_used_memory: they are not sorted by it\n"
    _, output, _ = call("trials", "--sort-by", "perf_throughput", "--order", "asc", "--top-n", "1")
    assert column(output, 1) == ["n_config_1"]
    assert call("trials", "--where", "concurrency>99")[:2] == (
        0,
        "no measurement matches the filters\n",
    )


def test_trials_for_programs(call: Run, tmp_path: Path) -> None:
    _, output, _ = call("trials", "--where", "variant=m_config_default", "--format", "csv")
    first, second = csv.DictReader(io.StringIO(output))
    assert (first["perf_throughput"], first["requests"]) == ("100.0", "10")
    assert (second["concurrency"], second["requests"]) == ("8", "")

    status, output, error = call("trials", "1", "--format", "json", "-o", "t.json")
    assert (status, output, error) == (0, "", "wrote 5 rows to t.json\n")
    assert len(json.loads((tmp_path / "t.json").read_text())) == 5


def test_export_has_failures_too(call: Run, tmp_path: Path, checkpoints: Path) -> None:
    rows = json.loads(call("export", "--format", "json")[1])

    assert len(rows) == 6
    (failed,) = [row for row in rows if "failure" in row]
    assert (failed["failure"], failed["message"]) == ("MODEL_NOT_LOADED", "m did not load")
    assert {row["trial"] for row in rows} == load(checkpoints).records.keys()
    assert {row["config.max_batch_size"] for row in rows if row["model"] == "m"} == {1, 2, 4, 8}


def test_an_output_that_is_a_pipe_or_a_link_is_written_to(call: Run, tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("target.csv")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()

    assert call("export", "--format", "csv", "-o", str(pipe))[0] == 0
    reader.join(timeout=30)
    assert call("export", "--format", "csv", "-o", str(link))[0] == 0
    null = tmp_path / "null"  # a link: should this fail, the device stays
    null.symlink_to("/dev/null")
    assert call("export", "--format", "csv", "-o", str(null))[0] == 0

    assert pipe.is_fifo()
    assert link.is_symlink()
    assert null.is_symlink()
    assert null.is_char_device()
    assert read == [(tmp_path / "target.csv").read_text()]


def test_export_as_parquet(call: Run, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")

    assert call("export", "--format", "parquet", "-o", "t.parquet")[0] == 0
    assert parquet.read_table(tmp_path / "t.parquet").num_rows == 6


# -- best --------------------------------------------------------------------------------------


def test_best_answers_another_question(call: Run) -> None:
    output = output_of(call("best", "--model", "m", "--constraint", "perf_latency_p99<20"))

    assert "m_config_2" in output.split("gives")[0]
    assert "n_config_1" not in output

    _, output, _ = call("best", "--model", "m", "--metric", "perf_latency_p99:1")
    assert "m_config_default" in output.split("gives")[0]
    _, output, _ = call("best", "0", "--metric", "perf_throughput:9,perf_latency_p99:1")
    assert "m_config_1" in output.split("gives")[0]


def goals_told(error: str) -> str:
    """The goals that are said to be those of the run."""
    return "\n".join(
        line.removeprefix("model-analyzer: ")
        for line in error.splitlines()
        if "goals of the run" in line
    )


def test_best_uses_the_goals_of_the_run(call: Run, checkpoints: Path) -> None:
    with ProfileState(checkpoints) as state:
        state.record_search("m", {}, goal(*at_most(perf_latency_p99=20)))
        state.record_search("n", {}, goal())

    status, output, error = call("best", "--model", "m")
    assert status == 0
    assert "m_config_2" in output.split("gives")[0]
    assert goals_told(error) == "goals of the run: Throughput; Max p99 Latency: 20 ms"
    error = call("best")[2]
    assert goals_told(error) == "goals of the run for m: Throughput; Max p99 Latency: 20 ms"

    for arguments, chosen in (
        (["--latency-budget", "26"], "m_config_1"),
        (["--constraint", "perf_latency_p99<26"], "m_config_1"),
        (["--constraint", "none"], "m_config_1"),
        (["--metric", "perf_latency_p99", "--constraint", "none"], "m_config_default"),
    ):
        status, output, error = call("best", "--model", "m", *arguments)
        assert (status, goals_told(error)) == (0, ""), arguments
        assert chosen in output.split("gives")[0], arguments
    _, output, error = call("best", "--model", "m", "--metric", "perf_latency_p99")
    assert "m_config_default" in output.split("gives")[0]
    assert goals_told(error) == "goals of the run: Max p99 Latency: 20 ms"


def test_that_a_run_wished_for_what_is_the_default_is_not_told(
    call: Run, checkpoints: Path
) -> None:
    with ProfileState(checkpoints) as state:
        wished = objectives(perf_throughput=1)
        state.record_search("m", {}, goal(*at_most(perf_latency_p99=80), wished=wished))

    assert goals_told(call("best", "--model", "m", "--latency-budget", "30")[2]) == ""


def test_a_bound_takes_the_place_of_that_of_the_run_on_the_same_metric(
    call: Run, checkpoints: Path
) -> None:
    wished = objectives(perf_latency_p99=2, perf_throughput=1)
    bounds = at_most(perf_latency_p99=10) + at_least(perf_throughput=60)
    with ProfileState(checkpoints) as state:
        state.record_search("m", {}, goal(*bounds, wished=wished))

    _, output, error = call("best", "--model", "m", "--min-throughput", "200")

    assert "No configuration meets the constraints" in output
    assert goals_told(error) == (
        "goals of the run: p99 Latency (weight 2), Throughput (weight 1); Max p99 Latency: 10 ms"
    )
    _, output, _ = call(
        "best", "--model", "m", "--min-throughput", "200", "--latency-budget", "20",
        "--constraint", "perf_latency_p99<99",
    )  # fmt: skip
    assert "m_config_2" in output.split("gives")[0]


def test_best_writes_what_can_be_deployed(call: Run, tmp_path: Path) -> None:
    status, output, _ = call("best", "--top-n", "2", "--output-dir", "deploy")

    files = sorted(path for path in (tmp_path / "deploy").rglob("*") if path.is_file())
    assert status == 0
    assert [path.relative_to(tmp_path / "deploy").as_posix() for path in files] == [
        "m/m_config_1/config.pbtxt",
        "m/m_config_1/measurements.json",
        "m/m_config_2/config.pbtxt",
        "m/m_config_2/measurements.json",
        "n/n_config_1/config.pbtxt",
        "n/n_config_1/measurements.json",
    ]
    assert "wrote deploy/m/m_config_1/config.pbtxt" in output
    assert "max_batch_size: 2" in files[0].read_text()
    document = json.loads(files[1].read_text())
    assert document["measurements"][0]["metrics"]["perf_throughput"] == 300.0


def test_best_stays_inside_its_directory(run: Run, tmp_path: Path) -> None:
    part = size(0, model="/etc/p")
    hostile = replace(size(0, model="../../x"), composing=(part,))
    with ProfileState(tmp_path / "in" / "checkpoints") as state:
        state.record(trial(hostile), measurement(1.0))

    output_of(run("checkpoint", "best", "-s", "in/checkpoints", "--output-dir", "in/side/deploy"))

    assert {path.name for path in tmp_path.iterdir()} == {"in"}
    assert {path.name for path in (tmp_path / "in").iterdir()} == {"checkpoints", "side"}
    written = [path for path in (tmp_path / "in/side/deploy").rglob("*") if path.is_file()]
    assert len(written) == 3


# -- metadata ----------------------------------------------------------------------------------


def test_metadata_is_read_set_and_removed(call: Run) -> None:
    assert json.loads(call("metadata", "get")[1]) == METADATA
    assert call("metadata", "get", "note") == (0, "before the update\n", "")
    assert call("metadata", "get", "owner.tickets.1.id") == (0, "17\n", "")

    assert call("metadata", "set", "owner", '{"team": "audio"}') == (0, "", "")
    assert json.loads(call("metadata", "get", "owner")[1]) == {"team": "audio"}
    assert call("metadata", "remove", "note")[0] == 0
    assert list(json.loads(call("metadata", "get")[1])) == ["owner"]


def test_metadata_survives_later_checkpoints(call: Run, checkpoints: Path) -> None:
    call("metadata", "set", "key", "value")
    with ProfileState(checkpoints) as state:
        state.record(trial(size(4)), measurement(1.0))
        state.save()
    assert not (checkpoints / "journal").exists()

    assert call("metadata", "get", "key") == (0, "value\n", "")


def test_metadata_is_not_written_while_a_run_writes(call: Run, checkpoints: Path) -> None:
    with ProfileState(checkpoints):
        error = error_of(call("metadata", "set", "key", "value"), FAILED)
        assert "checkpoints" in one_line(error)
        assert call("metadata", "get", "note")[0] == 0  # readers are never blocked


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["get", "nope"], USAGE, "no metadata 'nope': there is owner, note"),
        (["get", "owner.lead"], USAGE, "below 'owner' there is team, tickets"),
        (["get", "owner.tickets.9"], USAGE, "no metadata 'owner.tickets.9'"),
        (["remove", "nope"], USAGE, "no metadata 'nope': there is owner, note"),
        (["set", "owner.team", "x"], USAGE, "set the whole top-level value"),
        (["set", "", "x"], USAGE, "KEY"),
        (["set", "key", "null"], USAGE, "use `metadata remove`"),
        (["set", "key", "[1e999]"], USAGE, "it contains a number that is too large"),
        (["set", "key", "[" * 65 + "]" * 65], USAGE, "more than 64 levels deep"),
        (["set", "key", "[" * 9999 + "]" * 9999], USAGE, "more than 64 levels deep"),
    ],
)
def test_what_cannot_be_done_with_metadata(call: Run, arguments, status: int, says: str) -> None:
    ended, output, error = call("metadata", *arguments)

    assert (ended, output) == (status, "")
    assert says in one_line(error)


def test_a_note_begins_no_directory(run: Run, tmp_path: Path) -> None:
    error = error_of(run("checkpoint", "metadata", "set", "-s", "typo", "key", "value"), USAGE)

    assert one_line(error).startswith("typo: no checkpoint found")
    assert not (tmp_path / "typo").exists()


# -- verify, stats and merge -------------------------------------------------------------------


def test_verify_tells_damage_by_its_status(call: Run, checkpoints: Path) -> None:
    output = output_of(call("verify"))
    assert output.splitlines()[0] == "checkpoints/0.ckpt: intact, 5 outcomes"

    path = checkpoints / "1.ckpt"
    path.write_bytes(path.read_bytes().replace(b"250.0", b"999.0"))
    output = output_of(call("verify", "--json"), FAILED)
    first, second = json.loads(output)
    assert (first["intact"], second["intact"]) == (True, False)
    assert "the checksum does not match" in second["damage"]
    assert second["lost"].startswith("1 of ")

    assert call("verify", "checkpoints/0.ckpt")[0] == 0
    output = output_of(call("verify", "checkpoints/0.ckpt", "none.ckpt"), USAGE)
    assert output.splitlines()[1] == "none.ckpt: does not exist"
    assert call("verify", "checkpoints/1.ckpt")[1].endswith("; 5 outcomes can be read\n")


def test_stats_measure(call: Run) -> None:
    status, output, _ = call("stats", "1", "--json")

    numbers = json.loads(output)
    assert status == 0
    assert numbers["outcomes"] == 6
    assert numbers["bytes"] == pytest.approx(numbers["entries"] * numbers["bytes_per_entry"])
    assert numbers["load_s"] > 0
    assert numbers["serialise_s"] > 0
    assert (numbers["dominant_node"], numbers["nodes"][""]["outcomes"]) == (None, 6)
    assert numbers["nodes"][""]["seconds"] == 0
    assert "Time to load" in call("stats")[1]


def test_stats_name_the_node_that_dominates(call: Run, checkpoints: Path) -> None:
    from model_analyzer.state.format.layout import Layout
    from tests.unit.state.test_overview import node_journal

    node_journal(Layout(checkpoints), "node-1", range(1, 30))

    numbers = json.loads(call("stats", "--json")[1])
    assert numbers["dominant_node"] == "node-1"
    assert numbers["nodes"]["node-1"]["outcomes"] == 29
    assert "Most of the time was measured on node-1." in call("stats")[1]


def test_stats_tell_what_each_node_measured_and_lost(run: Run, tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(size(0)), replace(measurement(1.0), duration_s=2.5))
        for node in ("node-1", "node-3", "node-3"):
            assert state.record_loss(trial(size(9)), node) is None
    for node, first, seconds in (("node-1", 1, 10.0), ("node-2", 3, 4.25)):
        with NodeJournal(tmp_path, node) as journal:
            for number in (first, first + 1):
                journal.record(trial(size(number)), replace(failure(), duration_s=seconds))

    output = run("checkpoint", "stats", "-s", str(tmp_path))[1]
    nodes = json.loads(run("checkpoint", "stats", "-s", str(tmp_path), "--json")[1])["nodes"]

    counts = ("outcomes", "failures", "lost", "seconds", "complete")
    assert {name: tuple(node[each] for each in counts) for name, node in nodes.items()} == {
        "": (1, 0, 0, 2.5, True),
        "node-1": (2, 2, 1, 20.0, True),
        "node-2": (2, 2, 0, 8.5, True),
        "node-3": (0, 0, 2, 0.0, True),
    }
    assert re.search(r"Time measured +31\.0 s\n", output)
    assert re.search(r"Node +Outcomes +Failed +Lost +Measured \(s\)", output)
    assert re.search(r"node-1 +2 +2 +1 +20\.00 .* yes\n", output)


def test_stats_tell_which_node_has_lost_outcomes(run: Run, tmp_path: Path) -> None:
    for node, first in (("node-1", 1), ("node-2", 3)):
        with NodeJournal(tmp_path, node) as journal:
            for number in (first, first + 1):
                journal.record(trial(size(number)), failure())
    lines = (tmp_path / "journal-node-2").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal-node-2").write_bytes(b"".join(lines)[:-20])

    _, output, errors = run("checkpoint", "stats", "-s", str(tmp_path))

    assert "journal-node-2 is damaged" in one_line(errors)
    assert re.search(r"node-1 +2 .* yes\n", output)
    assert re.search(r"node-2 +1 .* NO\n", output)
    nodes = json.loads(run("checkpoint", "stats", "-s", str(tmp_path), "--json")[1])["nodes"]
    assert (nodes["node-1"]["complete"], nodes["node-2"]["complete"]) == (True, False)


def test_merge_writes_the_next_checkpoint(call: Run, tmp_path: Path, checkpoints: Path) -> None:
    with ProfileState(tmp_path / "other") as state:
        state.describe(devices=(), host={"Processor": "CPU A, 2 cores"})
        state.record(trial(size(1), concurrency=8), replace(measurement(310.0), started=9))
        state.record(trial(size(5, name="m_config_2")), measurement(1.0))
        state.record(trial(size(2), concurrency=8), failure("m died"))

    output = output_of(call("merge", "checkpoints", "other", "--output-dir", "both"))

    assert output.splitlines() == [
        "wrote both/0.ckpt with 8 outcomes",
        "kept 1 repetition of trials that another checkpoint measured, too: rankings pool all"
        " measurements of a trial",
        "left out 1 failure, because another checkpoint has a measurement or a newer failure of the"
        " same trial",
        "renamed 1 variant, because each name must mean one configuration",
    ]
    merged = load(tmp_path / "both")
    assert merged.metadata == freeze(METADATA)
    assert len(merged.records) == 8
    trials = json.loads(call("trials", "-s", "both", "--format", "json")[1])
    assert [row["perf_throughput"] for row in trials if row["measurements"] == 2] == [305.0]
    call("merge", "checkpoints/0.ckpt", "other", "--output-dir", "both")
    assert (tmp_path / "both/1.ckpt").exists()


def test_merge_refuses_other_processors(call: Run, tmp_path: Path) -> None:
    with ProfileState(tmp_path / "other") as state:
        state.describe(devices=(), host={"Processor": "CPU B, 64 cores"})
        state.record(trial(), measurement(1.0))

    error = error_of(call("merge", "checkpoints", "other", "--output-dir", "both"), FAILED)

    message = one_line(error)
    assert "measured on different processors and cannot be compared" in message
    assert "CPU A, 2 cores in the first, CPU B, 64 cores in the other" in message
    assert not (tmp_path / "both").exists()


# -- nodes of a cluster ------------------------------------------------------------------------


@pytest.fixture
def shared(run: Run, tmp_path: Path) -> Path:
    """A directory that two nodes share, after a run that was killed: the outcome of node-1 is in
    its checkpoint, those of node-2 and node-3 only in the journals of these.
    """
    directory = tmp_path / "shared"
    with ProfileState(directory) as state:
        state.describe(devices=(), host={"Processor": "CPU A, 2 cores"})
        state.record(trial(size(0), concurrency=1), measurement(100.0), "node-1")
        state.save()
    for number, throughput in ((2, 300.0), (3, 200.0)):
        with NodeJournal(directory, f"node-{number}") as journal:
            journal.record(trial(size(number), concurrency=1), measurement(throughput))
    return directory


def test_commands_on_latest_use_the_outcomes_of_all_nodes(run: Run, shared: Path) -> None:
    def of_shared(*arguments: str) -> str:
        status, output, error = run("checkpoint", *arguments, "-s", str(shared))
        assert (status, error) == (0, "")
        return output

    before = sorted(path.name for path in shared.iterdir())
    listed = json.loads(of_shared("list", "--json"))
    assert [(each["state"], each["measurements"]) for each in listed] == [
        ("intact", 1),
        ("in the journal only", 2),
    ]
    assert {"m_config_0", "m_config_2", "m_config_3"} <= set(of_shared("show").split())
    assert of_shared("trials").startswith("3 trials")
    assert "m_config_2" in of_shared("best", "--top-n", "1").splitlines()[1]
    rows = json.loads(of_shared("export", "--format", "json"))
    assert [row["node"] for row in rows] == ["node-1", "node-2", "node-3"]
    assert of_shared("verify").count("intact, 1 outcome\n") == 3
    assert sorted(path.name for path in shared.iterdir()) == before


def test_checkpoints_have_the_outcomes_of_all_nodes(run: Run, shared: Path, tmp_path: Path) -> None:
    run("checkpoint", "metadata", "set", "-s", str(shared), "note", "after the run")
    with ProfileState(shared) as state:
        state.save()
    store, copy, both = (str(tmp_path / name) for name in ("store", "copy", "both"))

    run("checkpoint", "upload", "-s", str(shared), "--to", store)
    run("checkpoint", "download", "--latest", "--from", store, "--output-dir", copy)
    with ProfileState(tmp_path / "other") as state:
        state.describe(devices=(), host={"Processor": "CPU A, 2 cores"})
        state.record(trial(size(4), concurrency=1), measurement(1.0), "node-1")
    run("checkpoint", "merge", copy, str(tmp_path / "other"), "--output-dir", both)

    _, output, _ = run("checkpoint", "stats", "-s", both, "--json")
    nodes = json.loads(output)["nodes"]
    assert {name: (node["outcomes"], node["complete"]) for name, node in nodes.items()} == {
        "node-1": (2, True),
        "node-2": (1, True),
        "node-3": (1, True),
    }


# -- what cannot be done -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["show", "7"], USAGE, "checkpoints: no checkpoint '7': there are 0, 1"),
        (["show", "-s", "none"], USAGE, "none: no checkpoint found"),
        (["list", "-s", "none"], USAGE, "none: no checkpoints found"),
        (["verify", "-s", "none"], USAGE, "none: no checkpoints found"),
        (["list", "--sort-by", "x"], USAGE, "--sort-by: unknown metric 'x'"),
        (["list", "--checkpoint-prefix", "a/b"], USAGE, "--checkpoint-prefix: expected a name"),
        (["list", "--checkpoint-prefix", "a-journal"], USAGE, "--checkpoint-prefix: expected a"),
        (["show", "x" * 300], USAGE, "no checkpoint"),
        (["merge", "x" * 300, "y", "--output-dir", "z"], USAGE, "File name too long"),
        (["trials", "--where", "perf_troughput<5"], USAGE, "did you mean 'perf_throughput'?"),
        (["trials", "--sort-by", "x"], USAGE, "--sort-by: unknown column 'x'"),
        (["trials", "-o", "x"], USAGE, "choose --format csv, json or parquet"),
        (["best", "--model", "x"], USAGE, "model 'x' was not measured; measured: m, n"),
        (["best", "--metric", "x"], USAGE, "--metric: unknown metric 'x'"),
        (["best", "--metric", "perf_throughput:x"], USAGE, "--metric"),
        (["best", "--latency-budget", "0"], USAGE, "--latency-budget: must be above 0, found 0"),
        (["best", "--min-throughput", "x"], USAGE, "--min-throughput: expected a number"),
        (["best", "--constraint", "x"], USAGE, "write, for example, perf_latency_p99<20"),
        (
            ["best", "--constraint", "perf_throughput<5"],
            USAGE,
            wrong_limit("perf_throughput", right="min", wrong="max") + " (use >)",
        ),
        (["best", "--constraint", "perf_latency_p99>=5"], USAGE, "not 'min' (use <)"),
        (["merge", "checkpoints", "--output-dir", "x"], USAGE, "at least two"),
        (["export", "--format", "csv", "-o", "none/x.csv"], USAGE, "cannot write none/x.csv"),
        (["best", "--output-dir", "checkpoints/0.ckpt"], USAGE, "check --output-dir"),
    ],
)
def test_errors_are_one_line(call: Run, arguments, status: int, says: str) -> None:
    ended, output, error = call(*arguments)

    assert (ended, output) == (status, "")
    assert says in one_line(error)


# -- upstream ----------------------------------------------------------------------------------

UPSTREAM = Path(__file__).parents[1] / "golden" / "upstream"


def test_a_directory_of_upstream_is_listed_like_ours(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "4.ckpt").write_bytes((UPSTREAM / "plain.ckpt").read_bytes())

    status, output, error = run("checkpoint", "list", "-s", "old", "--json")

    assert (status, error) == (0, "")
    (listed,) = json.loads(output)
    assert (listed["index"], listed["models"], listed["state"]) == (4, ["add_sub"], "intact")
    assert listed["measurements"] > 1


@pytest.mark.parametrize("content", [b"profile_models: [m]\n", b"{}", b"\x93\x00\xff\n\x07"])
def test_a_file_of_another_kind_is_not_a_checkpoint(
    run: Run, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "e.yaml").write_bytes(content)

    status, _, error = run("checkpoint", "import", "e.yaml", "-s", "new")

    assert (status, error) == (USAGE, "model-analyzer: e.yaml: is not a checkpoint\n")


def test_a_file_with_the_beginning_of_a_checkpoint_is_damaged(run: Run, tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(b'{"entry":"header","form')

    assert "is damaged" in run("checkpoint", "import", "copy", "-s", "new")[2]


def test_a_file_of_upstream_begins_a_directory(run: Run, tmp_path: Path) -> None:
    sample = UPSTREAM / "ensemble.ckpt"

    output = output_of(run("checkpoint", "import", str(sample), "-s", "new"))

    count = len(load(tmp_path / "new").records)
    assert output == f"wrote new/0.ckpt with {count} outcomes\n"
    error = error_of(run("checkpoint", "import", str(sample), "-s", "new"), USAGE)
    assert "already has measurements" in one_line(error)


@pytest.mark.parametrize("shape", ["plain", "optuna", "bls", "several_models"])
def test_what_came_from_upstream_goes_back_unchanged(run: Run, tmp_path: Path, shape: str) -> None:
    sample = UPSTREAM / f"{shape}.ckpt"
    run("checkpoint", "import", str(sample), "-s", "new")

    output_of(run("checkpoint", "export", "-s", "new", "--format", "upstream", "-o", "back.ckpt"))

    back, original = (json.loads(path.read_text()) for path in (tmp_path / "back.ckpt", sample))
    assert back["ResultManager.results"] == original["ResultManager.results"]
    assert back.get("OptunaRunConfigGenerator.seed") == original.get(
        "OptunaRunConfigGenerator.seed"
    )


def test_what_has_no_place_upstream_is_counted(call: Run) -> None:
    status, output, error = call("export", "--format", "upstream")

    assert status == 0
    assert json.loads(output)["ResultManager.results"]
    assert "failures left out, because this format cannot hold them: 1" in error


def test_the_directory_may_come_from_a_variable(
    run: Run, checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "moved"
    checkpoints.rename(moved)
    monkeypatch.setenv("MODEL_ANALYZER_CHECKPOINT_DIRECTORY", str(moved))

    assert run("checkpoint", "verify")[0] == 0
    assert run("compare", "0", "1")[0] == 0
    error = error_of(run("checkpoint", "verify", "-s", "none"), USAGE)
    assert "none" in error


def test_a_prefix_that_cannot_be_used_names_its_variable(call: Run, monkeypatch) -> None:
    monkeypatch.setenv("MODEL_ANALYZER_CHECKPOINT_PREFIX", "lock")

    error = error_of(call("list"), USAGE)

    assert one_line(error).startswith("MODEL_ANALYZER_CHECKPOINT_PREFIX: expected")
