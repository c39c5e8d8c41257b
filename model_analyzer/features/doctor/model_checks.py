# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Models on a real server: loads each once and sends the first request of the run; measures a tiny
model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_analyzer.domain.flags import (
    CLIENT_SHM,
    NEEDS_CLIENT_SHM,
    PERF_ANALYZER_CARE,
    Flag,
    needs_client_shm,
    shapes_of,
    shares_memory,
)
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.models import (
    ModelConfig,
    ModelFacts,
    ModelVariant,
    VariantNames,
    is_decoupled,
)
from model_analyzer.domain.protocols import Server
from model_analyzer.domain.settings import LoadGeneratorSettings, ModelType, Protocol
from model_analyzer.domain.trials import Failure, FailureReason, Load, ServerSetup, Workload
from model_analyzer.domain.windows import Window
from model_analyzer.domain.words import first_few
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.features.doctor.findings import Finding, Level, ok, problem, warning
from model_analyzer.runner.client.interface import (
    ServerCallError,
    ServerClient,
    has_fixed_shapes,
    is_served,
)
from model_analyzer.runner.load.generators import Generator
from model_analyzer.runner.load.input_files import input_mistakes
from model_analyzer.runner.load.launches import Launches
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer
from model_analyzer.runner.load.time_limits import GivenLimit
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.log import hint
from model_analyzer.runner.server.remote import NOT_ALLOWED, allows_loading
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.versions import UNKNOWN_BACKEND, described, is_before, refusal

_ANSWER_S = 60.0

_FIX_MODEL = "fix the model, or remove it from profile_models"
_FIX_WAITING = "check what initialize waits for, or raise --model-load-timeout"
_FIX_SERVER = (
    "correct what the message names; `model-analyzer runtime show` checks an installed server, and"
    " `model-analyzer runtime install` repairs it"
)
_FIX_PYTHON = "`model-analyzer runtime install` installs a server whose Python models work"
_FIX_MEASURING = "`model-analyzer runtime install`, or choose another with --perf-analyzer-path"

# perf_analyzer's flags about many requests, which one request does not need.
_OF_LOADS = PERF_ANALYZER_CARE | {"request-distribution", "max-threads"}

# Up to 2.44, perf_analyzer cannot be told to send a single request: then a window ends with it.
_COUNTED_FROM = "2.48"
_SHORT = Window(request_count=1, accepting=True, most=1)

# A sequence of one request: of a longer one, perf_analyzer sends the first request, and the last a
# second later, when the server may have dropped it.
_ALONE = {"sequence-length": "1", "sequence-length-variation": "0"}

# The server's error message for a Python model whose process has ended.
_DEAD = "is not healthy"

_FIX_REMOTE = "check the server, its address and the keys in the options"
_CPU_ONLY = "if the model runs on CPUs, give it cpu_only: true"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRequest:
    """How a run sends its first request: `flags` and `batch_size` are of the model. `program` is
    None if there is no perf_analyzer, or if it cannot make the request.
    """

    program: Program | None
    settings: LoadGeneratorSettings
    protocol: Protocol
    flags: Mapping[str, Flag]
    batch_size: int
    work_directory: Path
    user_directory: Path

    def refused_by(self, version: str, facts: ModelFacts) -> tuple[str, str] | None:
        """Why perf_analyzer cannot measure the model on this version of Triton, and what to do."""
        is_grpc = self.protocol is Protocol.GRPC
        return refusal(version, over_grpc=is_grpc, decoupled=is_decoupled(facts.config))

    def failure(self, variant: ModelVariant, server: Server) -> Failure | None:
        """Sends it to the loaded variant: why there was no answer, or None."""
        assert self.program is not None, "somebody must send it"
        launches = Launches(
            self.program,
            self.settings,
            self.protocol,
            work_directory=self.work_directory,
            user_directory=self.user_directory,
        )
        flags = {name: value for name, value in self.flags.items() if name not in _OF_LOADS}
        if "sequence_batching" in variant.config:
            flags |= _ALONE
        work = Workload(
            variant=variant, load=Load(value=1, batch_size=self.batch_size), flags=flags
        )
        is_old = is_before(self.program.version, _COUNTED_FROM)
        generator = Generator(work, _SHORT if is_old else Window.of_requests(1), exports=False)
        ended = launches.launch([generator], server, GivenLimit(_ANSWER_S))
        return launches.failure([work], ended, server, may_be_late=True)


def check_model(
    server: TritonServer, facts: ModelFacts, setup: ServerSetup, first: FirstRequest
) -> Finding:
    """Loads the original model on a separate server, and sends the first request of the run."""
    name = f"model {facts.name}"
    variant = VariantNames().default(facts)
    server.discard()
    try:
        if refused := first.refused_by(server.version(setup), facts):
            return problem(name, *refused)
        failure = server.serve([variant], setup)
    except ModelAnalyzerError as error:
        return problem(name, str(error), _FIX_MODEL)
    if failure is not None:
        is_late = failure.reason is FailureReason.LOAD_TIMEOUT
        mend = _FIX_WAITING if is_late else failure.hint or _FIX_MODEL
        return problem(name, failure.message, mend, telling(failure.log))
    finding = _check_zeros(server, facts, setup, first)
    if first.program is None or finding.level is Level.PROBLEM:
        return finding
    return check_request(server, variant, first)


def _check_zeros(
    server: TritonServer, facts: ModelFacts, setup: ServerSetup, first: FirstRequest
) -> Finding:
    """Sends a request of zeros to a loaded model, if its shapes are known."""
    name = f"model {facts.name}"
    request = sized(facts.config, shapes_of(first.flags))
    if not has_fixed_shapes(request):
        return ok(name, "loads; no request sent: its requests are sequences, streams or unknown")
    try:
        server.client(setup).infer_zeros(request, timeout_s=_ANSWER_S)
    except ServerCallError as error:
        log = telling(server.log_tail())
        return judge_refusal(name, error, is_alive=server.is_alive, log=log)
    return ok(name, "loads, and answers a request")


def check_request(server: Server, variant: ModelVariant, first: FirstRequest) -> Finding:
    """Sends the first request of the run to a loaded model, through perf_analyzer."""
    name = f"model {variant.model}"
    failure = first.failure(variant, server)
    if failure is None:
        return ok(name, "loads, and answers a request")
    reason = failure.message.removeprefix(f"{variant.name}: ")
    text = f"loads, but does not answer the requests of this run: {reason}"
    return problem(name, text, failure.hint or _FIX_MODEL, telling(failure.log))


def judge_refusal(
    name: str, error: ServerCallError, *, is_alive: bool, log: tuple[str, ...]
) -> Finding:
    """The finding for a loaded model that does not answer a request of zeros."""
    reason = (str(error).splitlines() or ["no reason given"])[0][:300]
    if error.timed_out:
        text = f"loads, but did not answer a request within {_ANSWER_S:.0f} s"
        return problem(name, text, _FIX_MODEL, log)
    if not is_alive or _DEAD in reason:
        return problem(name, f"loads, but crashes on a request: {reason}", _FIX_MODEL, log)
    return warning(
        name,
        f"loads, but refuses a request of zeros: {reason}",
        hint(reason)
        or "if it needs different input, give perf_analyzer_flags: {input-data: FILE} or {shape:"
        " ['NAME:SIZE,…']}",
        log,
    )


def telling(log: Sequence[str]) -> tuple[str, ...]:
    """The lines of a log, unquoted and without duplicates."""
    lines = (" ".join(line.replace(r"\n", " ").strip('" ').split()) for line in log)
    return tuple(dict.fromkeys(line for line in lines if len(line) > 1))


def sized(config: ModelConfig, shapes: Mapping[str, tuple[int, ...]]) -> ModelConfig:
    """The configuration with fixed sizes: variable ones come from `shapes` (by input), or are 1."""

    def fixed(tensor: Mapping[str, Any]) -> Mapping[str, Any]:
        dims = shapes.get(tensor["name"], tuple(int(size) for size in tensor.get("dims", ())))
        return {**tensor, "dims": [1 if size < 0 else size for size in dims]}

    sides = {
        side: [fixed(tensor) for tensor in config[side]]
        for side in ("input", "output")
        if side in config
    }
    return {**config, **sides}


def check_tiny_model(server: TritonServer, facts: ModelFacts) -> Iterator[Finding]:
    """Starts the server, loads the starter model, and sends one request."""
    try:
        version = server.version(ServerSetup())
    except ModelAnalyzerError as error:
        yield problem("server starts", str(error), _FIX_SERVER)
        return
    yield ok("server starts", described(version))
    name = "a tiny model"
    try:
        # checks the size of the answer, too
        failure = server.serve([VariantNames().default(facts)], ServerSetup())
    except ModelAnalyzerError as error:
        yield problem(name, str(error), _FIX_PYTHON)
        return
    if failure is None:
        yield ok(name, "loads, and its answer has the right size")
    elif re.search(UNKNOWN_BACKEND, " ".join((failure.message, *failure.log))):
        yield warning(
            name,
            "not tested: this server has no Python backend",
            "for Python models, use a server that has it; for other models, do nothing",
        )
    else:
        yield problem(name, failure.message, failure.hint or _FIX_PYTHON, failure.log)


def check_measuring(
    load: Program, server: Server, facts: ModelFacts, protocol: Protocol, work_directory: Path
) -> Finding:
    """Measures the loaded model with perf_analyzer for a short time, over the run's protocol."""
    name = "perf_analyzer measures"
    launches = Launches(
        load,
        LoadGeneratorSettings(
            model_type=ModelType.GENERIC,
            keep_output=False,
            output=None,
            path=None,
            timeout_s=30,
            max_launches=3,
            most_cpu_percent=1e6,
        ),
        protocol,
        work_directory=work_directory,
        user_directory=work_directory,
    )
    flags = {"measurement-mode": "time_windows", "measurement-interval": "100"}
    workload = Workload(
        variant=VariantNames().default(facts),
        load=Load(value=1),
        flags={**flags, "stability-percentage": "999"},
    )
    reading = PerfAnalyzer(launches).generate([workload], server)
    if isinstance(reading, Failure):
        return problem(name, reading.message, reading.hint or _FIX_MEASURING, reading.log)
    throughput = reading.models[0].values["perf_throughput"]
    return ok(name, f"{throughput:.0f} infer/sec of the tiny model")


def check_served(
    server: TritonServer,
    setups: Mapping[str, ServerSetup],
    requests: Mapping[str, FirstRequest],
    *,
    loads: bool,
) -> Iterator[Finding]:
    """Findings about the server and the models of the run. `loads` says whether the run loads
    models; otherwise they must be loaded. `requests` are the first ones, by model.

    It loads and unloads nothing: models that are not loaded get no request.
    """
    try:
        for name, setup in setups.items():
            client = server.client(setup)
            if loads and not allows_loading(client):
                reason, _, fix = NOT_ALLOWED.partition(": ")
                yield problem("model control", reason, fix)
                return
            yield _check(server, client, name, requests[name], loads=loads)
            version = client.version()
            if shares_memory(requests[name].flags) and needs_client_shm(version, unknown=False):
                fix = f"start it with --{CLIENT_SHM}=true, or remove shared-memory"
                found = f"Triton {version} refuses it by default: {NEEDS_CLIENT_SHM}"
                yield warning(f"shared memory of {name}", found, fix)
    except ModelAnalyzerError as error:
        yield problem("models", str(error), _FIX_REMOTE)


def _check(
    server: TritonServer, client: ServerClient, name: str, first: FirstRequest, *, loads: bool
) -> Finding:
    check = f"model {name}"
    if is_served(client, name):
        if first.program is None:
            return ok(check, "is loaded on the server")
        facts = ModelFacts(name=name, config=client.model_config(name), files="")
        if refused := first.refused_by(client.version(), facts):
            return problem(check, *refused)
        sizes = [first.batch_size]
        for mistake in input_mistakes(first.flags, facts, sizes, first.user_directory):
            if mistake.is_fatal:
                return problem(check, mistake.what, mistake.fix)
        return check_request(server, VariantNames().default(facts), first)
    if not loads:
        fix = "load it there, or remove reload_model_disable"
        return problem(check, "is not loaded on the server, and the run does not load it", fix)
    if name not in (models := client.models()):
        has = f" (it has {first_few(sorted(models))})" if models else ""
        return problem(
            check, f"the server's repository has no such model{has}", "add it there, or correct it"
        )
    return ok(check, "the server has it, and the run loads it; no request sent")


def judge_served_gpus(devices: Sequence[Device], on_gpus: Sequence[str]) -> Finding:
    """`devices` are what the server reports, and `on_gpus` the models that the run may place on
    GPUs.
    """
    name = "GPUs of the server"
    if devices:
        return ok(name, ", ".join(device.uuid for device in devices))
    if not on_gpus:
        return ok(name, "its metrics show none")
    return warning(
        name,
        "its metrics show none, and the run may search instances of KIND_GPU for"
        f" {first_few(on_gpus)}",
        _CPU_ONLY,
    )
