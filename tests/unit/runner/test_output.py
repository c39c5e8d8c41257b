# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer's output, as recorded from real runs (tests/golden/perf_analyzer).

Whatever perf_analyzer leaves behind: it is a measurement, or a failure that says why.

`make fuzz` tries the same for much longer.

Recordings of perf_analyzer break no law, and the laws find faults that are put into them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given

from model_analyzer.domain.measurements import Doubt, Measurement
from model_analyzer.noise.laws import doubts_of
from model_analyzer.runner.load.ended import collect
from model_analyzer.runner.load.output import (
    OutputVerdict,
    composing_model,
    deciding_lines,
    judge,
    last_lines,
    of_all_versions,
    parse_composing_table,
    parse_counted,
    parse_report,
    parse_table,
)
from model_analyzer.runner.load.profile_export import Counted, Export, read_export
from model_analyzer.runner.load.sampling import evidence_of, sampled
from tests.unit.builders import known, trial, variant
from tests.unit.runner.load_outputs import OUTPUTS, is_measured_or_failed

GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer"

# what each recorded run ended with
STATUS = {
    "stable": 0, "batch": 0, "ensemble": 0, "http": 0, "request_rate": 0, "latency_threshold": 0,
    "unstable": 2, "too_short": 3, "crashed": 99, "no_model": 99, "no_server": 99,
    "bad_option": 99, "bad_value": 99, "some_failed": 0,
}  # fmt: skip


def text(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_text()


def table(name: str) -> str:
    return (GOLDEN / f"{name}.csv").read_text()


@pytest.mark.parametrize("name", ["stable", "batch", "ensemble", "http", "request_rate"])
def test_a_table_gives_milliseconds_and_inferences_per_second(name: str) -> None:
    header, row = (line.split(",") for line in table(name).splitlines())
    cells = dict(zip(header, map(float, row), strict=True))

    values = known(parse_table(table(name)))

    assert values["perf_throughput"] == cells["Inferences/Second"]
    assert values["perf_latency_p99"] == cells["p99 latency"] / 1000
    assert values["perf_latency_avg"] == cells["Avg latency"] / 1000
    assert values["perf_client_response_wait"] == cells["response wait"] / 1000
    assert values["perf_client_send_recv"] == cells["request/response"] / 1000
    assert values["perf_server_queue"] == cells["Server Queue"] / 1000
    assert values["perf_server_compute_infer"] == cells["Server Compute Infer"] / 1000


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("stream_flag", Counted(11, 33)),
        ("stream_some_empty", Counted(12, 30)),
        ("stream_no_flag", Counted(10, 30)),
        ("stable", None),
    ],
)
def test_responses_are_counted_of_models_that_stream(name: str, counted: Counted | None) -> None:
    assert parse_counted(table(name), text(name)) == counted


def test_a_request_of_two_inferences_is_one_request() -> None:
    """Recorded: two inferences in a request, and three responses."""
    rows = "Concurrency,Inferences/Second,Response Throughput\n1,55.2545,82.8817\n"
    said = "  Batch size: 2\n    Request count: 20\n"

    assert parse_counted(rows, said) == Counted(20, 60)


@pytest.mark.parametrize("rates", ["0,10", "1e-300,1e300", "x,10", "10,"])
def test_odd_rates_count_nothing(rates: str) -> None:
    rows = f"Inferences/Second,Response Throughput\n{rates}\n"

    assert parse_counted(rows, "Batch size: 1\n Request count: 2\n") is None


def test_the_last_row_of_several_counts() -> None:
    assert parse_table("Concurrency,Inferences/Second\n1,10\n2,20\n") == {"perf_throughput": 20}


@pytest.mark.parametrize(
    "content",
    ["", "Concurrency,Inferences/Second\n", "Concurrency,p99 latency\n1,5\n",
     "garbage", "a,b\n1,2\n",
     "Concurrency,Inferences/Second\n1,nan\n", "Concurrency,Inferences/Second\n1,inf\n"],
)  # fmt: skip
def test_a_table_without_a_throughput_is_not_a_result(content: str) -> None:
    assert parse_table(content) is None


def test_cells_without_a_number_are_left_out() -> None:
    values = parse_table("Inferences/Second,p99 latency,Avg GPU Utilization\n5,-,GPU-1:0.5;\n")
    assert values == {"perf_throughput": 5}


def test_composing_models_have_server_side_values() -> None:
    values = known(parse_composing_table((GOLDEN / "ensemble.scale_v1.csv").read_text()))
    assert set(values) == {
        "perf_throughput",
        "perf_server_queue",
        "perf_server_compute_input",
        "perf_server_compute_infer",
        "perf_server_compute_output",
    }


# an ensemble that calls both versions of a model, as perf_analyzer 2.51 wrote it
OF_VERSIONS = {
    "vall_v1": "1,95.0038,0,1,24,16,5304,49,0",
    "vall_v2": "1,94.0814,0,2,40,14,4688,136,0",
}
HEADER = (
    "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,"
    "Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv"
)


def test_two_versions_of_a_composing_model_count_together(tmp_path: Path) -> None:
    (tmp_path / "output.txt").touch()
    for name, row in OF_VERSIONS.items():
        (tmp_path / f"{name}.results.csv").write_text(f"{HEADER}\n{row}\n")

    ended = collect(tmp_path, "perf_analyzer", 0, embedded=False, stopped=None, death="")

    (values,) = ended.composing.values()
    assert values["perf_throughput"] == pytest.approx(189.0852)
    assert values["perf_server_queue"] == pytest.approx(0.03196, abs=1e-5)
    assert values["perf_server_compute_infer"] == pytest.approx(4.9975, abs=1e-4)


def test_a_version_without_calls_does_not_count() -> None:
    idle = {"perf_throughput": 0.0, "perf_server_queue": 7.0}
    busy = {"perf_throughput": 5.0, "perf_server_queue": 1.0}

    assert of_all_versions([idle]) == of_all_versions([idle, idle]) == idle
    assert of_all_versions([idle, busy]) == busy


@pytest.mark.parametrize(
    ("file", "model"),
    [("scale_v1.results.csv", "scale"), ("a_v2_v13.results.csv", "a_v2"), ("results.csv", None),
     ("scale_v1.other.csv", None)],
)  # fmt: skip
def test_the_file_name_tells_the_composing_model(file: str, model: str | None) -> None:
    assert composing_model(file, "results.csv") == model


def test_the_text_tells_requests_and_the_last_three_windows() -> None:
    report = parse_report(text("stable"))
    assert report.requests is not None
    assert report.requests > 1000
    assert len(report.windows) == 3
    assert all(window > 1000 for window in report.windows)


def test_an_unstable_run_tells_its_windows_too() -> None:
    report = parse_report(text("unstable"))
    assert report.requests is None
    assert len(report.windows) == 3
    assert 0 < report.spread < 1


def test_the_spread_of_no_window_is_zero() -> None:
    assert parse_report("").spread == 0


def test_windows_that_differ_in_latency_only_are_not_steady() -> None:
    report = parse_report(
        "  Pass [1] throughput: 100 infer/sec. Avg latency: 1000 usec (std 9 usec).\n"
        "  Pass [2] throughput: 100 infer/sec. Avg latency: 3000 usec (std 9 usec).\n"
    )
    assert report.windows == (100, 100)
    assert report.spread == 1
    assert not report.is_steady(percent=10)
    assert report.is_steady(percent=50)


@pytest.mark.parametrize(("requests", "are_few"), [(29, True), (30, False)])
def test_fewer_than_ten_requests_in_a_window_are_few(requests: int, are_few: bool) -> None:
    passes = "".join(f"  Pass [{n}] throughput: 4 infer/sec.\n" for n in range(1, 5))
    report = parse_report(f"{passes}    Request count: {requests}\n")
    assert report.has_few_requests == are_few
    assert report.requests_per_s(batch_size=2) == 2


def test_an_unknown_number_of_requests_is_not_few() -> None:
    assert not parse_report("").has_few_requests
    assert parse_report("").requests_per_s(batch_size=1) == 0


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("stable", OutputVerdict.DONE),
        ("batch", OutputVerdict.DONE),
        ("ensemble", OutputVerdict.DONE),
        ("http", OutputVerdict.DONE),
        ("request_rate", OutputVerdict.DONE),
        ("unstable", OutputVerdict.UNSTABLE),
        ("too_short", OutputVerdict.TOO_SHORT),
        # its text speaks of a larger window, but requests failed
        ("crashed", OutputVerdict.FAILED),
        ("no_model", OutputVerdict.FAILED),
        ("no_server", OutputVerdict.FAILED),
        ("bad_option", OutputVerdict.FAILED),
        ("bad_value", OutputVerdict.FAILED),
        # exit status 0 proves nothing
        ("latency_threshold", OutputVerdict.FAILED),
        # nor does a table: two of four threads gave up in the last window, the others got faster
        ("some_failed", OutputVerdict.FAILED),
    ],
)
def test_runs_are_judged_by_status_text_and_table(name: str, verdict: OutputVerdict) -> None:
    has_table = (GOLDEN / f"{name}.csv").exists()
    assert judge(STATUS[name], text(name), has_table=has_table) is verdict


def test_a_killed_run_has_failed_with_any_output() -> None:
    assert judge(137, text("too_short"), has_table=False) is OutputVerdict.FAILED


@pytest.mark.parametrize("name", ["unstable", "too_short"])
def test_a_larger_window_does_not_fix_failed_requests(name: str) -> None:
    failing = f"{text(name)}\nThread [3] had error: out of luck\n"
    assert judge(STATUS[name], failing, has_table=False) is OutputVerdict.FAILED


def test_an_error_of_a_request_comes_first() -> None:
    lines = deciding_lines("E0101 backend.cc] an error of no account\n" + text("crashed"))
    assert lines[0] == "Thread [0] had error: Stub process 'crasher_0_0' is not healthy."


def test_the_same_error_of_many_threads_is_reported_once() -> None:
    threads = [f"Thread [{number}] had error: no memory" for number in range(16)]
    said = "Error: Failed to allocate memory"
    assert deciding_lines("\n".join([said, *threads])) == (threads[0], said)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("some_failed", "Thread [0] had error: failing: out of luck"),
        ("crashed", "Stub process 'crasher_0_0' is not healthy"),
        ("no_model", "Request for unknown model: 'nope'"),
        ("no_server", "Connection refused"),
        ("bad_option", "unrecognized option '--nonsense'"),
        ("bad_value", "Unsupported type provided: 'foo'"),
        ("unstable", "Failed to obtain stable measurement"),
    ],
)
def test_the_deciding_lines_explain_the_failure(name: str, words: str) -> None:
    assert any(words in line for line in deciding_lines(text(name)))


@pytest.mark.parametrize("status", [2, 3])
def test_a_status_without_the_words_of_perf_analyzer_is_a_failure(status: int) -> None:
    assert judge(status, "License expired", has_table=False) is OutputVerdict.FAILED


def test_the_last_lines_are_those_before_the_usage() -> None:
    assert last_lines("a\n b \n\nc\nd\nUsage: x\ny\n") == ("b", "c", "d")
    assert last_lines("") == ()


def test_usage_and_noise_decide_nothing() -> None:
    lines = deciding_lines(text("bad_option") + "\nError: Failed to initialize NVML\n")
    assert len(lines) == 1


@given(OUTPUTS)
def test_any_output_is_a_measurement_or_a_failure(example: Mapping[str, Any]) -> None:
    is_measured_or_failed(example)


_GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer"
_EXPORTS = sorted(path.stem for path in _GOLDEN.glob("*.json") if path.with_suffix(".csv").exists())


def recorded(name: str) -> tuple[dict[str, Any], str, str]:
    """The export, the table and the text of a recording."""
    path = _GOLDEN / name
    text = path.with_suffix(".txt")
    content: dict[str, Any] = orjson.loads(path.with_suffix(".json").read_bytes())
    table = path.with_suffix(".csv").read_text()
    return content, table, text.read_text() if text.exists() else ""


def doubts(export: Export, content: Mapping[str, Any], table: str) -> tuple[Doubt, ...]:
    """What the laws say about a round with this export and table."""
    (experiment,) = content["experiments"]
    in_flight = int(experiment["experiment"]["value"])
    has_streams = any(len(each["response_timestamps"]) > 1 for each in experiment["requests"])
    measured = known(sampled(export, in_flight=in_flight, batch_size=1, with_tokens=has_streams))
    values = {**(parse_table(table) or {}), **measured.values}
    model = replace(measured, values=values, evidence=evidence_of(export))
    of = variant(model_transaction_policy={"decoupled": has_streams})
    return doubts_of(trial(of, concurrency=in_flight), Measurement(models=(model,)))


@pytest.mark.parametrize("name", _EXPORTS)
def test_a_recording_breaks_no_law(name: str) -> None:
    content, table, text = recorded(name)
    export = known(read_export([orjson.dumps(content).decode()], parse_counted(table, text)))
    assert doubts(export, content, table) == ()


def test_flags_that_count_as_tokens_are_found() -> None:
    content, table, text = recorded("stream_flag")
    right = read_export([orjson.dumps(content).decode()], parse_counted(table, text))
    wrong = read_export(
        [orjson.dumps(content).decode()]
    )  # without that count, the flags are tokens
    assert right is not None
    assert wrong is not None
    (doubt,) = doubts(replace(wrong, responses=right.responses), content, table)
    assert doubt.law == "tokens are responses"


def test_answers_before_their_requests_are_found() -> None:
    content, table, _ = recorded("round")
    for request in content["experiments"][0]["requests"][::10]:
        request["response_timestamps"] = [request["timestamp"] - 1_000_000]
    export = known(read_export([orjson.dumps(content).decode()]))
    (doubt, *_) = doubts(export, content, table)
    assert doubt.law == "answers follow requests"
    assert doubt.gross
