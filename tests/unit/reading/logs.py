# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of all formats, right and damaged, and what must hold for all of them.

Shared by the tests, which try some dozens, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

from hypothesis import strategies as st

from model_analyzer.reading.log_rows import LogProblem
from model_analyzer.runner.load.logged_requests import parse_log
from tests.damaged_texts import damaged

# The first lines of each format: as the tool wrote them, or from its documentation.
BAILIAN = """\
{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 521,\
 "output_length": 132, "type": "text", "turn": 1, "hash_ids": [1089, 1090, 1091]}
{"chat_id": 160, "parent_chat_id": 159, "timestamp": 62.5, "input_length": 400,\
 "output_length": 80, "type": "text", "turn": 2, "hash_ids": [1089, 1090]}
"""
MOONCAKE = """\
{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 48]}
{"timestamp": 30535, "input_length": 6472, "output_length": 26, "hash_ids": [46, 2353]}
"""
AIPERF_TRACE = """\
{"timestamp": 1000, "input_length": 300, "output_length": 40}
{"timestamp": 2500, "input_length": 300, "output_length": 40}
"""
AIPERF_TEXTS = """\
{"timestamp": 0, "text_input": "Hello world", "output_length": 4}
{"timestamp": 1500, "text_input": "Hello", "output_length": 4}
"""
AIPERF_PAYLOADS = """\
{"payload": {"prompt": "Hello", "max_tokens": 50}, "timestamp": 1000}
{"payload": {"prompt": "Hello", "max_tokens": 50}, "timestamp": 2500}
"""
AIPERF_EXPORT = """\
{"metadata": {"session_num": 0, "x_request_id": "a", "request_start_ns": 1764253970371028500,\
 "request_end_ns": 1764253970871028500, "benchmark_phase": "warmup", "was_cancelled": false},\
 "metrics": {"request_latency": {"value": 500.0, "unit": "ms"}}}
{"metadata": {"session_num": 1, "x_request_id": "b", "request_start_ns": 1764253975000000000,\
 "request_end_ns": 1764253975871028500, "benchmark_phase": "profiling", "was_cancelled": false},\
 "metrics": {"request_latency": {"value": 500.0, "unit": "ms"}}}
{"metadata": {"session_num": 2, "x_request_id": "c", "request_start_ns": 1764253976500000000,\
 "request_end_ns": 1764253976871028500, "benchmark_phase": "profiling", "was_cancelled": false},\
 "metrics": {}, "error": {"code": 500, "type": "InternalServerError", "message": "no"}}
"""
GUIDELLM = """\
{"timestamp": 0, "input_length": 256, "output_length": 128}
{"timestamp": 1.5, "input_length": 256, "output_length": 128}
"""
GUIDELLM_HASHED = """\
{"timestamp": 0.25, "input_length": 256, "output_length": 128, "hash_ids": [0]}
{"timestamp": 1.75, "input_length": 256, "output_length": 128, "hash_ids": [1]}
"""
# written on one line since version 0.4, and indented before; the last request was never sent
GUIDELLM_REPORT = (
    '{"metadata": {"version": 1, "guidellm_version": "0.5.0", "python_version": "3.12.3"}, "args":'
    ' {"profile": "poisson", "rate": [4.0]}, "benchmarks": [{"type_": "generative_benchmark",'
    ' "config": {"run_index": 0, "requests": {"data": "x"}}, "scheduler_metrics": {"start_time":'
    ' 1772470696.6772, "requests_made": {"successful": 2, "errored": 1, "incomplete": 1, "total":'
    ' 4}}, "metrics": {"request_totals": {"successful": 2, "total": 3}}, "requests": {"successful":'
    ' [{"type_": "generative_request_stats", "request_id": "a", "info": {"timings":'
    ' {"targeted_start": 1772470697.5, "request_start": 1772470697.75}}, "request_start_time":'
    ' 1772470697.75, "request_end_time": 1772470697.875}, {"type_": "generative_request_stats",'
    ' "request_start_time": 1772470696.75, "request_end_time": 1772470698.25}], "errored":'
    ' [{"request_start_time": 1772470698.25}], "incomplete": [{"request_start_time": null}],'
    ' "total": null}, "start_time": 1772470696.6793344, "duration": 1.6}]}'
)
GUIDELLM_OLD_REPORT = """\
{
    "benchmarks": [
        {
            "type_": "generative_benchmark",
            "run_stats": {"requests_made": {"successful": 3}},
            "start_time": 1759354691.5,
            "request_totals": {"successful": 2, "errored": 0, "incomplete": 0, "total": 2},
            "request_samples": null,
            "requests": {
                "successful": [
                    {"type_": "generative_text_response", "start_time": 1759354691.5},
                    {"type_": "generative_text_response", "start_time": 1759354693.0}
                ],
                "errored": [],
                "incomplete": [],
                "total": null
            }
        }
    ]
}
"""
BURST_GPT = """\
Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,417,276,693,Conversation log
"""
AZURE = """\
TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:48.1805900,396,109
"""
INFERENCE_PERF = """\
[
  {
    "start_time": 8112.25,
    "end_time": 8113.5,
    "request": "{}",
    "response": "",
    "info": {"input_tokens": 12, "output_tokens": 3},
    "error": null
  },
  {
    "start_time": 8113.75,
    "end_time": 8115.5,
    "request": "{}",
    "response": "",
    "info": {"input_tokens": 12, "output_tokens": 3},
    "error": null
  }
]
"""
PERF_ANALYZER = (
    '{"experiments":[{"experiment":{"mode":"request_rate","value":20.0},"requests":['
    '{"timestamp":1795757517241382610,"request_inputs":{"x":[1.5,-9.8e26]},'
    '"response_timestamps":[1795757517506805653],"response_outputs":[{"o":0.0}]},'
    '{"timestamp":1795757518741382610,"request_inputs":{"x":[1.5,-9.8e26]},'
    '"response_timestamps":[1795757519006805653],"response_outputs":[{"o":0.0}]}],'
    '"window_boundaries":[1795757517187976256,1795757520794774549]}],'
    '"version":"2.51.0","service_kind":"triton","endpoint":""}'
)
# perf_analyzer sent the first two, and an ensemble the third
TRITON = (
    '[{"id":1,"timestamps":[{"name":"GRPC_WAITREAD_START","ns":15209160219659}]},'
    '{"id":1,"timestamps":[{"name":"HTTP_RECV_START","ns":15209170219659}]},'
    '{"id":1,"model_name":"m","model_version":1,"request_id":"r1"},'
    '{"id":1,"timestamps":[{"name":"REQUEST_START","ns":15209170344195}]},'
    '{"id":3,"model_name":"p","model_version":1,"parent_id":1},'
    '{"id":3,"timestamps":[{"name":"REQUEST_START","ns":15209170354195}]},'
    '{"id":1,"timestamps":[{"name":"REQUEST_END","ns":15209206844837}]},'
    '{"id":2,"model_name":"m","model_version":1,"request_id":"r2","timestamps":['
    '{"name":"REQUEST_START","ns":15210670344195},{"name":"REQUEST_END","ns":15210680344195}]}]'
)
NGINX = """\
10.0.35.28 - - [02/Nov/2026:09:30:00 +0100] "POST /v2/models/m/infer HTTP/1.1" 200 312 "-" "x"
10.0.35.28 - joe [02/Nov/2026:08:30:02 +0000] "POST /v2/models/m/infer HTTP/1.1" 200 312 "-" "x"
"""
# beside a date to the second
NGINX_MSEC = """\
{"time_iso8601": "2026-11-02T09:30:00+00:00", "msec": "1793611800.500", "request_time": "0.2"}
{"time_iso8601": "2026-11-02T09:30:01+00:00", "msec": "1793611801.750", "request_time": "0.2"}
"""
# `time` is that of the line, after the request
TRAEFIK = """\
{"Duration": 15000000, "RequestMethod": "POST", "RequestPath": "/v2/models/m/infer",\
 "StartLocal": "2026-11-02T10:30:00.25+01:00", "StartUTC": "2026-11-02T09:30:00.25Z",\
 "time": "2026-11-02T09:30:00Z"}
{"Duration": 15000000, "RequestMethod": "POST", "RequestPath": "/v2/models/m/infer",\
 "StartLocal": "2026-11-02T10:30:01.75+01:00", "StartUTC": "2026-11-02T09:30:01.75Z",\
 "time": "2026-11-02T09:30:09Z"}
"""
NGINX_JSON = """\
{"request_time": "0.250", "time_local": "02/Nov/2026:09:30:00 +0100", "status": "200"}
{"request_time": "0.031", "time_local": "02/Nov/2026:09:30:02 +0100", "status": "200"}
"""
ENVOY = """\
[2026-11-02T09:30:00.310Z] "POST /v2/models/m/infer HTTP/2" 200 - 154 0 226 100 "10.0.35.28"\
 "x" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "triton" "tcp://10.0.2.1:80"
[2026-11-02T09:30:01.810Z] "POST /v2/models/m/infer HTTP/2" 200 - 154 0 226 100 "10.0.35.28"\
 "x" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "triton" "tcp://10.0.2.1:80"
"""

EXAMPLES = (
    BAILIAN,
    MOONCAKE,
    AIPERF_TRACE,
    AIPERF_TEXTS,
    AIPERF_PAYLOADS,
    AIPERF_EXPORT,
    GUIDELLM,
    GUIDELLM_HASHED,
    GUIDELLM_REPORT,
    GUIDELLM_OLD_REPORT,
    BURST_GPT,
    AZURE,
    INFERENCE_PERF,
    PERF_ANALYZER,
    TRITON,
    NGINX,
    NGINX_JSON,
    ENVOY,
)

_PIECES = st.sampled_from(
    [
        *("0", "-1", "0.5", "1e16", "1e999", "nan", "NaN", "Infinity", "9" * 30, "9" * 5000),
        *("1700000000", "1700000000000", "2026-11-02T09:30:00Z", "9999-12-31T23:59:59Z"),
        *("0001-01-01T00:00:00Z", "31/Dec/9999:23:59:59 +0000", "[" * 300, '{"a":' * 300, "[]"),
        *("{}", '""', "null", "true", "\\ud800", '"', "'", ",", ";", "\t", "\n", "\r", "\0"),
        *("\ufeff", "\u2028", "timestamp", "time_ms", "ts_ns", '{"timestamp": 1}\n', " " * 40),
        *(
            "metadata.request_start_ns",
            '"experiments":',
            '"benchmarks":[{"type_":',
            '"parent_id":1,',
            "request_time",
        ),
    ]
)

LOGS = st.fixed_dictionaries(
    {
        "text": damaged(st.sampled_from(EXAMPLES), _PIECES),
        "column": st.sampled_from(["", "", "", "timestamp", "metadata.request_end_ns", "turn"]),
        "unit": st.sampled_from(["", "", "", "s", "ms", "ns"]),
        "input_column": st.sampled_from(["", "", "", "turn", "hash_ids"]),
    }
)


def is_read_or_refused(example: dict[str, str]) -> None:
    """A log has its requests in their order, however it is read; or a problem has one line."""
    text, options = (
        example["text"],
        {key: example[key] for key in ("column", "unit", "input_column")},
    )
    try:
        log = parse_log(text.splitlines(keepends=True), entries=3, **options)
    except LogProblem as problem:
        for words in (problem.message, problem.hint):
            assert words.isprintable(), words
        return
    times = log.times.tolist()
    assert times[0] == 0
    assert times == sorted(times)
    assert times[-1] > 0
    assert len(log.inputs) in (0, len(times))
    assert log.described(1.0).startswith(f"{len(times):,} requests in ")
    assert len(log.identity) == 32
