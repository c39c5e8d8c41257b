# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of a server that is a Triton server, nearly one, or none, and what must hold for all.

Shared by the tests, which try some dozens, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from contextlib import closing, contextmanager, redirect_stderr
from io import StringIO
from typing import Any

import grpc
from google.protobuf import text_format
from google.protobuf.message import Message
from hypothesis import strategies as st
from tritonclient.grpc import model_config_pb2, service_pb2

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import Protocol
from model_analyzer.domain.words import one_line
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.client.interface import ServerClient, has_fixed_shapes
from model_analyzer.runner.gpus import TritonMetrics
from model_analyzer.runner.model_config import parse_text, to_text
from model_analyzer.runner.repository import other_models, served_facts
from model_analyzer.runner.server.endpoints import Address, Endpoints
from tests.damaged_texts import damaged
from tests.fakes.wrong_answers import AnswersByPath, WrongServer, answer
from tests.unit.config.configurations import mutated_trees
from tests.unit.runner.model_configurations import ENSEMBLE, PLAIN, message_text

MODEL, PART = "m", "part"
TIMEOUT_S = 5.0

# ------------------------------------------------------------------------------------- HTTP

_TENSOR = {"name": "IN", "data_type": "TYPE_FP32", "dims": [4]}
_CONFIG = {
    "name": MODEL,
    "backend": "python",
    "max_batch_size": 8,
    "input": [_TENSOR],
    "output": [{**_TENSOR, "name": "OUT"}],
    "instance_group": [{"name": "m_0", "kind": "KIND_CPU", "count": 1}],
}
_ENSEMBLE_CONFIG = {
    **_CONFIG,
    "platform": "ensemble",
    "ensemble_scheduling": {
        "step": [{"model_name": PART, "input_map": {"IN": "IN"}, "output_map": {"OUT": "OUT"}}]
    },
}
_BATCH = {"batch_size": 1} | {
    phase: {"count": 5, "ns": 1000}
    for phase in ("compute_input", "compute_infer", "compute_output")
}
_REQUESTS = {
    outcome: {"count": count, "ns": 1000}
    for outcome, count in {"success": 10, "fail": 1, "cache_hit": 2, "cache_miss": 3}.items()
}
_VERSION = {
    "inference_count": 10,
    "execution_count": 5,
    "batch_stats": [_BATCH],
    "inference_stats": _REQUESTS,
}
_STATISTICS = {"model_stats": [_VERSION]}
_INFERENCE = {"outputs": [{"name": "OUT", "parameters": {"binary_data_size": 16}}]}

# of each path (the first that fits counts): what is right
_RIGHT: Mapping[str, list[Any]] = {
    "/v2/health/live": [{}],
    "/v2/repository/index": [
        [{"name": MODEL, "version": "1", "state": "READY"}, {"name": PART}],
        [{"name": MODEL}, {"name": PART, "version": "2", "state": "UNAVAILABLE"}],
    ],
    "/load": [{}],
    "/v2/models/part/config": [{**_CONFIG, "name": PART}],
    "/config": [_CONFIG, _ENSEMBLE_CONFIG],
    "/stats": [_STATISTICS],
    "/infer": [_INFERENCE],
    "/v2 ": [{"name": "triton", "version": "2.51.0"}],
}
_PIECES = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"', "null", "1e999", "NaN", "9" * 5000, "-1", '"m"', "\0",
     "\xff", "[" * 100_000, '{"error": "no"}', '"a":', "\\u0000", "\\ud800", "\x1b[2J"],
)  # fmt: skip
_STATUSES = st.sampled_from(
    ["200 OK", "200 OK", "200 OK", "200 OK", "204 X", "400 Bad", "401 X", "404 X", "500 X", "503 X",
     "302 Found", "304 X", "101 X", "999 X"],
)  # fmt: skip
_HEADERS = st.sampled_from(
    ["", "", "", "Inference-Header-Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n",
     "Inference-Header-Content-Length: x\r\n", "Content-Encoding: gzip\r\n", "Location: /v2\r\n"],
)  # fmt: skip


def _bodies(right: list[Any]) -> st.SearchStrategy[str]:
    texts = st.sampled_from([json.dumps(sample) for sample in right])
    return st.one_of(
        texts, mutated_trees(st.sampled_from(right)).map(json.dumps), damaged(texts, _PIECES)
    )


def _http(status: str, headers: str, body: str) -> str:
    pieces = answer(body.encode("utf-8", "surrogatepass"), status=status, headers=headers)()
    return b"".join(pieces).decode("latin-1")


def _whole(right: list[Any]) -> st.SearchStrategy[str]:
    wrong = st.builds(_http, _STATUSES, _HEADERS, _bodies(right))
    return st.one_of(
        st.sampled_from([_http("200 OK", "", json.dumps(sample)) for sample in right]),
        wrong,
        damaged(
            wrong, st.sampled_from(["\r\n", "\r\n\r\n", ":", " ", "\0", "\xff", "-1", "9" * 30])
        ),
    )


# Path to the bytes of an HTTP answer, as latin-1.
HTTP_ANSWERS = st.fixed_dictionaries({path: _whole(right) for path, right in _RIGHT.items()})


def http_is_used_or_refused(example: Mapping[str, str]) -> None:
    """Every call gives a value, or an error of ours in a sentence; so does what is made of it."""
    answers = {path: text.encode("latin-1") for path, text in example.items()}
    with closing(AnswersByPath(answers)) as server:
        use(connect(_everywhere(server.port), Protocol.HTTP, {}))


# ------------------------------------------------------------------------------------- gRPC


def _config(text: str) -> Message:
    return text_format.Parse(text, model_config_pb2.ModelConfig())


_GRPC_RIGHT: Mapping[str, list[Message]] = {
    "ServerLive": [service_pb2.ServerLiveResponse(live=True)],
    "ServerMetadata": [service_pb2.ServerMetadataResponse(name="triton", version="2.51.0")],
    "RepositoryIndex": [
        service_pb2.RepositoryIndexResponse(
            models=[{"name": MODEL, "version": "1", "state": "READY"}, {"name": PART}]
        )
    ],
    "RepositoryModelLoad": [service_pb2.RepositoryModelLoadResponse()],
    "ModelConfig": [
        service_pb2.ModelConfigResponse(config=_config(text)) for text in (PLAIN, ENSEMBLE)
    ],
    "ModelStatistics": [service_pb2.ModelStatisticsResponse(model_stats=[_VERSION])],
    "ModelInfer": [
        service_pb2.ModelInferResponse(
            outputs=[{"name": "OUT", "datatype": "FP32", "shape": [4]}],
            raw_output_contents=[bytes(16)],
        )
    ],
}
_CODES = st.sampled_from([0, 0, 0, 0, 1, 3, 4, 5, 13, 14, 16, 99])
_BYTES = st.text(st.characters(max_codepoint=255), max_size=6)


def _messages(method: str, right: list[Message]) -> st.SearchStrategy[str]:
    texts = st.sampled_from([sample.SerializeToString().decode("latin-1") for sample in right])
    choices = [texts, damaged(texts, _BYTES)]
    if method == "ModelConfig":
        configs = message_text(model_config_pb2.ModelConfig.DESCRIPTOR).map(_config_answer)
        choices += [configs, damaged(configs, _BYTES)]
    return st.one_of(choices)


def _config_answer(text: str) -> str:
    try:
        config = _config(text)
    except text_format.ParseError:  # such as two fields of a oneof
        config = _config(PLAIN)
    message = service_pb2.ModelConfigResponse(config=config)
    return message.SerializeToString().decode("latin-1")


# Method to status code, its details, and the bytes of the answer as latin-1.
GRPC_ANSWERS = st.fixed_dictionaries(
    {
        method: st.tuples(_CODES, st.sampled_from(["", "no\n\x1b[2J", "x" * 500, "ü"]), bodies)
        for method, bodies in (
            (method, _messages(method, right)) for method, right in _GRPC_RIGHT.items()
        )
    }
)


def grpc_is_used_or_refused(example: Mapping[str, tuple[int, str, str]]) -> None:
    """The same over gRPC."""
    with _grpc_server(example) as port:
        use(connect(_everywhere(port), Protocol.GRPC, {}))


class _Answers(grpc.GenericRpcHandler):
    """Answers every method as the example says."""

    def __init__(self, example: Mapping[str, tuple[int, str, str]]) -> None:
        self._example = example

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        code, details, body = self._example[call.method.rpartition("/")[2]]

        def respond(request: bytes, context: grpc.ServicerContext) -> bytes:
            codes = {status.value[0]: status for status in grpc.StatusCode}
            if code:
                context.abort(codes.get(code, grpc.StatusCode.UNKNOWN), details)
            return body.encode("latin-1")

        return grpc.unary_unary_rpc_method_handler(respond)


@contextmanager
def _grpc_server(example: Mapping[str, tuple[int, str, str]]) -> Iterator[int]:
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((_Answers(example),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(0).wait()


# ------------------------------------------------------------------------- what must hold


def use(client: ServerClient) -> None:
    """What a run on a server elsewhere asks, with all that it makes of the answers."""
    with closing(client), _no_traceback():
        for call in (
            client.version,
            client.models,
            lambda: client.model_config(MODEL),
            lambda: client.statistics(MODEL),
            lambda: client.load(MODEL, None, TIMEOUT_S),
            lambda: _serve(client),
        ):
            reason = _refused(call)
            assert reason is None or reason.strip()
            assert len(one_line(reason or "")) < 20_000


def _refused(call: Callable[[], object]) -> str | None:
    """What an error of ours says, if there is one."""
    try:
        call()
    except ModelAnalyzerError as error:
        return str(error)
    return None


@contextmanager
def _no_traceback() -> Iterator[None]:
    """What is logged inside goes where it does in a program without handlers: to standard error."""
    root = logging.getLogger()
    handlers, root.handlers = root.handlers, []
    errors = StringIO()
    try:
        with redirect_stderr(errors):
            yield
    finally:
        root.handlers = handlers
    assert "Traceback" not in errors.getvalue()


def _serve(client: ServerClient) -> None:
    facts = served_facts(client, MODEL, timeout_s=TIMEOUT_S)
    other_models(client, [facts])
    variant = VariantNames().default(facts)
    assert variant.identity
    assert variant.unverified_identity
    variant.filling_concurrency(gpus=1)
    text = to_text(facts.config)
    assert to_text(parse_text(text, "again")) == text
    if has_fixed_shapes(facts.config):
        sizes = client.infer_zeros(facts.config, TIMEOUT_S).sizes
        assert all(isinstance(size, int) for size in sizes.values())


def _everywhere(port: int) -> Endpoints:
    address = Address("127.0.0.1", port)
    return Endpoints(address, address, address)


# ---------------------------------------------------------------------------------- metrics

_METRICS_TEXT = """\
# HELP nv_gpu_utilization GPU utilization rate TYPE nv_gpu_utilization gauge
nv_gpu_utilization{gpu_uuid="GPU-1"} 0.5
nv_gpu_memory_used_bytes{gpu_uuid="GPU-1"} 1000000
nv_gpu_memory_total_bytes{gpu_uuid="GPU-1"} 2000000 1395066363000
nv_gpu_power_usage{gpu_uuid="GPU-1"} 75.5
"""

# What the metrics port says.
METRICS = damaged(
    st.just(_METRICS_TEXT),
    st.sampled_from(
        ["\n", "{", "}", '"', "\\", "=", ",", "#", "# TYPE ", "# EOF", "NaN", "+Inf", "-1", "1e999",
         "9" * 400, "\0", "\x1b[2J", "gpu_uuid=", 'gpu_uuid=""', "nv_gpu_utilization", "ü",
         "\udcff", "_bucket", " histogram", "{" * 3000, "1_0", "0x10"]
    ),
)  # fmt: skip


def metrics_are_used_or_left_out(text: str) -> None:
    """Values are finite; what is none is left out."""
    body = text.encode("utf-8", "surrogateescape")
    with closing(WrongServer(answer(body))) as server:
        metrics = TritonMetrics(f"http://127.0.0.1:{server.port}/metrics", {})
        gpus = metrics.gpus()
        values = metrics.read([gpu.device for gpu in gpus])
    assert all(math.isfinite(gpu.device.memory) for gpu in gpus)
    assert all(math.isfinite(value) for gpu in values.values() for value in gpu.values())
