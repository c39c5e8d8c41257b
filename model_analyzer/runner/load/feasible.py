# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Detects options of a model that cannot work, before the first measurement; and GPU instances on a
machine without GPUs, where the server refuses to load them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from model_analyzer.domain.flags import PERF_ANALYZER_PATHS, SERVER_KEYS, Flag, unused_keys
from model_analyzer.domain.goals import Constraint, Objective
from model_analyzer.domain.metrics import METRICS, Source, canonical
from model_analyzer.domain.model_config_rules import limits_rates
from model_analyzer.domain.models import (
    ModelConfig,
    ModelFacts,
    instance_groups,
    is_cached,
    is_decoupled,
    max_batch_size,
)
from model_analyzer.domain.settings import (
    ComposingSettings,
    LaunchMode,
    ModelSettings,
    Protocol,
    SearchSettings,
    ServerSettings,
)
from model_analyzer.domain.traffic import Traffic
from model_analyzer.domain.words import MOST_RATE, counted, first_few
from model_analyzer.errors import Problem
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.runner.file_trees import why_unreadable
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.input_check import Mistake
from model_analyzer.runner.load.input_files import input_mistakes, shape_problems, shape_remarks
from model_analyzer.runner.load.logged_requests import (
    MOST_INPUT_BYTES,
    ReplayProblem,
    read_replay,
    size_of,
)
from model_analyzer.runner.load.schedule import MOST_INTERVALS_BYTES

# The server flags that each give it a response cache.
_CACHES = frozenset({"cache-config", "response-cache-byte-size"})

_GROUPS = "instance_group"
_PARAMETERS = "model_config_parameters"
_OF_GPUS = (Source.GPU, Source.ENERGY)
# What follows if nothing measures a metric of the goal, by the part of the goal.
_UNMEASURED = {
    "objectives": "the ranking leaves that out",
    "constraints": "no configuration is known to meet that",
}
_HINT = "use KIND_CPU, or remove kind to let the server choose"

# Returns the place of an option of the model.
Place = Callable[[str], str]


def impossible(
    model: ModelSettings,
    facts: ModelFacts,
    *,
    search: SearchSettings,
    server: ServerSettings,
    addresses: Sequence[str],
    user_directory: Path,
    timeout_s: int,
    place: Callable[[str], str],
) -> Iterator[Problem]:
    """Problems that make all measurements of the model impossible. `addresses` are all that the
    user gave; `place` returns the place of an option of the model.
    """
    is_http = server.protocol is Protocol.HTTP and server.launch is not LaunchMode.C_API
    if is_decoupled(facts.config) and is_http:
        yield Problem(
            where=place("client_protocol"),
            message=f"model {model.name}: it streams its responses, which HTTP does not support",
            hint="use client_protocol: grpc",
        )
    yield from _batch_sizes(place("batch_sizes"), model, facts, search)
    where = place("perf_analyzer_flags")
    files = [*_files(where, model.perf_analyzer_flags, addresses, user_directory)]
    if server.launch is LaunchMode.LOCAL:
        of_server = _keys(SERVER_KEYS, model.server_flags, addresses)
        at = place("triton_server_flags")
        files += _missing(at, "tritonserver", of_server, user_directory)
    # a log cannot select inputs from a file that cannot be read
    refused: Sequence[Problem] = ()
    if model.traffic is not None and not (model.traffic.input and files):
        refused = [*_traffic(place("load"), model, model.traffic, user_directory, timeout_s)]
    yield from refused
    problems = [*files, *shape_problems(where, model.perf_analyzer_flags, facts)]
    if not (problems or refused):
        problems = [
            Problem(where=where, message=mistake.what, hint=mistake.fix)
            for mistake in _mistakes(model, facts, user_directory)
            if mistake.is_fatal
        ]
    for problem in problems:
        yield replace(problem, message=f"model {model.name}: {problem.message}")


def _batch_sizes(
    where: str, model: ModelSettings, facts: ModelFacts, search: SearchSettings
) -> Iterator[Problem]:
    """At least one variant must accept the smallest client batch size."""
    largest = _largest_batch(model, facts, search)
    smallest = min(model.batch_sizes)
    if smallest > largest:
        yield Problem(
            where=where,
            message=f"model {model.name}: the client batch size {smallest} is above the largest"
            f" that a variant accepts ({largest})",
            hint="lower batch_sizes, or try a larger max_batch_size",
        )
    elif smallest > 1 and any("sequence_batching" in part.config for part in facts.with_parts()):
        yield Problem(
            where=where,
            message=f"model {model.name}: perf_analyzer sends a sequence with client batch size 1"
            f" only, not {smallest}",
            hint="use batch_sizes: 1",
        )


def _largest_batch(model: ModelSettings, facts: ModelFacts, search: SearchSettings) -> int:
    """The largest batch size that a variant accepts."""
    limits: list[int | None] = [
        max_batch_size(facts.config),
        *model.parameters.get("max_batch_size", ()),
    ]
    mode = model.mode or search.mode
    # a search that lists variants leaves the sizes of a model that calls others as they are
    is_varied = not model.loads if mode is None else mode.facts.searches_several
    is_searched = facts.supports_batching and not search.disable and not model.parameters
    if is_searched and (is_varied or not facts.composing):
        limits.append(search.max_model_batch_size)
    return max(1, *(limit for limit in limits if limit is not None))


def _files(
    where: str, flags: Mapping[str, Flag], addresses: Sequence[str], user_directory: Path
) -> Iterator[Problem]:
    of_tls = _keys(sorted(name for name in PERF_ANALYZER_PATHS if "ssl-" in name), flags, addresses)
    named = [*named_files(flags), *of_tls]
    missing = [*_missing(where, "perf_analyzer", named, user_directory)]
    yield from missing
    for name, path in named_files(flags) if not missing else ():
        file = user_directory / path
        if name == "request-intervals" and not _are_intervals(file):
            yield Problem(
                where=where,
                message=f"perf_analyzer flag {name}: {file} is not a list of times",
                hint="each line is a time between two requests, in microseconds",
            )


def _keys(
    names: Iterable[str], flags: Mapping[str, Flag], addresses: Sequence[str]
) -> Sequence[tuple[str, Flag | None]]:
    """The keys and certificates that these flags name, if TLS is on."""
    unused = unused_keys(flags, addresses)
    return [(name, flags.get(name)) for name in names if name not in unused]


def _missing(
    where: str, program: str, named: Iterable[tuple[str, Flag | None]], user_directory: Path
) -> Iterator[Problem]:
    """Files, by the flags of a program that name them, that are not there or cannot be read."""
    for name, path in named:
        file = user_directory / str(path)
        if path and not os.path.exists(file):
            yield Problem(
                where=where,
                message=f"{program} flag {name}: {file} does not exist",
                hint="correct the path: relative paths start at the current directory",
            )
        elif path and (reason := why_unreadable(file)):
            yield Problem(
                where=where,
                message=f"{program} flag {name}: {reason}",
                hint="name a file that you may read",
            )


def _traffic(
    where: str, model: ModelSettings, traffic: Traffic, user_directory: Path, timeout_s: int
) -> Iterator[Problem]:
    """A log must be readable, and a measurement must end before its time limit."""
    if traffic.log:
        try:
            replay = read_replay(traffic, model.perf_analyzer_flags, user_directory)
        except ReplayProblem as error:
            message = f"model {model.name}: {error.message}"
            yield Problem(where=where, message=message, hint=error.hint)
            return
        rate = len(replay.log.times) / replay.log.seconds * traffic.speed
        if rate > MOST_RATE:
            yield Problem(
                where=where,
                message=f"model {model.name}: {traffic} has {rate:.4g} requests/s, and a load at"
                f" most {MOST_RATE:,}",
                hint="give a lower speed",
            )
        size = 0
        if replay.entries is not None:
            size = size_of(replay.entries, replay.log.inputs, max(model.batch_sizes))
        if size > MOST_INPUT_BYTES:
            yield Problem(
                where=where,
                message=f"model {model.name}: the inputs of all requests of the log together have"
                f" {size / 2**20:,.0f} MiB, and perf_analyzer keeps them in memory:"
                f" {MOST_INPUT_BYTES // 2**20} MiB at most",
                hint="use a part of the log, or smaller inputs",
            )
    seconds = own_length_s(model, user_directory)
    if seconds > timeout_s / 2:
        yield Problem(
            where=where,
            message=f"model {model.name}: a measurement under {traffic} lasts {seconds:.6g} s, and"
            f" perf_analyzer may take {timeout_s} s",
            hint="raise perf_analyzer_timeout to twice as long, "
            + (_shorter_log(traffic) if traffic.log else "or shorten the stages"),
        )


def _shorter_log(traffic: Traffic) -> str:
    """How a log takes less time."""
    unit = "" if traffic.unit else "give unit: ms if its times are in milliseconds, "
    return f"{unit}give a higher speed, or use a part of the log"


def own_length_s(model: ModelSettings, user_directory: Path) -> float:
    """How long the requests of a load with its own times are sent: of a log, which can be read, or
    of stages; 0 for other loads.
    """
    traffic = model.traffic
    if traffic is None:
        return 0.0
    if traffic.log:
        replay = read_replay(traffic, model.perf_analyzer_flags, user_directory)
        return replay.log.seconds / traffic.speed
    return traffic.seconds


def _are_intervals(path: Path) -> bool:
    try:
        words = read_regular(path, most_bytes=MOST_INTERVALS_BYTES).decode().split()
    except (OSError, UnicodeDecodeError):
        return False
    return bool(words) and all(word.isdecimal() for word in words)


def without_effect(
    model: ModelSettings, facts: ModelFacts, search: SearchSettings, user_directory: Path
) -> Iterator[str]:
    """Remarks about options without effect: client batch sizes that no variant accepts, and shapes
    of inputs that are fixed; and about input data that is sent otherwise than it is written.
    """
    largest = _largest_batch(model, facts, search)
    left_out = [str(size) for size in model.batch_sizes if size > largest]
    if left_out:
        yield (
            f"model {model.name}: batch_sizes {first_few(left_out)} left out:"
            f" no variant accepts more than {largest}"
        )
    remarks = [
        *shape_remarks(model.perf_analyzer_flags, facts),
        *(
            f"{mistake.what} ({mistake.fix})"
            for mistake in _mistakes(model, facts, user_directory)
            if not mistake.is_fatal
        ),
    ]
    for remark in remarks:
        yield f"model {model.name}: {remark}"


def random_options(model: ModelSettings, facts: ModelFacts) -> Iterator[str]:
    """Remarks about optional inputs: they get random values, such as billions of tokens."""
    optional = [each["name"] for each in facts.config.get("input", ()) if each.get("optional")]
    if optional and model.perf_analyzer_flags.get("input-data", "random") == "random":
        verb = "its optional input {} gets" if len(optional) == 1 else "its optional inputs {} get"
        yield (
            f"model {model.name}: {verb.format(first_few(optional))} a random value, the same in"
            " each request; a file of input-data (perf_analyzer_flags) can say which, or none"
        )


def on_server(model: ModelSettings, facts: ModelFacts, launch: LaunchMode) -> Iterator[str]:
    """What to know about fields of the model, or of one that it calls, that depend on the server's
    flags: response_cache and rate_limiter.
    """
    knows_flags = launch in (LaunchMode.LOCAL, LaunchMode.DOCKER)
    has_cache = not knows_flags or not _CACHES.isdisjoint(model.server_flags)
    cached = _names_with("response_cache", is_cached, model, facts)
    if cached and model.keeps_cache and has_cache:
        yield (
            f"model {model.name}: measured with the response cache of {first_few(cached)}."
            " perf_analyzer repeats its requests, so most answers may come from memory: the column"
            " Cache Hit Rate says how many"
        )
    elif cached and model.keeps_cache:
        yield (
            f"model {model.name}: response_cache of {first_few(cached)} has no effect, because the"
            " server has no cache: add cache-config to triton_server_flags"
        )
    elif cached:
        yield (
            f"model {model.name}: measured without the response cache of {first_few(cached)}."
            " perf_analyzer repeats its requests, so nearly all answers would come from memory."
            " The configurations that are written keep response_cache; `response_cache: keep`"
            " measures with it"
        )
    limited = _names_with("instance_group", _is_limited, model, facts)
    if limited and knows_flags and not limits_rates(model.server_flags):
        yield (
            f"model {model.name}: the server ignores rate_limiter of {first_few(limited)} without"
            " triton_server_flags: {rate-limit: execution_count}"
        )


def _names_with(
    field: str, is_so: Callable[[ModelConfig], bool], model: ModelSettings, facts: ModelFacts
) -> Sequence[str]:
    """The model and those that it calls, if it `is_so` with their configuration, or with a listed
    value of the field.
    """
    configs = {part.name: [part.config] for part in facts.with_parts()}
    configs[model.name] += [{field: value or {}} for value in model.parameters.get(field, ())]
    return [name for name, own in configs.items() if any(map(is_so, own))]


def _is_limited(config: ModelConfig) -> bool:
    return any("rate_limiter" in group for group in instance_groups(config))


def _mistakes(model: ModelSettings, facts: ModelFacts, user_directory: Path) -> Sequence[Mistake]:
    flags = model.perf_analyzer_flags
    return input_mistakes(flags, facts, model.batch_sizes, user_directory)


def without_any(
    model: ModelSettings, facts: ModelFacts, *, search: SearchSettings, place: Place
) -> Iterator[Problem]:
    """A problem if no variant of the model can run, or be measured, on a machine without a GPU."""
    if model.perf_analyzer_flags.get("shared-memory") == "cuda":
        yield Problem(
            where=place("perf_analyzer_flags"),
            message=f"model {model.name}: shared-memory: cuda, and this machine has no GPU",
            hint="use shared-memory: system",
        )
    original = facts.config.get(_GROUPS)
    if not _on_gpu(original):
        return
    if not model.parameters and not search.disable:
        return  # the search itself sets instances, on CPUs
    listed = model.parameters.get(_GROUPS, (None,))
    if all(_on_gpu(original if groups is None else groups) for groups in listed):
        yield Problem(
            where=place(_PARAMETERS),
            message=f"model {model.name}: all its instances are KIND_GPU, and this machine has no"
            " GPU",
            hint=_HINT,
        )


def without_some(
    model: ModelSettings,
    facts: ModelFacts,
    composing: Mapping[str, ComposingSettings],
    *,
    place: Place,
) -> Iterator[Problem]:
    """Variants of the model, and of those that it calls, that cannot run on a machine without a
    GPU; and metrics of its goal that nothing measures there.
    """
    called = [composing[part.name] for part in facts.with_parts() if part.name in composing]
    varying: Sequence[ModelSettings | ComposingSettings] = (model, *called)
    for varied in varying:
        listed = varied.parameters.get(_GROUPS, ())
        refused = sum(map(_on_gpu, listed))
        if refused:
            yield Problem(
                where=place(_PARAMETERS),
                message=f"model {varied.name}: {refused} of"
                f" {counted(len(listed), 'instance_group')} to try have KIND_GPU, and this machine"
                " has no GPU: the server will refuse them",
                hint=_HINT,
            )
    goals: Mapping[str, Sequence[Objective | Constraint]] = {
        "objectives": model.goal.objectives,
        "constraints": model.goal.constraints,
    }
    for kind, parts in goals.items():
        tags = dict.fromkeys(canonical(part.tag) for part in parts)
        unmeasured = [tag for tag in tags if METRICS[tag].source in _OF_GPUS]
        if unmeasured:
            yield Problem(
                where=place(kind),
                message=f"model {model.name}: nothing measures {' and '.join(unmeasured)}, because"
                f" this machine has no GPU: {_UNMEASURED[kind]}",
                hint=f"choose other {kind}",
            )
    for part in facts.with_parts():
        if _on_gpu(part.config.get(_GROUPS)):
            yield Problem(
                where=place(""),
                message=f"model {part.name}: its config.pbtxt has instances of KIND_GPU, and this"
                " machine has no GPU: the server will refuse this configuration",
                hint=_HINT,
            )


def _on_gpu(groups: Sequence[Mapping[str, Any]] | None) -> bool:
    return any(group.get("kind") == "KIND_GPU" for group in groups or ())
