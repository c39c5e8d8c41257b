# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of requests, as they come from production; files of logs: read as a stream, with limits."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.models import empty
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.reading.log_rows import LogProblem
from model_analyzer.runner.load.logged_requests import Replay, ReplayProblem, parse_log, read_replay

SECOND = 10**9


@pytest.mark.parametrize(
    "text",
    [
        "timestamp\n1700000000.25\n1700000001\n1700000003.25\n",
        "id,time\na,1700000000250\nb,1700000001000\nc,1700000003250\n",
        "ts\n1700000000250000\n1700000001000000\n1700000003250000\n",
        "Time\n0.25\n1\n3.25\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.2500000,374,44\n"
        "2023-11-16 18:15:47.0000000,396,109\n2023-11-16 18:15:49.2500000,879,55\n",
        "@timestamp\n2023-11-16T18:15:46.25Z\n2023-11-16T19:15:47+01:00\n2023-11-16T18:15:49.25\n",
        '{"timestamp": 250, "input_length": 6758, "hash_ids": [46]}\n'
        '{"timestamp": 1000, "input_length": 7319, "hash_ids": [46]}\n'
        '{"timestamp": 3250, "input_length": 7234, "hash_ids": [46]}\n',
        '{"ts": "2023-11-16T18:15:46.25Z"}\n\n{"ts": "2023-11-16T18:15:47Z"}\n'
        '{"ts": "2023-11-16T18:15:49.25Z"}\n',
        "time\n3.25\n0.25\n1\n",
    ],
    ids=["seconds", "ms", "us", "relative", "azure", "iso", "mooncake", "json", "unsorted"],
)
def test_the_same_times_in_many_forms(text: str) -> None:
    times = parse_log(text.splitlines()).times
    assert times.tolist() == [0, 3 * SECOND // 4, 3 * SECOND]


def test_a_column_and_a_unit_can_be_given() -> None:
    lines = ["when,time", "500,x", "700,y"]
    assert parse_log(lines, column="when", unit="ms").times.tolist() == [0, SECOND // 5]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 0, "is empty"),
        ("time\n", 0, "has no request below its header"),
        ('1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /metrics ', 0, "has no request of a user"),
        ("id,time\na\nb,1\n", 2, "has '' in place of a time"),
        ("sep=,\ntime,url\n1,/a\n", 0, "begins with a comment"),
        ("time\n1\n", 0, "needs requests at two different times at least"),
        ("name\nx\ny\n", 0, "has no column that is known to hold times"),
        ("time\n1\n\nsoon\n", 4, "has 'soon' in place of a time"),
        ("time\n1\n-1\n", 3, "has '-1' in place of a time"),
        ("time\n2023-01-01T00:00:00\n5\n", 3, "has '5' in place of a time"),
        ("time\n2023-02-30T00:00:00\n5\n", 2, "has '2023-02-30T00:00:00' in place of a time"),
        ('{"time": 1}\nnothing\n', 2, "is not JSON"),
        ('{"time": 1}\n[1]\n', 2, "is not a JSON object"),
        ('{"time": 1}\n{"size": 1}\n', 2, "has no 'time'"),
        (
            "time\n2023-01-01 00:00:00\n2023-01-09 00:00:00\n",
            0,
            "lasts longer than a week, from line 2 to line 3",
        ),
        (
            "time\n1700000000\n1900000000\n1700000001\n",
            0,
            "lasts longer than a week, from line 2 to line 3",
        ),
        (
            '[{"time": 0}, {"time": 0.5}, {"time": "soon"}]',
            0,
            "has 'soon' in place of a time in request 3",
        ),
        ('[{"time": 0}, {"time": 0.5}, {"time": null}]', 0, "has no 'time' in request 3"),
        ('time,text\n1,"a\nb"\n\nsoon,c\n', 5, "has 'soon' in place of a time"),
        ('time,text\n1,a\nsoon,"b\nc"\n', 3, "has 'soon' in place of a time"),
        ('time,text\n1,a\n2,"b\n3,c\n', 3, "is not CSV: unexpected end of data"),
        ('\n"time\n1\n', 2, "is not CSV: unexpected end of data"),
        ("url,ts_ms\n/a?x=1,5,1000\n/b,1500\n", 2, "has 3 cells, and the header 2"),
        ("time,level\n2026-11-02 09:30:00,317,INFO\n", 2, "has 3 cells, and the header 2"),
        ("when;text\n1,5;a\n2,5;b\n", 0, "separates its columns by semicolons"),
        ("timestamp,path,timestamp\n1,/a,5\n2,/b,7\n", 0, "has more than one column 'timestamp'"),
        ("when;text\n1;a\n2;b\n", 0, "separates its columns by semicolons"),
        ("id\ttime\na\t1\nb\t2\n", 0, "separates its columns by tabs"),
        ("0.1\n0.2\n", 0, "has no header"),
        ("a,2023-01-01T00:00:00\nb,2023-01-01T00:00:01\n", 0, "has no header"),
        (",0\n0,1.5\n1,2.5\n", 0, "has no column that is known to hold times"),
        ("[\n{}\n]\n", 0, "has a first object without columns"),
        ("{}\n", 1, "has a first object without columns"),
        ("# exported by foo\ntime,url\n1,/a\n2,/b\n", 0, "begins with a comment"),
        ("# exported by foo\n1\n2\n", 0, "begins with a comment"),
        ("[1,2]", 0, "is JSON without a list of requests"),
        ("[\n", 0, "is cut off"),
        ("{\n", 0, "is cut off"),
        ('[{"time": 1}, {"time": 2}', 0, "is cut off after request 2"),
        ('[{"time": 1}, {"time": 2},\n', 0, "is cut off after request 2"),
        ('[{"time": 1}, {"time": 2}, {"ti', 0, "is cut off after request 2"),
        ('[{"time": 1}, {"time": 2}, {"time":', 0, "is cut off after request 2"),
        ('[{"time": 1}, {"time": 2}, {"time": 1.', 0, "is cut off after request 2"),
        ('{"experiments": [{"requests": [{"timestamp": 1}', 0, "is cut off after request 1"),
        ('[{"time": 1}, {"time": 2 3}]', 0, "is not JSON after request 1"),
        ('[{"time": 1} x {"time": 2}]', 0, "is not JSON after request 1"),
        ('[{"time": 1}, {"time": 2}, "b"]', 0, "has no object as item 3 of its list"),
        ('[{"time": 1}, {"size": 2}]', 0, "has no 'time' in request 2"),
        ('{"experiments": []}', 0, "has 0 experiments of perf_analyzer"),
        ('{"experiments": [1]}', 0, "is JSON without a list of requests"),
        ('{"experiments": [{"requests": [1]}]}', 0, "is JSON without a list of requests"),
        ('{"experiments": [{"requests": [{}]}]}', 0, "has no 'requests.timestamp'"),
        (
            '{"experiments": [{"requests": [{"timestamp": 1}]}, {}]}',
            0,
            "has 2 experiments of perf_analyzer",
        ),
        (
            '1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /"\nnothing\n',
            2,
            "is not a line of an access log like the first one",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(LogProblem) as raised:
        parse_log(text.splitlines())
    assert (raised.value.line, raised.value.message) == (line, message)


def test_a_trace_may_begin_with_events_without_times() -> None:
    """Triton writes the requests of an ensemble to its models first."""
    child = {"id": 2, "model_name": "p", "model_version": 1, "parent_id": 1}
    user = {"id": 1, "model_name": "m", "model_version": 1, "request_id": ""}
    tensor = {"id": 2, "activity": "TENSOR_QUEUE_INPUT", "tensor": {"name": "x", "data": "1"}}

    def start(request: int, ns: int) -> dict[str, object]:
        return {"id": request, "timestamps": [{"name": "REQUEST_START", "ns": ns}]}

    events = [child, tensor, start(2, 40), user, start(1, 10), {**user, "id": 3}, start(3, SECOND)]
    for begin in (0, 1, 3):
        log = parse_log([json.dumps([*events[begin:][:1], *events])], unit="ns")
        assert log.times.tolist() == [0, SECOND - 10]


@pytest.mark.parametrize("first", ["endpoint", "version", "experiments"])
def test_the_keys_of_an_export_have_any_order(first: str) -> None:
    requests = [{"timestamp": time} for time in (0, SECOND)]
    values = {
        "endpoint": "",
        "version": "2.0",
        "experiments": [{"experiment": {"mode": "concurrency"}, "requests": requests}],
    }
    log = parse_log([json.dumps({first: values[first], **values})])

    assert log.times.tolist() == [0, SECOND]


GRPC = "/inference.GRPCInferenceService/"


@pytest.mark.parametrize(
    ("request_line", "is_of_a_user"),
    [
        ("GET /v2/health/ready", False),
        ("GET /triton/v2/models/m/versions/1/ready", False),
        ("GET /metrics", False),
        (f"POST {GRPC}ServerLive", False),
        (f"POST {GRPC}ModelInfer", True),
        ("POST /v2/models/ready/infer", True),
        ("GET /metrics_of?user=3", True),
        ("GET /v2/models/m", False),
        ("GET /v2/models/m/versions/1?x=1", False),
        ("GET /v2", False),
        ("GET /v1/models", False),
        ("POST /v2/repository/models/m/load", False),
        ("POST /v2/repository/index", False),
        ("POST /v2/systemsharedmemory/region/r/register", False),
        (f"POST {GRPC}RepositoryModelLoad", False),
        (f"POST {GRPC}SystemSharedMemoryRegister", False),
        (f"POST {GRPC}ModelStreamInfer", True),
        ("POST /v2/models/m/generate_stream", True),
        ("POST /api/v2/predict", True),
        ("GET /api/v2/users", True),
        ("POST /v1/completions", True),
    ],
)
def test_probes_in_access_logs_are_no_requests(request_line: str, is_of_a_user: bool) -> None:
    lines = [(0, "POST /v2/models/m/infer"), (1, request_line), (2, "POST /v2/models/m/generate")]
    log = parse_log([f'[2026-11-02T09:30:0{second}Z] "{of} HTTP/2" 200' for second, of in lines])
    assert len(log.times) == 2 + is_of_a_user
    assert log.reading.endswith("; 1 request without inference left out") is not is_of_a_user

    columns = [(second, *of.split()) for second, of in lines]
    rows = [{"time": second, "method": of, "path": path} for second, of, path in columns]
    nginx = [{"time": second, "request": f"{of} HTTP/1.1"} for second, of in lines]
    assert len(parse_log(map(json.dumps, rows)).times) == len(log.times)
    assert len(parse_log([json.dumps(nginx)]).times) == len(log.times)
    comma = [f"{second},{of},{path}" for second, of, path in columns]
    assert len(parse_log(["time,request_method,uri", *comma]).times) == len(log.times)


def test_a_row_may_have_experiments() -> None:
    lines = [f'{{"time": {time}, "experiments": [{{"name": "a"}}]}}' for time in (0, 1)]
    assert parse_log(lines).times.tolist() == [0, SECOND]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-11-02T09:30:00.009+00:00", "2026-11-02T11:30:01.009+02:00"),
        ("2026-11-02 09:30:00.009", "2026-11-02 09:30:01.009"),
        ("2026-11-02T09:30:00Z", "2026-11-02T09:30:01Z"),
        ("2026-11-02 09:30:00.123+00", "2026-11-02 11:30:01.123+02"),
    ],
)
def test_a_proxy_writes_dates_in_many_forms(first: str, second: str) -> None:
    log = parse_log([f'[{date}] "POST / HTTP/2" 200' for date in (first, second)])

    assert log.times.tolist() == [0, SECOND]


@pytest.mark.parametrize(
    "line",
    [
        "[2026-11-02 09:30:00.310][1][info][main] started",
        "[02/Nov/2026:09:30:00 +0000] POST /",
        "[2026-11-02T09:30:00.310Z] POST /",
        "[INFO] started, at last",
        "[Fri Sep 09 10:42:29.902022 2011] [core:error] [pid 35708] failed",
    ],
)
def test_a_log_in_brackets_is_no_json(line: str) -> None:
    with pytest.raises(LogProblem, match="is neither JSON, nor CSV .*, nor a line") as raised:
        parse_log(["\n", line, line])
    assert raised.value.line == 2


@pytest.mark.parametrize(
    "line",
    [
        "INFO:root:started",
        "Nov  2 09:30:00 host nginx: started",
        'I1102 09:30:00.123456 1 server.cc:5] "started"',
        "2026-11-02T09:30:00Z 1 [INFO] started",
        "http 2018-07-02T22:23:00.186641Z app/balancer 192.168.131.39:2817 0.000",
        "metadata:",
        "<html>",
    ],
)
def test_lines_of_text_are_no_names_of_columns(line: str) -> None:
    with pytest.raises(LogProblem, match="is neither JSON, nor CSV .*, nor a line"):
        parse_log([f"{line}\n", f"{line}\n"])


def test_a_column_in_brackets_is_a_name() -> None:
    with pytest.raises(LogProblem, match="is known to hold times") as raised:
        parse_log(["[at] ,id\n", "1,2\n"])
    assert raised.value.hint == "give column: [at] or id"


def test_what_holds_no_time_is_not_offered_as_a_column() -> None:
    for line in ('{"id": "s", "turns": [{"timestamp": 0}]}', '{"requests": [{"timestamp": 0}]}'):
        with pytest.raises(LogProblem, match="known") as raised:
            parse_log([f"{line}\n"] * 2)
        assert raised.value.hint.startswith("write one object for each request, with its time")


REPORT = (
    '{{"benchmarks": [{{"type_": "generative_benchmark", {}, "requests": {{"successful":'
    ' [{{"request_start_time": 1772470698.25}}, {{"request_start_time": 1772470696.75}}]}}}}{}]}}'
)


@pytest.mark.parametrize(
    ("counts", "others", "problem"),
    [
        ('"scheduler_metrics": {"requests_made": {"successful": 1200}}', "", "2 of 1,200 that"),
        ('"request_totals": {"successful": 3}', "", "only a sample of the requests: 2 of 3 that"),
        ('"run_index": 0', ', {"type_": "generative_benchmark"}', "2 benchmarks of guidellm"),
    ],
)
def test_a_report_without_all_requests_of_one_load_is_refused(
    counts: str, others: str, problem: str
) -> None:
    with pytest.raises(LogProblem, match=problem):
        parse_log([REPORT.format(counts, others)])


@pytest.mark.parametrize("counts", ['"request_totals": 3', '"scheduler_metrics": null', '"a": 1'])
def test_a_report_without_counts_is_read(counts: str) -> None:
    log = parse_log([REPORT.format(counts, "")])

    assert log.times.tolist() == [0, SECOND * 3 // 2]


@pytest.mark.parametrize(
    "events",
    [
        [{"id": 1, "model_name": "m"}, {"id": 1, "timestamps": [{"name": "QUEUE_START", "ns": 5}]}],
        [{"id": 1, "model_name": "m"}, {"id": 1, "activity": "TENSOR_QUEUE_INPUT", "tensor": {}}],
        [{"id": 2, "model_name": "m", "parent_id": 1},
         {"id": 2, "timestamps": [{"name": "REQUEST_START", "ns": 5}]}],
    ],
)  # fmt: skip
def test_a_trace_without_starts_of_requests_is_refused(events: list[dict[str, Any]]) -> None:
    with pytest.raises(LogProblem, match="is a trace of Triton without a REQUEST_START") as raised:
        parse_log([json.dumps(events)])
    assert raised.value.hint == "trace with level TIMESTAMPS, and rate 1 for all requests"


@pytest.mark.parametrize(("begin", "line"), [("[", 0), ('{"a":', 1)])
def test_deep_json_is_refused(begin: str, line: int) -> None:
    with pytest.raises(LogProblem, match="has too many brackets within brackets") as raised:
        parse_log([begin * 100_000])
    assert raised.value.line == line


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_cells_have_line_breaks(end: str) -> None:
    text = '"time","text"\n1,"a\n\nb, ""c"""\n  \n2,"d\ne"\n"4",f\n'.replace("\n", end)
    assert parse_log(StringIO(text, newline="")).times.tolist() == [0, SECOND, 3 * SECOND]


@pytest.mark.parametrize("column", ["", "time"])
def test_a_hint_names_what_helps(column: str) -> None:
    for text, hint in [
        ("when;size\n1;5\n2;6\n", "separate them by commas"),
        ("0.1\n0.2\n", "begin it with a line of column names, as in time,id"),
        ("[1]", "write one JSON object per line"),
        ("time,url\n1,/a?x=1,5\n", "put cells with commas in quotes"),
    ]:
        with pytest.raises(LogProblem) as raised:
            parse_log(text.splitlines(), column=column)
        assert raised.value.hint == hint


def test_names_of_columns_may_hold_any_character() -> None:
    assert parse_log(["time,a;b", "1,c", "2,d"]).times.tolist() == [0, SECOND]
    assert parse_log(["[time],0", "1,c", "2,d"], column="[time]").times.tolist() == [0, SECOND]
    with pytest.raises(LogProblem, match="known") as raised:
        parse_log(['{"0": 1, "a;b": 2}'])
    assert raised.value.hint == "give column: 0 or a;b"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-11-02 09:30:00.123+00", "2026-11-02 11:30:01.123+02"),  # PostgreSQL
        ("2026-11-02 09:30:00.123456 UTC", "2026-11-02 09:30:01.123456 UTC"),  # BigQuery
        ("2026-11-02t09:30:00z", "2026-11-02t09:30:01z"),
        ("2026-11-02T09:30:00-0330", "2026-11-02T13:00:01Z"),
    ],
)
def test_dates_of_databases_are_read(first: str, second: str) -> None:
    log = parse_log(["time\n", f'"{first}"\n', f'"{second}"\n'])

    assert log.times.tolist() == [0, SECOND]
    assert log.reading == "dates"


def test_what_is_no_time_is_told_what_times_are() -> None:
    with pytest.raises(LogProblem, match="has '09:30:00' in place of a time") as raised:
        parse_log(["date,time\n", "2026-11-02,09:30:00\n", "2026-11-02,09:30:02\n"])
    assert raised.value.hint == "times are dates, such as 2026-11-02T09:30:00.5Z, or numbers from 0"


def test_a_date_has_no_unit() -> None:
    lines = ["time", "2023-01-01T00:00:00", "2023-01-01T00:00:01"]
    with pytest.raises(LogProblem, match="2023"):
        parse_log(lines, unit="ms")


@pytest.mark.parametrize(
    "text",
    [
        "time,prompt\n3,2\n1, 0\n2,1\n2.5,0\n",
        '{"time": 3, "prompt": 2}\n{"time": 1, "prompt": "0"}\n{"time": 2, "prompt": 1.0}\n'
        '{"time": 2.5, "prompt": 0}\n',
    ],
    ids=["csv", "json"],
)
def test_inputs_follow_their_requests(text: str) -> None:
    log = parse_log(text.splitlines(), input_column="prompt", entries=3)
    assert log.times.tolist() == [0, SECOND, 3 * SECOND // 2, 2 * SECOND]
    assert log.inputs.tolist() == [0, 1, 0, 2]
    assert parse_log(text.splitlines()).inputs.tolist() == []


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("3", "has '3' as 'prompt' in place of the number of an input: a whole number from 0 to 2"),
        ("-1", "has '-1' as 'prompt'"),
        ("1.5", "has '1.5' as 'prompt'"),
        ("", "has '' as 'prompt'"),
        ("first", "has 'first' as 'prompt'"),
    ],
)
def test_a_number_of_no_input_is_told_with_its_line(cell: str, message: str) -> None:
    with pytest.raises(LogProblem) as raised:
        parse_log(f"time,prompt\n1,0\n2,{cell}\n".splitlines(), input_column="prompt", entries=3)
    assert raised.value.line == 3
    assert raised.value.message.startswith(message)


def test_a_missing_input_is_told() -> None:
    with pytest.raises(LogProblem) as raised:
        parse_log(["time,size", "1,2", "2,3"], input_column="prompt", entries=3)
    assert (raised.value.message, raised.value.hint) == (
        "has no column 'prompt'",
        "it has time, size",
    )
    lines = ['{"time": 1, "prompt": 0}', '{"time": 2, "prompt": true}', '{"time": 3}']
    for wrong in (lines[:2], [lines[0], lines[2]]):
        with pytest.raises(LogProblem) as raised:
            parse_log(wrong, input_column="prompt", entries=3)
        assert raised.value.line == 2


_REQUESTS = 8_000
_TEXT = "x" * 2000


def replay_of(path: Path) -> Replay:
    return read_replay(Traffic(arrivals=Arrivals.REPLAY, log=path.name), empty(), path.parent)


def csv_rows() -> Iterator[str]:
    yield "timestamp,text\n"
    yield from (f"{1_700_000_000_000 + number},{_TEXT}\n" for number in range(_REQUESTS))


def json_rows() -> Iterator[str]:
    for number in range(_REQUESTS):
        yield json.dumps({"timestamp": 1_700_000_000_000 + number, "text": _TEXT}) + "\n"


def document() -> Iterator[str]:
    """All of it in a single line."""
    yield "["
    yield ",".join(row.strip() for row in json_rows())
    yield "]"


def export() -> Iterator[str]:
    yield '{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":['
    yield ",".join(
        json.dumps({"timestamp": 1_700_000_000_000_000_000 + number * 10**6, "text": _TEXT})
        for number in range(_REQUESTS)
    )
    yield ']}],"version":"2.51.0"}'


@pytest.mark.parametrize("rows", [csv_rows, json_rows, document, export])
def test_a_log_needs_memory_for_its_times_only(tmp_path: Path, rows: object) -> None:
    assert callable(rows)
    path = tmp_path / "log"
    path.write_text("".join(rows()))
    parse_log(["time", "0", "1.5"])  # imports

    tracemalloc.start()
    log = replay_of(path).log
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert log.described(1).startswith("8,000 requests in 8.00 s (1,000/s, at most 1,000 in a")
    assert path.stat().st_size > 15 * 2**20
    assert peak < 40 * _REQUESTS + 5 * 2**20


def test_a_log_is_refused_early_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time\n0\n1\n")
    os.truncate(path, 2**30 + 1)

    with pytest.raises(ReplayProblem) as raised:
        replay_of(path)
    assert (raised.value.message, raised.value.hint) == (
        f"{path}: Larger than 1024 MiB",
        "use a part",
    )


def test_what_is_wrong_in_the_first_lines_is_told_before_the_rest_is_read() -> None:
    def lines() -> Iterator[str]:
        yield '{"time": 0}\n'
        yield '{"time": "soon"}\n'
        raise AssertionError("read further")

    with pytest.raises(LogProblem, match="has 'soon' in place of a time"):
        parse_log(lines())


@pytest.mark.parametrize(
    ("begin", "line"), [("time,text\n1,", 2), ('{"time": 1, "text": "', 1), ("", 1)]
)
def test_a_line_without_end_is_refused(tmp_path: Path, begin: str, line: int) -> None:
    path = tmp_path / "log"
    path.write_text(begin + "x" * (2**25))

    with pytest.raises(ReplayProblem, match=rf"log:{line}: has more than 16 MiB"):
        replay_of(path)


def test_a_value_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('[{"time": 1, "text": "' + "x" * (2**26))

    with pytest.raises(ReplayProblem, match="has a value of more than 16 MiB"):
        replay_of(path)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (gzip.compress(b"time\n0\n1\n", mtime=0), "is compressed by gzip", "unpack it"),
        (b"\x28\xb5\x2f\xfd\x24\x0d", "is compressed by zstd", "unpack it"),
        (b"PAR1\x15\x04\xff\xfe", "is a Parquet file", "write CSV, or one JSON object per line"),
    ],
    ids=["gzip", "zstd", "Parquet"],  # what gzip writes has the time in it
)
def test_a_file_that_is_packed_is_named(
    tmp_path: Path, content: bytes, message: str, hint: str
) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)

    with pytest.raises(ReplayProblem) as raised:
        replay_of(path)
    assert (raised.value.message, raised.value.hint) == (f"{path}: {message}", hint)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"time\n0\n\xff\n")
    with pytest.raises(ReplayProblem, match="is not text in UTF-8"):
        replay_of(tmp_path / "log")
    with pytest.raises(ReplayProblem, match="No such file"):
        replay_of(tmp_path / "other")
