# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A remote server: whether it allows what the run does, has its models, and answers requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from model_analyzer.domain.client_shm import FLAG, NEEDS_FLAG, needs_flag, shares_memory
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.models import ModelFacts, VariantNames
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.domain.words import first_few
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.features.doctor.finding import Finding, ok, problem, warning
from model_analyzer.features.doctor.model_checks import FirstRequest, check_request
from model_analyzer.runner.client.interface import ServerClient
from model_analyzer.runner.load.input_files import input_mistakes
from model_analyzer.runner.server.remote import NOT_ALLOWED, allows_loading
from model_analyzer.runner.server.triton import TritonServer

_FIX_SERVER = "check the server, its address and the keys in the options"
_CPU_ONLY = "if the model runs on CPUs, give it cpu_only: true"


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
            if shares_memory(requests[name].flags) and needs_flag(version, unknown=False):
                fix = f"start it with --{FLAG}=true, or remove shared-memory"
                found = f"Triton {version} refuses it by default: {NEEDS_FLAG}"
                yield warning(f"shared memory of {name}", found, fix)
    except ModelAnalyzerError as error:
        yield problem("models", str(error), _FIX_SERVER)


def _check(
    server: TritonServer, client: ServerClient, name: str, first: FirstRequest, *, loads: bool
) -> Finding:
    check, models = f"model {name}", client.models()
    if models.get(name):
        if first.program is None:
            return ok(check, "is loaded on the server")
        facts = ModelFacts(name=name, config=client.model_config(name), files="")
        sizes = [first.batch_size]
        for mistake in input_mistakes(first.flags, facts, sizes, first.user_directory):
            if mistake.is_fatal:
                return problem(check, mistake.what, mistake.fix)
        return check_request(server, VariantNames().default(facts), first)
    if not loads:
        fix = "load it there, or remove reload_model_disable"
        return problem(check, "is not loaded on the server, and the run does not load it", fix)
    if name not in models:
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
