# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A pretend tritonserver: real gRPC and HTTP, no models.

FAKE_TRITON is a JSON object that may have: `log` (a file: each start, load and inference appends a
line), `tell` (variables that are appended there at the start), `metrics` (a file with what the
metrics port answers), `start_s` (until it listens), `until` (a file: waits for it before it
listens), `die` (a line to say at the start before ending with 1), `spoiled` (the same if it has to
load models of its repository), `never_ready`, `proxied_s` (so long its ports only seem to listen,
as those of a container do), `deaf` (ignores SIGTERM), `stop_s` (takes so long to end), `knows`
(flags in its help), `named` (its process has the name of a real server), `version`, `repository`
(names of its models, all alike), `completes` (model to configuration: what a load without one makes
of a model, if auto-completion is on), `raises` (model to the max_batch_size that its code then
gives it, with a dynamic batcher, whatever a load says), `loaded` (models that are there from the
start, beside those of --load-model with the configurations in its repository), `polls` (refuses to
load and unload), `unloads` (false: models never end), `header` (NAME:VALUE; calls without it are
refused), `mute` (keeps its statistics to itself), `unlisted` (models without files: they are
loaded, but the index lacks them, and they cannot be loaded again), `restricts` (a header without
which nobody gets the index; no value is right).

What a load does is told by the model configuration's parameter `fake`: `fail`, `killed` (the
model's process is, while it loads), `refuse` (as for a configuration that is not valid), `hang`,
`die` (the server ends), `empty` (answers without values), `crowded` (fails unless it is the first
load of this server), `lonely` (the server ends where two requests meet).
"""

from __future__ import annotations

import http.server
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from concurrent import futures
from email.message import Message
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import grpc
from google.protobuf import json_format, text_format

# The messages without the client around them, which imports numpy: half of the time to start.
package = find_spec("tritonclient")
assert package is not None
assert package.submodule_search_locations is not None
sys.modules["tritonclient.grpc"] = ModuleType("tritonclient.grpc")
sys.modules["tritonclient.grpc"].__path__ = [
    f"{place}/grpc" for place in package.submodule_search_locations
]
from tritonclient.grpc import model_config_pb2, service_pb2, service_pb2_grpc  # noqa: E402

PLAN = json.loads(os.environ.get("FAKE_TRITON", "{}"))
VERSION = PLAN.get("version", "9.99.0")
NAME = PLAN.get("name", "triton")


def flags(name: str) -> list[str]:
    return [word.partition("=")[2] for word in sys.argv if word.startswith(f"--{name}=")]


def flag(name: str, default: str) -> str:
    return [default, *flags(name)][-1]


def note(*words: str) -> None:
    if "log" in PLAN:
        with open(PLAN["log"], "a") as file:
            file.write(" ".join(words) + "\n")


class Refusal(Exception):
    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code


class Models:
    """What is loaded, and what loading does."""

    def __init__(self) -> None:
        self.loads = 0
        self.alone = threading.Lock()
        self.configs = {
            name: completed(name) for name in (*PLAN.get("loaded", []), *PLAN.get("unlisted", []))
        }
        for name in flags("load-model"):
            self.configs[name] = in_repository(name)
            limit = self.configs[name].get("max_batch_size", 0)
            count = self.configs[name].get("instance_group", [{}])[0].get("count", 1)
            note("has", name, f"count={count}", f"max_batch_size={limit}")
        self.counts = dict.fromkeys(self.configs, 0)

    def index(self) -> list[tuple[str, str, str]]:
        if header := PLAN.get("restricts"):
            text = f"This protocol is restricted, expecting header '{header}'"
            raise Refusal(grpc.StatusCode.UNAVAILABLE, text)
        names = sorted({*PLAN.get("repository", []), *self.configs} - {*PLAN.get("unlisted", [])})
        return [(name, "1", "READY") if name in self.configs else (name, "", "") for name in names]

    def config(self, name: str) -> dict:
        if name not in self.configs:
            raise Refusal(grpc.StatusCode.NOT_FOUND, f"Request for unknown model: '{name}'")
        return self.configs[name]

    def load(self, name: str, override: str | None) -> None:
        self._may_change()
        config = json.loads(override) if override else self.configs.get(name, completed(name))
        self.loads += 1
        count = config.get("instance_group", [{}])[0].get("count", 1)
        note("load", name, f"count={count}", f"max_batch_size={config.get('max_batch_size', 0)}")
        fake = fake_of(config)
        if fake == "die":
            print("E1121 00:00:00.000000 1 backend.cc:1] segmentation fault, as asked", flush=True)
            os._exit(139)
        if fake == "hang":
            time.sleep(600)
        if fake == "refuse":
            print(
                "E1121 00:00:00.000000 1 model.cc:1] Invalid config override: as asked", flush=True
            )
            raise Refusal(
                grpc.StatusCode.INTERNAL,
                f"failed to load '{name}', failed to poll from model repository",
            )
        if fake == "fail" or (fake == "crowded" and self.loads > 1):
            raise Refusal(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"load failed for model '{name}': version 1 is at"
                f" {PLAN.get('state', 'UNAVAILABLE')} state: Internal:"
                " ModuleNotFoundError: No module named 'nosuch'\n\nAt:\n  model.py(1): <module>;",
            )
        if fake == "killed":
            raise Refusal(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"load failed for model '{name}': version 1 is at UNAVAILABLE state: Internal:"
                f" Stub process '{name}_0_0' is not healthy.;",
            )
        for part in PLAN.get("replaces", {}).get(name, ()) if name not in self.configs else ():
            self.configs[part] = completed(part)
        most = PLAN.get("raises", {}).get(name)
        if most and "--disable-auto-complete-config" not in sys.argv:
            config = {"dynamic_batching": {}, **config, "max_batch_size": most}
        if PLAN.get("forgets") and name in self.configs:
            config = completed(name)  # another load of it is without effect
        self.configs[name] = config
        self.counts[name] = 0

    def statistics(self, name: str) -> dict:
        """Of a version whose executions are of one inference, in a millisecond, and of one that
        has nothing to do.
        """
        self.config(name)
        if PLAN.get("mute"):
            raise Refusal(grpc.StatusCode.INTERNAL, "statistics are switched off")
        count = self.counts[name]
        phase = {"count": count, "ns": count * 1_000_000}
        batch = {"batch_size": 1, "compute_input": {"count": count, "ns": 0}}
        batch |= {"compute_infer": phase, "compute_output": {"count": count, "ns": 0}}
        rows = [(count, [batch] if count else []), (0, [])]
        return {
            "model_stats": [
                {
                    "inference_count": made,
                    "execution_count": made,
                    "batch_stats": batches,
                    "inference_stats": {
                        "success": {"count": made, "ns": 0},
                        "fail": {"count": 0, "ns": 0},
                        "cache_hit": {"count": 0, "ns": 0},
                        "cache_miss": {"count": 0, "ns": 0},
                    },
                }
                for made, batches in rows
            ]
        }

    def unload(self, name: str) -> None:
        self._may_change()
        note("unload", name)
        if PLAN.get("unloads", True):
            self.configs.pop(name, None)

    def sizes(self, name: str) -> dict[str, int]:
        """The number of floats in each output of an answer."""
        note("infer", name)
        config = self.config(name)
        if fake_of(config) == "lonely":
            if not self.alone.acquire(blocking=False):
                os._exit(1)
            time.sleep(0.01)
            self.alone.release()
        self.counts[name] += 1
        size = 0 if fake_of(config) == "empty" else 4
        return {tensor["name"]: size for tensor in config["output"]}

    def _may_change(self) -> None:
        if PLAN.get("polls"):
            raise Refusal(
                grpc.StatusCode.UNAVAILABLE,
                "explicit model load / unload is not allowed if polling is enabled",
            )


def completed(name: str) -> dict:
    """A configuration as a server completes it."""
    completes = PLAN.get("completes", {})
    if name in completes:
        return {} if "--disable-auto-complete-config" in sys.argv else completes[name]
    return {
        "name": name,
        "backend": "python",
        "max_batch_size": 8,
        "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": ["4"]}],
        "output": [{"name": "OUT", "data_type": "TYPE_FP32", "dims": ["4"]}],
        "dynamic_batching": {"preferred_batch_size": [8]},
    }


def in_repository(name: str) -> dict:
    """The configuration in the file of a model."""
    path = Path(flag("model-repository", ""), name, "config.pbtxt")
    config = text_format.Parse(path.read_text(), model_config_pb2.ModelConfig())
    return {
        **completed(name),
        **json_format.MessageToDict(config, preserving_proto_field_name=True),
    }


def fake_of(config: dict) -> str:
    return config.get("parameters", {}).get("fake", {}).get("string_value", "")


def is_let_in(headers: Mapping[str, str] | Message) -> bool:
    name, _, value = PLAN.get("header", ":").partition(":")
    return not name or headers.get(name) == value


class Service(service_pb2_grpc.GRPCInferenceServiceServicer):
    """The models over gRPC."""

    def __init__(self, models: Models) -> None:
        self.models = models

    def ServerLive(self, request, context):
        return service_pb2.ServerLiveResponse(live=True)

    def ServerMetadata(self, request, context):
        if not is_let_in(dict(context.invocation_metadata())):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
        return service_pb2.ServerMetadataResponse(name=NAME, version=VERSION)

    def RepositoryIndex(self, request, context):
        response = service_pb2.RepositoryIndexResponse()
        for name, version, state in answer(context, self.models.index):
            response.models.add(name=name, version=version, state=state)
        return response

    def ModelConfig(self, request, context):
        response = service_pb2.ModelConfigResponse()
        config = answer(context, lambda: self.models.config(request.name))
        json_format.ParseDict(config, response.config)
        return response

    def ModelStatistics(self, request, context):
        response = service_pb2.ModelStatisticsResponse()
        json_format.ParseDict(
            answer(context, lambda: self.models.statistics(request.name)), response
        )
        return response

    def RepositoryModelLoad(self, request, context):
        override = request.parameters["config"].string_param
        answer(context, lambda: self.models.load(request.model_name, override))
        return service_pb2.RepositoryModelLoadResponse()

    def RepositoryModelUnload(self, request, context):
        answer(context, lambda: self.models.unload(request.model_name))
        return service_pb2.RepositoryModelUnloadResponse()

    def ModelInfer(self, request, context):
        response = service_pb2.ModelInferResponse(model_name=request.model_name)
        for name, size in answer(context, lambda: self.models.sizes(request.model_name)).items():
            response.outputs.add(name=name, datatype="FP32", shape=[size])
            response.raw_output_contents.append(b"\0\0\0\0" * size)
        return response


def listen(port: str) -> socket.socket:
    """A port that others may share."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    server.bind(("127.0.0.1", int(port)))
    server.listen(50)
    return server


def answer(context, call):
    try:
        return call()
    except Refusal as refusal:
        context.abort(refusal.code, str(refusal))


class Handler(http.server.BaseHTTPRequestHandler):
    """The models over HTTP."""

    models: Models

    def do_GET(self) -> None:
        self.respond()

    def do_POST(self) -> None:
        self.respond()

    def log_message(self, *words) -> None:
        pass

    def respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_let_in(self.headers):
            self.send(401, {"error": "who are you?"})
            return
        try:
            match self.path.strip("/").split("/"):
                case ["metrics"]:
                    self.send_metrics()
                case ["v2", "health", "live"]:
                    self.send(200, {})
                case ["v2"]:
                    self.send(200, {"name": NAME, "version": VERSION, "extensions": []})
                case ["v2", "repository", "index"]:
                    self.send(200, [
                        {"name": name, "version": version, "state": state}
                        for name, version, state in self.models.index()
                    ])  # fmt: skip
                case ["v2", "models", name, "config"]:
                    self.send(200, self.models.config(name))
                case ["v2", "models", name, "stats"]:
                    self.send(200, self.models.statistics(name))
                case ["v2", "repository", "models", name, "load"]:
                    override = json.loads(body).get("parameters", {}).get("config")
                    self.models.load(name, override)
                    self.send(200, {})
                case ["v2", "repository", "models", name, "unload"]:
                    self.models.unload(name)
                    self.send(200, {})
                case ["v2", "models", name, "infer"]:
                    self.send_tensors(body, self.models.sizes(name))
                case _:
                    self.send(404, {"error": "no such thing"})
        except Refusal as refusal:
            is_restricted = refusal.code is grpc.StatusCode.UNAVAILABLE
            self.send(403 if is_restricted else 400, {"error": str(refusal)})

    def send_metrics(self) -> None:
        if "metrics" not in PLAN:
            self.send(404, {"error": "no metrics"})
            return
        with open(PLAN["metrics"], encoding="utf-8") as file:
            self.send(200, file.read())

    def send_tensors(self, body: bytes, sizes: dict[str, int]) -> None:
        length = int(self.headers["Inference-Header-Content-Length"])
        request = json.loads(body[:length])
        wanted = sum(tensor["parameters"]["binary_data_size"] for tensor in request["inputs"])
        if len(body) - length != wanted:
            self.send(400, {"error": "unexpected size of the inputs"})
            return
        outputs = [
            {"name": name, "parameters": {"binary_data_size": 4 * size}}
            for name, size in sizes.items()
        ]
        self.send(200, {"outputs": outputs}, b"\0\0\0\0" * sum(sizes.values()))

    def send(self, status: int, content: object, tensors: bytes = b"") -> None:
        text = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text + tensors)))
        if tensors:
            self.send_header("Inference-Header-Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text + tensors)


class HttpServer(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
    allow_reuse_port = "proxied_s" in PLAN
    daemon_threads = True


def serve_http(port: str, models: Models) -> HttpServer:
    Handler.models = models
    try:
        return HttpServer(("127.0.0.1", int(port)), Handler)
    except OSError:
        print(
            f"error: failed to start HTTP service: Unavailable - Socket '127.0.0.1:{port}'"
            " already in use",
            flush=True,
        )
        os._exit(1)


def hang_up(seconds: float) -> list[socket.socket]:
    """Accepts connections on all ports and closes them; the ports are still open at the end."""
    ports = [flag(f"{name}-port", "") for name in ("http", "grpc", "metrics")]
    sockets = [listen(port) for port in ports]
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for listener in sockets:
            listener.settimeout(0.01)
            try:
                listener.accept()[0].close()
            except TimeoutError:
                pass
    return sockets


def main() -> int:
    if "--help" in sys.argv:
        print("Usage: tritonserver [options]\n  --model-repository <string>")
        print("".join(f"  --{flag} <boolean>\n" for flag in PLAN.get("knows", ())))
        return 1
    if PLAN.get("named"):
        Path("/proc/self/comm").write_text("tritonserver")
    note("start", *sys.argv[1:])
    for name in PLAN.get("tell", ()):
        note(f"{name}={os.environ.get(name)}")
    if PLAN.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: end())
    if "die" in PLAN or (flags("load-model") and "spoiled" in PLAN):
        print(PLAN.get("die", PLAN.get("spoiled")), flush=True)
        return 1
    time.sleep(PLAN.get("start_s", 0))
    while "until" in PLAN and not os.path.exists(PLAN["until"]):
        time.sleep(0.01)
    if PLAN.get("never_ready"):
        time.sleep(600)
    proxies = hang_up(PLAN["proxied_s"]) if "proxied_s" in PLAN else []
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    models = Models()
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(Service(models), server)
    server.add_insecure_port(f"127.0.0.1:{flag('grpc-port', '8001')}")
    server.start()
    for proxy in proxies:
        proxy.close()
    requests = serve_http(flag("http-port", "8000"), models)
    threading.Thread(target=requests.serve_forever, daemon=True).start()
    serve_http(flag("metrics-port", "8002"), models).serve_forever()
    return 0


def end() -> None:
    note("stop")
    time.sleep(PLAN.get("stop_s", 0))
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
