# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is refused before anything is measured."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import LaunchMode
from model_analyzer.runner.load.feasible import (
    impossible,
    on_server,
    random_options,
    without_any,
    without_effect,
)
from model_analyzer.runner.load.input_files import foreign_shapes
from model_analyzer.runner.server.log import hint
from tests.phrases import VARIABLE_DIMENSION, too_large_batch
from tests.unit.builders import settings

FIXED = {"name": "IN", "data_type": "TYPE_FP32", "dims": (4,)}
FREE = {"name": "ROWS", "data_type": "TYPE_FP32", "dims": (-1, 4)}


def problems(text: str, directory: Path, **config: Any) -> list[str]:
    """What is wrong with model m, of these settings and this configuration."""
    chosen = settings(text)
    facts = ModelFacts(
        name="m", config={"name": "m", "max_batch_size": 8, "input": (FIXED,), **config}, files="f"
    )
    refused = impossible(
        chosen.models[0],
        facts,
        search=chosen.search,
        server=chosen.server,
        addresses=chosen.server.addresses,
        user_directory=directory,
        timeout_s=600,
        place=lambda option: f"the place of {option}",
    )
    return [str(problem) for problem in refused]


def test_an_ordinary_model_has_no_problems(tmp_path: Path) -> None:
    assert problems("", tmp_path) == []


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("run_config_search_disable: true\nbatch_sizes: [16, 32]", 8),
        ("run_config_search_max_model_batch_size: 12\nbatch_sizes: 16", 12),
        (
            "profile_models: {m: {parameters: {batch_sizes: 16},"
            " model_config_parameters: {max_batch_size: [1, 4]}}}",
            8,
        ),
    ],
)
def test_a_client_batch_that_no_variant_takes_is_refused(
    tmp_path: Path, text: str, limit: int
) -> None:
    (problem,) = problems(text, tmp_path)

    assert too_large_batch(16, largest=limit) in problem


@pytest.mark.parametrize(
    "text",
    [
        "run_config_search_disable: true\nbatch_sizes: [8, 16]",
        "batch_sizes: 128",
        "profile_models: {m: {parameters: {batch_sizes: 16},"
        " model_config_parameters: {max_batch_size: [1, 16]}}}",
    ],
)
def test_a_client_batch_that_some_variant_takes_is_not(tmp_path: Path, text: str) -> None:
    assert problems(text, tmp_path) == []


STEP = ModelFacts(name="step", config={"name": "step", "max_batch_size": 8}, files="f")


@pytest.mark.parametrize("more", ["concurrency: 4", "run_config_search_mode: brute", ""])
def test_a_search_with_listed_loads_leaves_a_model_that_calls_others_as_it_is(more: str) -> None:
    chosen = settings(f"batch_sizes: [1, 16]\n{more}")
    facts = ModelFacts(name="m", config=STEP.config, files="f", composing=(STEP,))
    said = [*without_effect(chosen.models[0], facts, chosen.search, Path())]
    left_out = ["model m: batch_sizes 16 left out: no variant accepts more than 8"]
    assert said == (left_out if more else [])


def test_shared_memory_of_a_gpu_needs_one() -> None:
    chosen = settings("perf_analyzer_flags: {shared-memory: cuda}")
    (problem,) = without_any(chosen.models[0], STEP, search=chosen.search, place=lambda key: key)
    assert str(problem).startswith("perf_analyzer_flags: model m: shared-memory: cuda, and this")
    assert "no GPU: use `shared-memory: system`" in hint("CUDA driver version is insufficient for")


def test_client_batches_that_are_left_out_are_reported() -> None:
    chosen = settings("run_config_search_disable: true\nbatch_sizes: [4, 16, 32]")
    facts = ModelFacts(name="m", config={"name": "m", "max_batch_size": 8}, files="f")

    assert [*without_effect(chosen.models[0], facts, chosen.search, Path())] == [
        "model m: batch_sizes 16, 32 left out: no variant accepts more than 8"
    ]


def test_a_response_cache_is_told_with_what_is_done_about_it() -> None:
    part = ModelFacts(name="part", config={"response_cache": {"enable": True}}, files="f")
    facts = ModelFacts(name="m", config={"name": "m"}, files="f", composing=(part,))
    off, keep = (settings(f"response_cache: {word}").models[0] for word in ("off", "keep"))

    (said,) = on_server(off, facts, LaunchMode.LOCAL)
    assert said.startswith("model m: measured without the response cache of part. perf_analyzer")
    assert "`response_cache: keep` measures with it" in said
    (said,) = on_server(keep, facts, LaunchMode.REMOTE)
    assert said.startswith("model m: measured with the response cache of part. ")
    (said,) = on_server(keep, facts, LaunchMode.LOCAL)
    assert said == (
        "model m: response_cache of part has no effect, because the server has no cache: add"
        " cache-config to triton_server_flags"
    )
    flags = "triton_server_flags: {cache-config: 'local,size=1048576'}"
    with_cache = settings(f"response_cache: keep\n{flags}").models[0]
    (said,) = on_server(with_cache, facts, LaunchMode.LOCAL)
    assert said.startswith("model m: measured with")
    assert not [*on_server(off, replace(facts, composing=()), LaunchMode.LOCAL)]


LIMITED = {"count": 1, "rate_limiter": {"priority": 2}}
LISTED = "[[{count: 1, rate_limiter: {priority: 2}}]]"


@pytest.mark.parametrize(
    ("text", "launch", "names"),
    [
        ("", LaunchMode.LOCAL, "part"),
        ("", LaunchMode.REMOTE, ""),
        ("triton_server_flags: {rate-limit: off}", LaunchMode.DOCKER, "part"),
        ("triton_server_flags: {rate-limit: execution_count}", LaunchMode.LOCAL, ""),
        (
            f"profile_models: {{m: {{model_config_parameters: {{instance_group: {LISTED}}}}}}}",
            LaunchMode.LOCAL,
            "m, part",
        ),
    ],
)
def test_a_rate_limiter_that_the_server_ignores_is_told(
    text: str, launch: LaunchMode, names: str
) -> None:
    part = ModelFacts(name="part", config={"instance_group": (LIMITED, LIMITED)}, files="f")
    facts = ModelFacts(name="m", config={"name": "m"}, files="f", composing=(part,))

    said = [*on_server(settings(text).models[0], facts, launch)]

    assert said == [
        f"model m: the server ignores rate_limiter of {names} without"
        " triton_server_flags: {rate-limit: execution_count}"
    ] * bool(names)


@pytest.mark.parametrize(("enable", "count"), [("true", 1), ("false", 0)])
def test_a_response_cache_that_the_search_varies_is_told_too(enable: str, count: int) -> None:
    facts = ModelFacts(name="m", config={"name": "m"}, files="f")
    listed = f"{{response_cache: [{{enable: {enable}}}]}}"
    chosen = settings(f"profile_models: {{m: {{model_config_parameters: {listed}}}}}")

    said = [*on_server(chosen.models[0], facts, LaunchMode.REMOTE)]

    assert [each.partition(".")[0] for each in said] == [
        "model m: measured with the response cache of m"
    ] * count


def test_a_model_that_does_not_batch_takes_one(tmp_path: Path) -> None:
    assert problems("batch_sizes: 1", tmp_path, max_batch_size=0) == []
    (problem,) = problems("batch_sizes: 2", tmp_path, max_batch_size=0)
    assert too_large_batch(2, largest=1) in problem


def test_a_sequence_has_a_client_batch_of_one(tmp_path: Path) -> None:
    sequences: dict[str, Any] = {"sequence_batching": {}}

    assert problems("batch_sizes: [1, 2]", tmp_path, **sequences) == []
    (problem,) = problems("batch_sizes: 2", tmp_path, **sequences)
    assert "perf_analyzer sends a sequence with client batch size 1 only, not 2" in problem


def test_missing_files_are_named_with_the_users_directory(tmp_path: Path) -> None:
    flags = "perf_analyzer_flags: {input-data: [in.json, zero], request-intervals: times.txt}"

    first, second = problems(flags, tmp_path)

    assert f"input-data: {tmp_path}/in.json does not exist" in first
    assert f"request-intervals: {tmp_path}/times.txt does not exist" in second


def test_missing_certificates_of_server_and_client_are_named(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("")
    text = """\
triton_server_flags: {grpc-use-ssl: true, grpc-server-cert: a.pem, grpc-root-cert: ca.pem}
perf_analyzer_flags: {ssl-grpc-use-ssl: true, ssl-grpc-private-key-file: b.key}
"""

    client, server = problems(text, tmp_path)

    assert f"flag ssl-grpc-private-key-file: {tmp_path}/b.key does not exist" in client
    assert f"tritonserver flag grpc-server-cert: {tmp_path}/a.pem does not exist" in server
    # without TLS, nothing reads them
    assert not problems(text.replace("true", "false"), tmp_path)
    of_https = "perf_analyzer_flags: {ssl-https-ca-certificates-file: b.pem}"
    assert not problems(of_https, tmp_path)
    assert len(problems(f"{of_https}\ntriton_http_endpoint: https://a:8000", tmp_path)) == 1
    # the paths of a container are its own
    assert len(problems(f"{text}triton_launch_mode: docker\n", tmp_path)) == 1


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    flags = "perf_analyzer_flags: {input-data: [pipe, directory], request-intervals: zeros}"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "directory" / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")

    refused = problems(flags, tmp_path)

    for problem, name in zip(refused, ("pipe", "directory/pipe", "zeros"), strict=True):
        assert f"{tmp_path}/{name}: cannot be read: Not a regular file" in problem


@pytest.mark.parametrize(("text", "count"), [("100\n250\n", 0), ("", 1), ("1.5\n", 1), ("x", 1)])
def test_intervals_are_whole_microseconds(tmp_path: Path, text: str, count: int) -> None:
    (tmp_path / "times.txt").write_text(text)

    refused = problems("perf_analyzer_flags: {request-intervals: times.txt}", tmp_path)

    assert len(refused) == count
    assert all("is not a list of times" in problem for problem in refused)


@pytest.mark.parametrize(
    ("shape", "words"),
    [("IN", "'IN' is not NAME:SIZE,SIZE"), ("IN:4,x", "'IN:4,x' is not NAME:SIZE,SIZE")],
)
def test_a_shape_has_a_name_and_sizes(tmp_path: Path, shape: str, words: str) -> None:
    (problem,) = problems(f"perf_analyzer_flags: {{shape: ['IN:4', '{shape}']}}", tmp_path)

    assert words in problem
    assert "inputs are IN; several shapes are a list: shape: ['NAME:SIZE', 'NAME:SIZE']" in problem


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ("'IN:9999999999999999999999'", "has more elements than a request may have bytes"),
        ("'IN:99999999999'", "has more elements than a request may have bytes"),
        ("'IN:65536,65536'", "has more elements than a request may have bytes"),
        (f"'IN:{'9' * 5000}'", "is not NAME:SIZE,SIZE,…"),
        ("'IN:4', 'IN:5'", "IN has 2 shapes (give one for each input)"),
        ("'IN:4 IN2:8'", "'IN:4 IN2:8' is not NAME:SIZE,SIZE,… (inputs are IN; several shapes"),
    ],
)
def test_a_shape_of_which_no_request_is_sent(tmp_path: Path, shapes: str, words: str) -> None:
    (problem,) = problems(f"perf_analyzer_flags: {{shape: [{shapes}]}}", tmp_path)

    assert words in problem


def test_a_shape_without_effect_is_taken_with_a_remark(tmp_path: Path) -> None:
    text = "perf_analyzer_flags: {shape: ['IN:5', 'OTHER:4']}"
    chosen = settings(text)
    facts = ModelFacts(name="m", config={"name": "m", "input": (FIXED,)}, files="f")

    assert problems(text, tmp_path) == []
    assert [*without_effect(chosen.models[0], facts, chosen.search, tmp_path)] == [
        "model m: perf_analyzer flag shape has no effect on 'IN', whose dims [4] are fixed in"
        " config.pbtxt"
    ]
    assert [*foreign_shapes({"m": chosen.models[0].perf_analyzer_flags}, {"m": facts})] == [
        "model m: perf_analyzer flag shape has no effect on 'OTHER', which is not an input"
        " (inputs are IN)"
    ]


def test_optional_inputs_with_random_values_are_told() -> None:
    optional = {**FIXED, "name": "max_tokens", "optional": True}
    facts = ModelFacts(name="m", config={"name": "m", "input": (FIXED, optional)}, files="f")
    usual, random, zero = (
        [*random_options(settings(f"perf_analyzer_flags: {{{flags}}}").models[0], facts)]
        for flags in ("", "input-data: random", "input-data: zero")
    )
    assert usual == random
    assert usual[0].startswith("model m: its optional input max_tokens gets a random value")
    assert zero == []


def test_shapes_of_the_whole_run_are_those_of_any_of_its_models() -> None:
    flags = {"shape": ("A:1", "B:2", "NOWHERE:3")}
    facts = {
        name: ModelFacts(
            name=name, config={"name": name, "input": ({**FREE, "name": own},)}, files="f"
        )
        for name, own in (("m", "A"), ("n", "B"), ("o", "A"))
    }

    assert [*foreign_shapes(dict.fromkeys(facts, flags), facts)] == [
        "models m, n, o: perf_analyzer flag shape has no effect on 'NOWHERE', which is not an input"
        " (inputs are A, B)"
    ]
    own = {"m": {"shape": "B:2"}, "n": {}, "o": {}}
    assert [*foreign_shapes(own, facts)] == [
        "model m: perf_analyzer flag shape has no effect on 'B', which is not an input"
        " (inputs are A)"
    ]


@pytest.mark.parametrize("shape", ["ROWS:4", "ROWS:7,5", "ROWS:1,7,4", "ROWS:0,4"])
def test_a_shape_fits_the_model(tmp_path: Path, shape: str) -> None:
    (problem,) = problems(f"perf_analyzer_flags: {{shape: '{shape}'}}", tmp_path, input=(FREE,))

    assert f"{shape} does not fit the dims [-1,4] of the model (give ROWS:SIZE,4" in problem


def test_an_input_of_any_size_needs_a_shape_or_data(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(
        '{"data": [{"IN": [0.5, 0.5, 0.5, 0.5],'
        ' "ROWS": {"content": [0.5, 0.5, 0.5, 0.5], "shape": [1, 4]}}]}'
    )
    config = {"input": (FIXED, FREE)}

    (problem,) = problems("", tmp_path, **config)
    assert VARIABLE_DIMENSION in problem
    assert problems("perf_analyzer_flags: {shape: 'ROWS:7,4'}", tmp_path, **config) == []
    assert problems("perf_analyzer_flags: {input-data: in.json}", tmp_path, **config) == []
    assert len(problems("perf_analyzer_flags: {input-data: zero}", tmp_path, **config)) == 1
    # perf_analyzer also makes data for optional inputs
    optional = {"input": (FIXED, {**FREE, "optional": True})}
    assert len(problems("", tmp_path, **optional)) == 1


def test_inputs_of_any_size_are_told_together(tmp_path: Path) -> None:
    ids = [
        {"name": name, "data_type": "TYPE_INT64", "dims": (-1,)}
        for name in ("input_ids", "attention_mask")
    ]

    assert problems("", tmp_path, input=(FIXED, *ids, FREE)) == [
        "the place of perf_analyzer_flags: model m: inputs input_ids, attention_mask, ROWS have a"
        " variable dimension (give perf_analyzer_flags:"
        " {shape: ['input_ids:SIZE', 'attention_mask:SIZE', 'ROWS:SIZE,4']}, or"
        " {input-data: FILE}, if random integers are not valid, such as ids of tokens)"
    ]
    (problem,) = problems("", tmp_path, input=(FREE,))
    assert problem.endswith("{shape: ['ROWS:SIZE,4']}, or {input-data: FILE})")


def test_input_data_is_checked_with_its_file_input_and_element(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"data": [{"IN": [0.5, 7, 0.25, 2019]}]}')

    (problem,) = problems("perf_analyzer_flags: {input-data: in.json}", tmp_path)

    assert problem == (
        f"the place of perf_analyzer_flags: model m: {tmp_path}/in.json: input IN of step 1:"
        " element 2 is 7: write 7.0; element 4 is 2019: write 2019.0 (FP32)"
        " (each number needs a decimal point)"
    )


def test_input_data_that_is_sent_otherwise_gets_a_remark(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"data": [{"IN": [300]}]}')
    text = "perf_analyzer_flags: {input-data: in.json}"
    chosen = settings(text)
    config = {"name": "m", "input": ({"name": "IN", "data_type": "TYPE_INT8", "dims": (1,)},)}
    facts = ModelFacts(name="m", config=config, files="f")

    assert problems(text, tmp_path, **config) == []
    (remark,) = without_effect(chosen.models[0], facts, chosen.search, tmp_path)
    assert "element 1 is 300: INT8 holds -128 to 127, so perf_analyzer sends 44" in remark


def test_a_stream_needs_grpc_where_a_protocol_is_spoken(tmp_path: Path) -> None:
    decoupled = {"model_transaction_policy": {"decoupled": True}}

    (problem,) = problems("client_protocol: http", tmp_path, **decoupled)
    assert "use client_protocol: grpc" in problem
    assert problems("", tmp_path, **decoupled) == []
    embedded = "client_protocol: http\ntriton_launch_mode: c_api"
    assert problems(embedded, tmp_path, **decoupled) == []


def test_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("time,tokens\n1.5,3\nsoon,4\n")
    (problem,) = problems("load: {replay: log.csv}", tmp_path)
    where = f"the place of load: model m: {tmp_path}/log.csv:3:"
    assert problem.startswith(f"{where} has 'soon' in place of a time (times are dates, such as")
    (problem,) = problems("load: {replay: none.csv}", tmp_path)
    assert "none.csv: No such file or directory" in problem


def test_line_breaks_and_other_separators_in_a_cell_of_a_log(tmp_path: Path) -> None:
    text = 'time,prompt\r\n1,"two\r\nlines"\r\n2,"next\x85and\u2028line"\r\n'
    (tmp_path / "log.csv").write_text(text, encoding="utf-8", newline="")
    assert problems("load: {replay: log.csv}", tmp_path) == []
    lines = '{"time": 1, "prompt": "next\u2028line"}\n{"time": 2}\n'
    (tmp_path / "log.csv").write_text(lines, encoding="utf-8")
    assert problems("load: {replay: log.csv}", tmp_path) == []


def test_a_log_that_would_be_sent_too_fast_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("time\n0\n0.5\n1\n")
    assert problems("load: {replay: log.csv, speed: 1000}", tmp_path) == []
    (problem,) = problems("load: {replay: log.csv, speed: 1e12}", tmp_path)
    assert "has 3e+12 requests/s, and a load at most 100,000" in problem


SELECTING = "load: {replay: log.csv, input: n}\nperf_analyzer_flags: {input-data: in.json}"


@pytest.mark.parametrize(
    ("rows", "data", "message"),
    [
        ("1,0\n2,1\n", '{"data": [{}, {}]}', ""),
        ("1,0\n2,2\n", '{"data": [{}, {}]}', "log.csv:3: has '2' as 'n' in place of the number"),
        ("1,0\n2,1\n", '{"data": 5}', 'in.json: has no list "data" with inputs'),
        ("1,0\n2,1\n", '{"data":\n}', "in.json:2: is not JSON"),
        ("1,0\n2,1\n", None, "input-data: {0}/in.json does not exist"),
    ],
)
def test_a_log_selects_inputs_of_a_file(
    tmp_path: Path, rows: str, data: str | None, message: str
) -> None:
    (tmp_path / "log.csv").write_text(f"time,n\n{rows}")
    if data is not None:
        (tmp_path / "in.json").write_text(data)
    refused = problems(SELECTING, tmp_path, input=())
    assert len(refused) == bool(message)
    assert all(message.format(tmp_path) in problem for problem in refused)


def test_inputs_that_fill_the_memory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"data": [{"INPUT": "' + "x" * 2**20 + '"}]}')
    (tmp_path / "log.csv").write_text("time,n\n" + "".join(f"{n},0\n" for n in range(300)))
    (problem,) = problems(SELECTING, tmp_path)
    assert "have 300 MiB, and perf_analyzer keeps them in memory: 256 MiB at most" in problem
    (problem,) = problems(f"{SELECTING}\nbatch_sizes: 4", tmp_path)
    assert "have 1,200 MiB" in problem


def test_a_load_that_lasts_longer_than_perf_analyzer_may(tmp_path: Path) -> None:
    (problem,) = problems("load: {stages: [{rate: 1, for: 400s}]}", tmp_path)
    assert "lasts 400 s, and perf_analyzer may take 600 s" in problem
    assert "(raise perf_analyzer_timeout to twice as long, or shorten the stages)" in problem


def test_a_log_that_may_be_in_milliseconds(tmp_path: Path) -> None:
    times = "".join(f"{number}.5\n" for number in range(1000))
    (tmp_path / "log.csv").write_text(f"time\n{times}")
    (problem,) = problems("load: {replay: log.csv}", tmp_path)
    assert "give unit: ms if its times are in milliseconds, give a higher speed" in problem
    (problem,) = problems("load: {replay: log.csv, unit: s}", tmp_path)
    assert "twice as long, give a higher speed, or use a part of the log" in problem

    (tmp_path / "whole.csv").write_text("time\n0\n4648\n")
    (problem,) = problems("load: {replay: whole.csv}", tmp_path)
    assert "whole.csv: does not say the unit of its times" in problem
    assert "say unit: ms or unit: us" in problem
