# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`--verify`: the recommendation measured once more where it is deployed, on pretend programs."""

from __future__ import annotations

import json
import re

import pytest


def proofs(setting) -> list[dict]:
    document = json.loads((setting.directory / "results" / "results.json").read_text())
    return document["models"][0]["proofs"]


def grows(pretend, *more: dict) -> str:
    """A perf_analyzer whose throughput rises with each launch, until `more`."""
    steps = [{"throughput": 100.0 * 1.1**n, "windows": [100.0 * 1.1**n] * 3} for n in range(10)]
    return str(pretend.perf_analyzer(*steps, *more))


def test_a_plain_server_with_the_written_files_is_measured(setting, pretend) -> None:
    again = {"throughput": 235.0, "windows": [235.0] * 3}
    setting.config["perf_analyzer_path"] = grows(pretend, again)

    output = setting.succeeds("--verify")

    calls = [call for call in pretend.server_calls if not call.startswith("infer")]
    start = next(i for i, call in enumerate(calls) if "--load-model=m" in call)
    # the run's own server has ended; nothing is loaded by anybody
    assert calls[start - 2 :][0].startswith("unload m")
    assert calls[start - 1] == "stop"
    assert calls[start + 1] == "has m count=2 max_batch_size=2"
    assert not any(call.startswith(("load", "unload")) for call in calls[start:])
    assert "--disable-auto-complete-config" in calls[start]  # as in the manifests
    (proof,) = proofs(setting)
    assert (proof["kind"], proof["verdict"]) == ("deployed", "passed")
    numbers = proof["numbers"]
    assert numbers["perf_throughput_verified"] == 235.0
    assert numbers["perf_throughput_low"] < 235.0 < numbers["perf_throughput_high"]
    assert {"ready_s", "first_request_ms"} <= set(numbers)
    assert "Proven: a plain server with the written files performs as measured" in output


def test_a_server_that_is_worse_than_promised_fails_the_run(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = grows(pretend, {"throughput": 90.0, "windows": [90.0]})

    output = setting.fails(1, "--verify")

    assert proofs(setting)[0]["verdict"] == "failed"
    assert re.search(r"Failed: a plain server .* is worse than measured: Throughput 90", output)
    assert "measured 3 times" in " ".join(output.split())


def test_one_disturbed_check_breaks_no_promise(setting, pretend) -> None:
    usual = {"throughput": 235.0, "windows": [235.0] * 3}
    disturbed = {"throughput": 170.0, "windows": [170.0]}
    setting.config["perf_analyzer_path"] = grows(pretend, disturbed, usual)

    setting.succeeds("--verify")

    (proof,) = proofs(setting)
    assert (proof["verdict"], proof["numbers"]["times_measured"]) == ("passed", 2)


def test_files_with_which_no_server_starts_are_told(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = grows(pretend)
    setting.succeeds()
    spoiled = "error: creating server: Internal - failed to load all models"
    setting.config["triton_server_path"] = str(pretend.tritonserver(spoiled=spoiled))

    output = setting.fails(1, "--verify", command="best")

    assert "Failed: a plain server with the written files does not start" in output
    assert "failed to load all models" in output


def test_best_verifies_what_a_checkpoint_recommends(setting, pretend) -> None:
    again = {"throughput": 235.0, "windows": [235.0] * 3}
    setting.config["perf_analyzer_path"] = grows(pretend, again)
    setting.succeeds()
    launches = len(pretend.launches)

    output = setting.succeeds("--verify", "--format", "kubernetes", command="best")

    assert len(pretend.launches) == launches + 1
    assert re.search(r"# passed, \d{4}-\d\d-\d\d \d\d:\d\d UTC: a plain server", output)
    # the proof is in the checkpoint: nothing is measured for the same manifest again
    _, again = setting.profile("--format", "kubernetes", command="best")
    assert "# passed, " in again
    assert len(pretend.launches) == launches + 1


def test_a_deployed_server_is_left_as_it_is(setting, pretend, elsewhere) -> None:
    again = {"throughput": 235.0, "windows": [235.0] * 3}
    setting.config["perf_analyzer_path"] = grows(pretend, again)
    setting.succeeds()
    address = elsewhere(loaded=["m"]).grpc

    # the pretend server has the defaults of every model
    output = setting.fails(1, "--verify", f"grpc://{address}", command="best")

    assert re.search(
        rf"Failed: the server at grpc://{address} has other configurations: m has instances", output
    )
    assert not [call for call in pretend.server_calls if call.startswith("unload")][1:]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("nowhere", "expected true or a URL, found 'nowhere'"),
        ("ftp://host:21", "no server is reached by 'ftp://host:21'"),
        ("grpc://host", "expected HOST:PORT"),
        ("http://host:8000", "the run measures over grpc: give the server's URL for that"),
    ],
    ids=["word", "scheme", "no port", "protocol"],
)
def test_a_url_that_cannot_be_verified_is_refused(setting, value: str, says: str) -> None:
    output = setting.fails(2, "--verify", value)

    assert says in output


def test_modes_without_a_server_of_their_own_are_refused(setting) -> None:
    output = setting.fails(2, "--verify", triton_launch_mode="remote")
    assert "triton_launch_mode remote starts no server: give the URL" in output

    output = setting.fails(2, "--verify", triton_launch_mode="c_api")
    assert "not with executor ray or triton_launch_mode c_api" in output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--verify", "true", "--variant", "m_config_0"], "is about the recommendation"),
        (["0", "--verify"], "is about the recommendation of the newest checkpoint only"),
    ],
    ids=["variant", "checkpoint"],
)
def test_only_the_newest_recommendation_is_verified(setting, arguments, says: str) -> None:
    setting.succeeds()

    output = setting.fails(2, *arguments, command="best")

    assert says in output
