# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Models on a real server: loads each once and sends a request; measures a tiny model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from model_analyzer.domain.models import ModelConfig, ModelFacts, VariantNames
from model_analyzer.domain.protocols import Server
from model_analyzer.domain.settings import LoadGeneratorSettings, ModelType, Protocol
from model_analyzer.domain.trials import Failure, FailureReason, Load, ServerSetup, Workload
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.runner.checks.finding import Finding, ok, problem, warning
from model_analyzer.runner.client.interface import ServerCallError, has_fixed_shapes
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.log import hint
from model_analyzer.runner.server.triton import TritonServer

_ANSWER_S = 60.0
_UNKNOWN_BACKEND = "find backend library"

_FIX_MODEL = "fix the model, or remove it from profile_models"
_FIX_WAITING = "check what initialize waits for, or raise --model-load-timeout"
_FIX_SERVER = (
    "correct what the message names; `model-analyzer runtime show` checks an installed server, and"
    " `model-analyzer runtime install` repairs it"
)
_FIX_PYTHON = "`model-analyzer runtime install` installs a server whose Python models work"
_FIX_MEASURING = "`model-analyzer runtime install`, or choose another with --perf-analyzer-path"

# The server's error message for a Python model whose process has ended.
_DEAD = "is not healthy"


def check_model(
    server: TritonServer,
    facts: ModelFacts,
    setup: ServerSetup,
    shapes: Mapping[str, tuple[int, ...]],
) -> Finding:
    """Loads the original model on a separate server, and sends one request.

    `shapes` are the sizes of inputs with variable dimensions.
    """
    name = f"model {facts.name}"
    variant = VariantNames().default(facts)
    server.discard()
    try:
        failure = server.serve([variant], setup)
    except ModelAnalyzerError as error:
        return problem(name, str(error), _FIX_MODEL)
    if failure is not None:
        is_late = failure.reason is FailureReason.LOAD_TIMEOUT
        mend = _FIX_WAITING if is_late else failure.hint or _FIX_MODEL
        return problem(name, failure.message, mend, telling(failure.log))
    request = sized(facts.config, shapes)
    if not has_fixed_shapes(request):
        return ok(name, "loads; no request sent: its requests are sequences, streams or unknown")
    try:
        server.client(setup).infer_zeros(request, timeout_s=_ANSWER_S)
    except ServerCallError as error:
        log = telling(server.log_tail())
        return judge_refusal(name, error, is_alive=server.is_alive, log=log)
    return ok(name, "loads, and answers a request")


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
    yield ok("server starts", f"tritonserver {version}")
    name = "a tiny model"
    try:
        # checks the size of the answer, too
        failure = server.serve([VariantNames().default(facts)], ServerSetup())
    except ModelAnalyzerError as error:
        yield problem(name, str(error), _FIX_PYTHON)
        return
    if failure is None:
        yield ok(name, "loads, and its answer has the right size")
    elif _UNKNOWN_BACKEND in " ".join((failure.message, *failure.log)):
        yield warning(
            name,
            "not tested: this server has no Python backend",
            "for Python models, use a server that has it; for other models, do nothing",
        )
    else:
        yield problem(name, failure.message, failure.hint or _FIX_PYTHON, failure.log)


def check_measuring(
    load: Program, server: Server, facts: ModelFacts, work_directory: Path
) -> Finding:
    """Measures the loaded model with perf_analyzer for a short time."""
    name = "perf_analyzer measures"
    generator = PerfAnalyzer(
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
        Protocol.GRPC,
        work_directory=work_directory,
        user_directory=work_directory,
    )
    flags = {"measurement-mode": "time_windows", "measurement-interval": "100"}
    workload = Workload(
        variant=VariantNames().default(facts),
        load=Load(value=1),
        flags={**flags, "stability-percentage": "999"},
    )
    reading = generator.generate([workload], server)
    if isinstance(reading, Failure):
        return problem(name, reading.message, reading.hint or _FIX_MEASURING, reading.log)
    throughput = reading.models[0].values["perf_throughput"]
    return ok(name, f"{throughput:.0f} infer/sec of the tiny model")
