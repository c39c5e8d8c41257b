# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rules between options: each yields the problems that it detects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.config.flag_values import ignored_part
from model_analyzer.config.goal_kinds import SHORTHANDS
from model_analyzer.config.model_options import GENAI_PERF, PERF_ANALYZER, TRITON_SERVER, ModelEntry
from model_analyzer.config.nodes import nearest
from model_analyzer.config.table import ANALYZE, BEST, DOCTOR, FILE, PROFILE, REPORT, Given
from model_analyzer.domain.flags import (
    GENAI_PERF_OWNED,
    NEEDS_CLIENT_SHM,
    PERF_ANALYZER_OWNED,
    PERF_ANALYZER_SWITCHES,
    TRITON_SERVER_OWNED,
    Flag,
    is_on,
    shares_memory,
    unused_keys,
    whole,
)
from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.goodput import GOODPUT, WITHOUT_LIMITS, has_request_limits
from model_analyzer.domain.metrics import METRICS, Source, canonical, metric_of
from model_analyzer.domain.settings import (
    ALTERNATIVE,
    SIZES,
    EndpointKind,
    ExecutorKind,
    LaunchMode,
    ModelSettings,
    ModelType,
    Protocol,
    SearchMode,
    field_with_several_values,
    unsupported_loads,
)
from model_analyzer.domain.trials import LoadKind
from model_analyzer.domain.windows import WINDOWS, Window
from model_analyzer.domain.words import MOST_INSTANCES, counted
from model_analyzer.errors import Problem

Rule = Callable[[Given, Mapping[str, Any]], Iterator[Problem]]

_ENDPOINTS = ("triton_http_endpoint", "triton_grpc_endpoint", "triton_metrics_url")

_ROW_FIELDS = (
    "model_name", "hardware", "batch_size", *(kind.value for kind in LoadKind),
    "model_config_path", "instance_group", "max_batch_size", "satisfies_constraints",
)  # fmt: skip
# The columns beside metrics of each table whose columns are an option.
OUTPUT_FIELDS: Mapping[str, Sequence[str]] = {
    "inference_output_fields": _ROW_FIELDS,
    "gpu_output_fields": (*_ROW_FIELDS, "gpu_uuid"),
    "server_output_fields": ("model_name", "gpu_uuid"),
}

# The options of each kind of load; one of the second group selects request rates.
CONCURRENCIES = (
    "concurrency",
    "run_config_search_min_concurrency",
    "run_config_search_max_concurrency",
)
REQUEST_RATES = (
    "request_rate",
    "request_rate_search_enable",
    "run_config_search_min_request_rate",
    "run_config_search_max_request_rate",
)

# Pairs of options: a minimum and its maximum.
_BOUNDS = (
    *(
        (f"run_config_search_min_{quantity}", f"run_config_search_max_{quantity}")
        for quantity in ("concurrency", "request_rate", "instance_count", "model_batch_size")
    ),
    ("min_percentage_of_search_space", "max_percentage_of_search_space"),
    ("optuna_min_trials", "optuna_max_trials"),
)

# perf_analyzer flags that define loads and batch sizes.
_LOADS_IN_FLAGS = frozenset({"concurrency-range", "request-rate-range", "batch-size"})

_MODE = "run_config_search_mode"
_TOGETHER = "run_config_profile_models_concurrently_enable"
_OF_RAY = ("ray_address", "slots", "slot_gpus", "slot_cpus", "slot_label", "slots_per_host")
_COMPOSING = ("bls_composing_models", "ensemble_composing_models")

_FLAGS = {
    "perf_analyzer_flags": PERF_ANALYZER, "triton_server_flags": TRITON_SERVER,
    "genai_perf_flags": GENAI_PERF,
}  # fmt: skip
_SWITCHES = {"perf_analyzer_flags": PERF_ANALYZER_SWITCHES}

# The options that have an effect for a composing model.
_COMPOSING_OPTIONS = ("cpu_only", "model_config_parameters")


def is_request_rate_searched(given: Given) -> bool:
    """Whether the load is a request rate for all models."""
    return any(given.values.get(key) for key in REQUEST_RATES)


def missing_for_profile(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    """What `profile` needs and the user did not give."""
    yield from _needs_models(given, values)
    yield from _needs_repository(given, values)


def _needs_models(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if "profile_models" not in given.where:
        yield Problem(
            where="profile_models",
            message="no model is given",
            hint="give --profile-models, or profile_models in the YAML file",
        )


def _needs_repository(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if "model_repository" not in given.where and not _is_remote(values):
        yield Problem(
            where="model_repository",
            message="no model repository is given",
            hint="give --model-repository, or model_repository in the YAML file",
        )


def with_bounds_in_order(given: Given, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values, with each default bound adjusted to a bound that the user gave: a default maximum
    rises to a given minimum, and a default minimum falls to a given maximum.
    """
    in_order = dict(values)
    for low, high in _crossed(values):
        if low in given.values and high not in given.values:
            in_order[high] = values[low]
        elif high in given.values and low not in given.values:
            in_order[low] = values[high]
    return in_order


def with_endpoint(given: Given, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values, with what OpenAI's API implies, also for `report`, which lacks some: it is HTTP,
    loads nothing, has no tensors to compare, gives tokens unless the user says otherwise, and has
    its metrics beside it.
    """
    if values.get("endpoint") is not EndpointKind.OPENAI or not _is_remote(values):
        return values
    http = values.get("triton_http_endpoint") or ("localhost:8000",)
    return {
        **values,
        "client_protocol": Protocol.HTTP,
        "reload_model_disable": True,
        "outputs": {"check": False},
        "model_type": given.values.get("model_type", ModelType.LLM),
        "triton_metrics_url": values.get("triton_metrics_url")
        or tuple(f"{each}/metrics" for each in http),
    }


def _minimum_below_maximum(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    for low, high in _crossed(values):
        yield Problem(
            where=given.where.get(low, low),
            message=f"{low} ({values[low]}) is above {high} ({values[high]})",
        )


def _crossed(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each pair of options whose minimum is above its maximum."""
    for low, high in _BOUNDS:
        least, most = values.get(low), values.get(high)
        if least is not None and most is not None and least > most:
            yield low, high


def _different_ports(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for key in _ENDPOINTS:
        if len(values[key]) != 1 or _is_remote(values):
            continue
        port = _place(values[key][0]).rpartition(":")[2]
        if port in seen:
            yield Problem(
                where=given.where[key], message=f"{key} and {seen[port]} share port {port}"
            )
        seen[port] = key


def _servers(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Several servers are remote, and each option has an address of its own for each of them."""
    several = [key for key in _ENDPOINTS if len(values[key]) > 1]
    for key in several:
        if not _is_remote(values):
            yield Problem(
                where=given.where[key],
                message=f"a list in {key} needs triton_launch_mode: remote",
                hint="give one address; --executor ray measures on several machines",
            )
    if not (several and _is_remote(values)):
        return
    for key in _ENDPOINTS:
        count, wanted = len(values[key]), len(values[several[0]])
        if values[key] and count != wanted:
            yield Problem(
                where=given.where[key],
                message=f"{key} has {counted(count, 'value')}, but {several[0]} has {wanted}",
                hint="give one for each server, or none for Triton's usual ports",
            )
        places = Counter(map(_place, values[key]))
        for place in places:
            if places[place] > 1:
                yield Problem(where=given.where[key], message=f"{key} has {place} twice")


def _place(endpoint: str) -> str:
    """HOST:PORT of an endpoint."""
    return endpoint.split("://")[-1].split("/")[0]


def _file_names(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for key in ("filename_model_inference", "filename_model_gpu", "filename_server_only"):
        name = values[key]
        where = given.where.get(key) or given.where.get(seen.get(name, ""), key)
        if "/" in name or name in ("", ".", ".."):
            yield Problem(
                where=where,
                message=f"expected the name of a file, found {name!r}",
                hint="set the directory with export_path",
            )
        elif name in seen:
            yield Problem(where=where, message=f"{key} and {seen[name]} are the same file {name!r}")
        seen[name] = key


def _one_kind_of_load(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    rates = [key for key in REQUEST_RATES if given.values.get(key)]
    concurrencies = [key for key in CONCURRENCIES if given.values.get(key)]
    if rates and concurrencies:
        yield Problem(
            where=given.where[concurrencies[0]],
            message=f"{concurrencies[0]} and {rates[0]} cannot be combined",
            hint="the load is either a concurrency or a request rate",
        )


def _mode(model: ModelEntry, values: Mapping[str, Any]) -> SearchMode | None:
    """The search mode that the user chose for this model, or for all."""
    mode: SearchMode | None = model.given.values.get(_MODE, values[_MODE])
    return mode


def _modes(given: Given, values: Mapping[str, Any]) -> Mapping[SearchMode, str]:
    """The chosen search modes, each with the place where the user chose it; without models, the
    mode for all of them.
    """
    place = given.where.get(_MODE, _MODE)
    if not values["profile_models"]:
        return {values[_MODE]: place} if values[_MODE] else {}
    modes = ((_mode(model, values), model.given) for model in values["profile_models"])
    return {mode: own.where.get(_MODE) or place for mode, own in modes if mode}


def _search_that_is_needed(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Some modes cannot do without the search."""
    for mode in _modes(given, values):
        if values["run_config_search_disable"] and not mode.facts.is_optional:
            yield Problem(
                where=given.where["run_config_search_disable"],
                message="run_config_search_disable cannot be combined with search mode"
                f" {mode.value}",
                hint="remove one of them",
            )


def _lists(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Some modes choose loads and values themselves."""
    called = {entry.name for key in _COMPOSING for entry in values[key]}
    called.update(values["cpu_only_composing_models"])
    for mode in _modes(given, values):
        if mode.facts.takes_lists:
            continue
        for key in ("concurrency", "batch_sizes", *REQUEST_RATES):
            if given.values.get(key):
                yield Problem(
                    where=given.where[key],
                    message=f"search mode {mode.value} does not support {key}",
                    hint=f"{ALTERNATIVE} does",
                )
        for model in values["profile_models"] or ():
            if _mode(model, values) is mode:
                yield from _listed_by_model(model, mode, is_called=model.name in called)
        for model in [entry for key in _COMPOSING for entry in values[key]]:
            yield from _listed_by_called(model, mode)


def _own_limits(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    learning = [mode.value for mode in SearchMode if mode.facts.learns]
    is_learning = any(mode.facts.learns for mode in _modes(given, values))
    for key in ("budget", "knowledge", "max_measurements", "stop_when_sure"):
        if values[key] is not None and not is_learning:
            yield Problem(
                where=given.where[key],
                message=f"{key} needs search mode {' or '.join(learning)}",
                hint=ALTERNATIVE,
            )
    if values["budget_counts_earlier_runs"] and values["budget"] is None:
        yield Problem(
            where=given.where["budget_counts_earlier_runs"],
            message="budget_counts_earlier_runs needs a budget",
            hint="give budget, or remove it",
        )


def _instance_counts(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Searches that start from the smallest count stop when more instances do not help; others may
    start with any number.
    """
    jumping = [mode.value for mode in _modes(given, values) if mode.facts.jumps]
    for key in ("run_config_search_min_instance_count", "run_config_search_max_instance_count"):
        if jumping and values[key] > MOST_INSTANCES:
            yield Problem(
                where=given.where.get(key, key),
                message=f"search mode {jumping[0]} may try any instance count, so it must be at"
                f" most {MOST_INSTANCES}, found {values[key]}",
                hint="each instance needs a thread of the server; brute and quick start from the"
                " smallest count",
            )


def _listed_by_model(model: ModelEntry, mode: SearchMode, *, is_called: bool) -> Iterator[Problem]:
    parameters = model.given.values.get("parameters") or Given()
    for key, where in parameters.where.items():
        if parameters.values.get(key):
            yield Problem(
                where=where,
                message=f"search mode {mode.value} does not support {key} of {model.name}",
                hint=f"{ALTERNATIVE} does",
            )
    fields = model.given.values.get("model_config_parameters", {})
    where = model.given.where.get("model_config_parameters", model.where)
    if is_called:
        return
    for field in SIZES:
        if field in fields:
            yield Problem(
                where=where,
                message=f"search mode {mode.value} does not support {field} of {model.name}",
                hint=f"{ALTERNATIVE} does",
            )
    yield from _several_values(model, mode)


def _several_values(model: ModelEntry, mode: SearchMode) -> Iterator[Problem]:
    """Only one value is supported of each field that the mode does not vary itself."""
    fields = model.given.values.get("model_config_parameters", {})
    if field_with_several_values(fields):
        yield Problem(
            where=model.given.where.get("model_config_parameters", model.where),
            message=f"search mode {mode.value} supports one value for each field of {model.name}",
            hint=f"{ALTERNATIVE} supports several",
        )


def _listed_by_called(model: ModelEntry, mode: SearchMode) -> Iterator[Problem]:
    fields = model.given.values.get("model_config_parameters", {})
    where = model.given.where.get("model_config_parameters", model.where)
    yield from _several_values(model, mode)
    groups = fields.get("instance_group", ())
    counts = sorted({max(int(group[0].get("count", 1)), 1) for group in groups if group})
    if not _are_steps(counts):
        yield Problem(
            where=where,
            message=f"search mode {mode.value} does not support the instance counts of"
            f" {model.name}",
            hint=f"list consecutive numbers or powers of two; {ALTERNATIVE} supports any",
        )


def _are_steps(counts: Sequence[int]) -> bool:
    """Whether these ascending numbers are consecutive or powers of two."""
    are_powers = all(count > 0 and count & (count - 1) == 0 for count in counts)
    return are_powers or counts[-1] - counts[0] == len(counts) - 1


def _bls(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if not values["bls_composing_models"]:
        return
    where = given.where["bls_composing_models"]
    yield from _of_one_model(given, values, "cannot search bls_composing_models")
    if len(values["profile_models"] or ()) > 1:
        yield Problem(where=where, message="bls_composing_models needs exactly one profiled model")
    if values[_TOGETHER]:
        yield Problem(
            where=where, message="bls_composing_models cannot be profiled concurrently with others"
        )


def _together(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if not values[_TOGETHER]:
        return
    for model in values["profile_models"] or ():
        if model.earlier:
            yield Problem(
                where=model.where,
                message=f"model {model.name!r} cannot be profiled concurrently with itself",
                hint="for several copies of it, set the count of its instance_group",
            )
    models: Sequence[ModelEntry] = values["profile_models"] or ()
    for model in models[1:]:
        if _mode(model, values) is not _mode(models[0], values):
            yield Problem(
                where=model.given.where.get(_MODE, model.where),
                message="models that are profiled concurrently have the same search mode, but those"
                f" of {models[0].name} and {model.name} differ",
                hint="give search beside profile_models",
            )
    what = "does not support models that are profiled concurrently"
    yield from _of_one_model(given, values, what)


def _of_one_model(given: Given, values: Mapping[str, Any], what: str) -> Iterator[Problem]:
    """What the modes that search one model alone cannot do."""
    for mode, place in _modes(given, values).items():
        if not mode.facts.searches_several:
            yield Problem(
                where=place,
                message=f"search mode {mode.value} {what}",
                hint="remove run_config_search_mode, or give --search quick or --search adaptive",
            )


def _remote_only(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    for key in ("dcgm_disable", "reload_model_disable"):
        if values[key] and not _is_remote(values):
            yield Problem(where=given.where[key], message=f"{key} needs triton_launch_mode: remote")


# What needs Triton's own API, if it has another value than these.
_KSERVE_ONLY = (
    "outputs", "verify", "endurance", "genai_perf_flags", "client_protocol",
    "bls_composing_models", "run_config_profile_models_concurrently_enable",
)  # fmt: skip
_HARMLESS = (None, False, Protocol.HTTP, {"check": False})


def _openai(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if values["endpoint"] is not EndpointKind.OPENAI:
        return
    if not _is_remote(values):
        message = "endpoint openai needs triton_launch_mode: remote"
        yield Problem(where=given.where["endpoint"], message=message)
    for place in _places(given, values):
        for key in _KSERVE_ONLY:
            if place.values.get(key) not in _HARMLESS:
                yield Problem(
                    where=place.where[key],
                    message=f"{key} cannot be combined with endpoint openai",
                    hint=f"remove {key}: it needs Triton's own API",
                )


def _slots_start_servers(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    mode = values["triton_launch_mode"]
    if values["executor"] is ExecutorKind.RAY and mode is not LaunchMode.LOCAL:
        yield Problem(
            where=given.where["executor"],
            message=f"executor ray cannot be combined with triton_launch_mode {mode.value}",
            hint="each slot starts a server of its own: use triton_launch_mode local",
        )


def _proofs_here(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    mode, verify = values["triton_launch_mode"], values["verify"]
    protocol = values["client_protocol"].value
    is_elsewhere = values["executor"] is ExecutorKind.RAY or mode is LaunchMode.C_API
    for key in ("verify", "endurance"):
        if values[key] is not None and is_elsewhere:
            message = f"{key} needs a server: not with executor ray or triton_launch_mode c_api"
            yield Problem(where=given.where[key], message=message)
    if verify == "" and mode is LaunchMode.REMOTE:
        message = "triton_launch_mode remote starts no server: give the URL of the deployed one"
        yield Problem(where=given.where["verify"], message=message)
    elif verify and verify.partition("://")[0].rstrip("s") != protocol:
        message = f"the run measures over {protocol}: give the server's URL for that"
        yield Problem(where=given.where["verify"], message=message)


def _docker_image(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    is_docker = values["triton_launch_mode"] is LaunchMode.DOCKER
    if is_docker and not values["triton_docker_image"].strip():
        yield Problem(where=given.where["triton_docker_image"], message="the image name is empty")


def _constraints_for_best_of_all(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    bounds = (values["constraints"], values["latency_budget"], values["min_throughput"])
    if values["num_top_model_configs"] and not any(bounds):
        yield Problem(
            where=given.where["num_top_model_configs"],
            message="num_top_model_configs needs global constraints to compare all models",
            hint="give constraints, latency_budget or min_throughput",
        )


def _weighting(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if values["weighting"] is None:
        return
    without = [
        model.name
        for model in values["profile_models"] or ()
        if "weighting" not in model.given.values
    ]
    if without:
        yield Problem(
            where=given.where["weighting"],
            message=f"a global weighting has no effect, and model {without[0]} has no weighting",
            hint="give each model of profile_models a weighting",
        )


# Each of these options defines the starting point of a run.
_STARTING_POINTS = ("resume_from", "checkpoint_load_file", "fresh", "no_checkpoint")


def _one_starting_point(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    first, *more = [key for key in _STARTING_POINTS if values.get(key)] or [""]
    for key in more:
        yield Problem(where=given.where[key], message=f"{first} and {key} cannot be combined")
    if values.get("no_checkpoint") and values.get("checkpoint_storage"):
        yield Problem(
            where=given.where["checkpoint_storage"],
            message="no_checkpoint and checkpoint_storage cannot be combined",
        )
    load_directory = values.get("checkpoint_load_directory")
    if load_directory and first in ("checkpoint_load_file", "no_checkpoint"):
        yield Problem(
            where=given.where["checkpoint_load_directory"],
            message=f"{first} and checkpoint_load_directory cannot be combined",
        )
    if load_directory and values.get("fresh") and load_directory == values["checkpoint_directory"]:
        yield Problem(
            where=given.where["checkpoint_load_directory"],
            message="fresh would remove the checkpoints that checkpoint_load_directory resumes"
            " from",
            hint="choose another checkpoint_directory",
        )


def _costs(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Costs as objectives or constraints need prices."""
    if values.get("prices") is not None:
        return
    models: Sequence[ModelEntry] = values.get("profile_models") or ()
    for place in (given, *(model.given for model in models)):
        for key in ("objectives", "constraints"):
            for each in place.values.get(key) or ():
                if metric_of(each.tag).source is Source.PRICES:
                    yield Problem(
                        where=place.where[key],
                        message=f"{each.tag} needs prices of the hardware",
                        hint="give a file with them: prices",
                    )


_COMMON_RULES: Sequence[Rule] = (
    _costs,
    _minimum_below_maximum,
    _different_ports,
    _servers,
    _file_names,
    _one_kind_of_load,
    _search_that_is_needed,
    _lists,
    _own_limits,
    _instance_counts,
    _bls,
    _together,
    _remote_only,
    _openai,
    _slots_start_servers,
    _proofs_here,
    _docker_image,
    _constraints_for_best_of_all,
    _weighting,
    _one_starting_point,
)


def _needs_variants(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if "report_model_configs" not in given.where:
        yield Problem(
            where="report_model_configs",
            message="no variant is given",
            hint="give -n/--report-model-configs, for example add_sub_config_default",
        )


# The rules of each command.
RULES: Mapping[str, Sequence[Rule]] = {
    PROFILE: (missing_for_profile, *_COMMON_RULES),
    ANALYZE: (_needs_models, *_COMMON_RULES),
    REPORT: (_needs_variants,),
    BEST: (),
    DOCTOR: _COMMON_RULES,
    FILE: _COMMON_RULES,
}


def check_models(
    models: Sequence[ModelSettings], given: Given, values: Mapping[str, Any]
) -> Iterator[Problem]:
    """Problems between the models, after each is resolved."""
    where = given.where.get("profile_models", "profile_models")
    kinds = {model.load_kind is LoadKind.REQUEST_RATE for model in models}
    if len(kinds) > 1:
        names = [m.name for m in models if m.load_kind is not LoadKind.REQUEST_RATE]
        yield Problem(
            where=where,
            message=f"some models have a request_rate, but model {names[0]} has none",
            hint="a table shows one kind of load: give all models a request_rate, or none",
        )
    yield from _tls_on_both_sides(models, given, values)
    if values["generators"] > 1 and all(model.traffic is None for model in models):
        yield Problem(
            where=given.where["generators"],
            message="generators need the option load: they share the requests of an open load",
            hint="add, for example, load: {arrivals: poisson, rate: 2000}, or remove generators",
        )
    yield from _goodput(models, given, values)
    yield from _tokens(models, given, values)
    yield from _loads_in_flags(models, given, values)
    yield from _shared_memory(models, given, values)
    yield from _flags_at_odds(models, given, values)
    if values[_TOGETHER]:
        for field in ("server_flags", "server_environment"):
            if any(getattr(model, field) != getattr(models[0], field) for model in models[1:]):
                yield Problem(
                    where=where,
                    message=f"models profiled concurrently share one server, but their"
                    f" triton_{field} differ",
                )


def _loads_in_flags(
    models: Sequence[ModelSettings], given: Given, values: Mapping[str, Any]
) -> Iterator[Problem]:
    """Loads that a mode without lists does not support, from `perf_analyzer_flags`: of other
    options, `_lists` has said more.
    """
    key = "perf_analyzer_flags"
    entries = {entry.name: entry for entry in values["profile_models"] or ()}
    for model in models:
        own = entries[model.name].given
        mode = _mode(entries[model.name], values)
        if mode is None or mode.facts.takes_lists:
            continue
        place = own if key in own.values else given
        if _LOADS_IN_FLAGS.isdisjoint(place.values.get(key, ())):
            continue
        for message, hint in unsupported_loads(model, mode):
            yield Problem(where=place.where[key], message=message, hint=hint)


def _shared_memory(
    models: Sequence[ModelSettings], given: Given, values: Mapping[str, Any]
) -> Iterator[Problem]:
    """perf_analyzer names its regions of shared memory by tensor, and no flag changes that."""
    flag = "shared-memory"
    sharing = [model for model in models if shares_memory(model.perf_analyzer_flags)]
    for model in sharing:
        several = _several_at_once(model, values, are_together=len(sharing) > 1)
        if several:
            yield Problem(
                where=_place_of_flags(model, given, values),
                message=f"{model.name}: {flag} cannot be combined with {several}: several"
                " perf_analyzers at once would use the same regions, which they name by tensor",
                hint=f"remove {flag} from perf_analyzer_flags, or measure with one perf_analyzer at"
                " a time",
            )


def _place_of_flags(model: ModelSettings, given: Given, values: Mapping[str, Any]) -> str:
    """Where the perf_analyzer flags of a model are given: by the model itself, or for all."""
    key = "perf_analyzer_flags"
    own = next(entry.given for entry in values["profile_models"] if entry.name == model.name)
    return next(place.where[key] for place in (own, given) if key in place.values)


def _flags_at_odds(
    models: Sequence[ModelSettings], given: Given, values: Mapping[str, Any]
) -> Iterator[Problem]:
    """Flags with which perf_analyzer refuses to measure, or never has a result."""
    is_openai = values["endpoint"] is EndpointKind.OPENAI  # it streams over HTTP
    is_http = values["client_protocol"] is Protocol.HTTP and not is_openai
    is_embedded = values["triton_launch_mode"] is LaunchMode.C_API
    is_grpc = not (is_http or is_openai or is_embedded)
    for model in models:
        flags = model.perf_analyzer_flags
        for message, hint in _refused_flags(flags, is_http=is_http, is_grpc=is_grpc):
            where = _place_of_flags(model, given, values)
            yield Problem(where=where, message=f"{model.name}: {message}", hint=hint)


def _refused_flags(
    flags: Mapping[str, Flag], *, is_http: bool, is_grpc: bool
) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do."""
    on = {name for name in PERF_ANALYZER_SWITCHES if is_on(flags.get(name))}
    if "sync" in on and (others := on & {"async", "streaming"}):
        yield f"sync does not go with {' and '.join(sorted(others))}", "remove sync"
    if "streaming" in on and is_http:
        yield "streaming needs gRPC", "use client_protocol: grpc, or remove streaming"
    if "request-parameter" in flags and not is_grpc:
        message = "request-parameter is only sent to a server over gRPC"
        yield message, "use client_protocol: grpc, or remove request-parameter"
    if "periodic-concurrency-range" in flags:
        message = "periodic-concurrency-range changes the load while it is measured"
        yield message, "list the loads as concurrency"
    if "binary-search" in on:
        message = "binary-search needs a range of loads, and each measurement has one load"
        yield message, "remove it, and give a latency_budget"
    if whole(flags, "max-trials", WINDOWS) < WINDOWS and "request-count" not in flags:
        message = f"perf_analyzer never has a result with max-trials {flags['max-trials']}"
        yield message, f"it compares {WINDOWS} windows: give at least {WINDOWS}"


def _several_at_once(model: ModelSettings, values: Mapping[str, Any], *, are_together: bool) -> str:
    """Why several perf_analyzers run on one host when this model is measured; "" if one does.
    `are_together`: other models of the run are measured in the same way.
    """
    if model.traffic is not None and model.traffic.generators > 1:
        return f"generators: {model.traffic.generators}"
    if values[_TOGETHER] and are_together:
        return f"{_TOGETHER}: true"
    if values["executor"] is ExecutorKind.RAY and values["slots_per_host"] > 1:
        return f"slots_per_host: {values['slots_per_host']}"
    has_servers = _is_remote(values) and any(len(values[key]) > 1 for key in _ENDPOINTS)
    return "several remote servers" if has_servers else ""


def _goodput(
    models: Sequence[ModelSettings], given: Given, values: Mapping[str, Any]
) -> Iterator[Problem]:
    """Goodput as objective or constraint needs latency constraints, and the times of requests."""
    for model in models:
        if GOODPUT not in model.goal.tags:
            continue
        where = _place_of_goal(GOODPUT, model, given, values)
        measured = models if values[_TOGETHER] else (model,)
        if not has_request_limits(Goal(models=tuple(each.goal for each in measured))):
            yield Problem(
                where=where,
                message=f"{model.name}: {WITHOUT_LIMITS}",
                hint="give one, for example constraints: {perf_latency_p99: {max: 50}}",
            )
        if not all(each.in_rounds for each in measured):
            yield Problem(
                where=where,
                message=f"{model.name}: {GOODPUT} needs measurements in rounds",
                hint="remove what prevents them: `measurement: perf_analyzer`, launch mode c_api,"
                " genai_perf_flags, or flags of perf_analyzer that say how to measure",
            )


def _tokens(
    models: Sequence[ModelSettings], given: Given, values: Mapping[str, Any]
) -> Iterator[Problem]:
    """Tokens as objective or constraint are counted of language models only."""
    for model in models if values["model_type"] is not ModelType.LLM else ():
        for tag in model.goal.tags:
            if metric_of(tag).source is Source.LLM:
                yield Problem(
                    where=_place_of_goal(tag, model, given, values),
                    message=f"{model.name}: {tag} is measured of language models only",
                    hint="add model_type: LLM",
                )


def _place_of_goal(tag: str, model: ModelSettings, given: Given, values: Mapping[str, Any]) -> str:
    """Where a metric is given as objective or constraint: by the model itself, or for all."""
    own = next(entry.given for entry in values["profile_models"] if entry.name == model.name)
    return next(
        place.where[key]
        for place in (own, given)
        for key in ("objectives", "constraints")
        if any(goal.tag == tag for goal in place.values.get(key) or ())
    )


def _tls_on_both_sides(
    models: Sequence[ModelSettings], given: Given, values: Mapping[str, Any]
) -> Iterator[Problem]:
    """A server with TLS needs clients with TLS."""
    if _is_remote(values) or values["client_protocol"] is not Protocol.GRPC:
        return
    for model in models:
        server = is_on(model.server_flags.get("grpc-use-ssl"))
        client = is_on(model.perf_analyzer_flags.get("ssl-grpc-use-ssl"))
        if server != client:
            has, lacks = ("the server", "the client") if server else ("the client", "the server")
            yield Problem(
                where=given.where.get("profile_models", "profile_models"),
                message=f"{model.name}: {has} uses TLS, but {lacks} does not",
                hint="set both grpc-use-ssl in triton_server_flags and ssl-grpc-use-ssl in"
                " perf_analyzer_flags",
            )


def remarks_about(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    """A remark for each given option that has no effect."""
    for remarks in (
        _ignored_by_mode,
        _ignored_alone,
        _ignored_without_llm,
        _repeated_models,
        _ignored_of_models,
        _odd_flags,
        _unused_keys,
        _unused_sizes,
        _unknown_fields,
        _limited_twice,
        _flags_of_remote,
    ):
        yield from remarks(given, values)


def _ignored_by_mode(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    mode = values["triton_launch_mode"]
    ignored: list[str] = []
    if mode is not LaunchMode.DOCKER:
        ignored += ("triton_docker_mounts", "triton_docker_labels", "triton_docker_args")
    if mode in (LaunchMode.C_API, LaunchMode.REMOTE):
        ignored += ("triton_server_flags", "triton_output_path")
    if mode is LaunchMode.REMOTE:
        ignored += ("triton_server_environment", "collect_cpu_metrics")
        for model in values["profile_models"] or ():
            for key in ("triton_server_flags", "triton_server_environment"):
                if model.given.values.get(key):
                    yield f"{model.given.where[key]}: {key} has no effect in launch mode remote"
    for key in ignored:
        if given.values.get(key):
            yield f"{given.where[key]}: {key} has no effect in launch mode {mode.value}"
    if given.values.get("reload_model_disable"):
        yield (
            f"{given.where['reload_model_disable']}: measuring only the configuration that the"
            " server has loaded"
        )


def _flags_of_remote(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    """Flags that a server which we do not start has to allow, or keeps after the run."""
    key = "perf_analyzer_flags"
    for place in _places(given, values) if _is_remote(values) else ():
        flags = place.values.get(key, {})
        if shares_memory(flags):
            yield f"{place.where[key]}: shared-memory with a remote server: {NEEDS_CLIENT_SHM}"
        if "trace-level" in flags:
            yield (
                f"{place.where[key]}: trace-level with a remote server: it stays set there after"
                " the run, for all its models"
            )


def _ignored_alone(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    """Options that need another one."""
    missing: dict[str, str] = {}
    if not values["perf_output"]:
        missing["perf_output_path"] = "perf_output: true"
    if values["executor"] is not ExecutorKind.RAY:
        missing |= dict.fromkeys(_OF_RAY, "executor: ray")
    for key, other in missing.items():
        if key in given.values:
            yield f"{given.where[key]}: {key} has no effect without {other}"


def _ignored_without_llm(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    key = "genai_perf_flags"
    for place in _places(given, values) if values["model_type"] is not ModelType.LLM else ():
        if place.values.get(key):
            yield f"{place.where[key]}: {key} has no effect without model_type: LLM"


def _repeated_models(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    for model in values["profile_models"] or ():
        if model.earlier:
            yield f"{model.where}: model {model.name!r} replaces the one at {model.earlier}"


def _ignored_of_models(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    for entry in [entry for key in _COMPOSING for entry in values[key]]:
        for option, where in entry.given.where.items():
            if option not in _COMPOSING_OPTIONS:
                yield f"{where}: {option} has no effect for a composing model"
    key = "triton_server_flags"
    for place in _places(given, values):
        for flag in TRITON_SERVER_OWNED.intersection(place.values.get(key, ())):
            yield (
                f"{place.where[key]}: tritonserver flag {flag!r} is ignored: model-analyzer sets it"
            )


def _unused_keys(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    """Certificates and keys of an access without TLS."""
    addresses = [address for key in _ENDPOINTS for address in values[key]]
    addresses.append(values.get("verify") or "")
    for key in ("perf_analyzer_flags", "triton_server_flags"):
        for place in _places(given, values):
            for name, use in unused_keys(place.values.get(key, {}), addresses).items():
                yield f"{place.where[key]}: {name} has no effect without {use}"


def _odd_flags(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    """Flags of other versions, and values of which a program reads only the first part."""
    for key, flags in _FLAGS.items():
        for place in _places(given, values):
            for name, value in place.values.get(key, {}).items():
                about = f"{place.where[key]}: {flags.program} flag {name!r}"
                parts = ignored_part(flags.kind_of(name), str(value))
                if flags is GENAI_PERF and name in GENAI_PERF_OWNED:
                    yield f"{about} is ignored: model-analyzer sets it"
                elif not flags.is_known(name) and name not in PERF_ANALYZER_OWNED:
                    yield f"{about} is unknown: it is given to {flags.program} as it is"
                elif parts is not None:
                    number, rest = parts
                    yield f"{about}: {flags.program} reads {number}, and ignores {rest!r} after it"
                elif name in _SWITCHES.get(key, ()) and not _is_switch(value):
                    yield f"{about}: {value!r} means false (write true or false)"


def _unused_sizes(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    """Sizes of windows that end otherwise."""
    key = "perf_analyzer_flags"
    for place in _places(given, values):
        flags = place.values.get(key, {})
        window = Window.of(flags)
        decisive = window.size_flag if window.size_flag in flags else "measurement-mode"
        for name in filter(flags.__contains__, window.unused_flags):
            yield (
                f"{place.where[key]}: perf_analyzer flag {name!r} has no effect, since a window"
                f" ends after {window} (remove it, or {decisive})"
            )


def _unknown_fields(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    """Columns that no table has: Triton Model Analyzer leaves them out, too."""
    for key, columns in OUTPUT_FIELDS.items():
        for name in given.values.get(key) or ():
            is_parameter = key == "inference_output_fields" and name.startswith(
                "backend_parameter/"
            )
            if not (is_parameter or name in columns or canonical(name) in METRICS):
                hint = nearest(name, [*columns, *METRICS])
                yield (
                    f"{given.where[key]}: {key}: {name!r} is neither a metric nor a column: it is"
                    f" left out{f' ({hint})' * bool(hint)}"
                )


def _limited_twice(given: Given, values: Mapping[str, Any]) -> Iterator[str]:
    """Limits that do not count beside a tighter one: of the same file, or on the command line.

    A limit of the command line that is tighter than the file needs no remark.
    """
    remarks = (
        remark
        for place in _places(given, values)
        for key, limit_of in SHORTHANDS.items()
        for remark in _beside_constraints(key, limit_of, given.below(place))
    )
    yield from dict.fromkeys(remarks)  # models without limits of their own have the global ones


def _beside_constraints(
    key: str, limit_of: Callable[[float], Constraint], given: Given
) -> Iterator[str]:
    if given.values.get(key) is None:
        return
    limit, where = limit_of(given.values[key]), given.where[key]
    other = given.where.get("constraints", "")
    for constraint in given.values.get("constraints") or ():
        if constraint.tag != limit.tag:
            continue
        if _is_tighter(constraint, limit):
            yield (
                f"{where}: {key} has no effect, since the constraint at {other} is tighter:"
                f" {constraint}"
            )
        elif _is_tighter(limit, constraint) and _file_of(where) == _file_of(other):
            yield (
                f"{where}: {key} is tighter, so the constraint at {other} has no effect:"
                f" {constraint}"
            )


def _is_tighter(bound: Constraint, other: Constraint) -> bool:
    """Whether a bound leaves less of the same side of a metric than the other."""
    if bound.maximum is not None and other.maximum is not None:
        return bound.maximum < other.maximum
    return bound.minimum is not None and other.minimum is not None and bound.minimum > other.minimum


def _file_of(where: str) -> str:
    """The file of a place, or the flag."""
    return where.rsplit(":", 2)[0]


def _is_switch(value: object) -> bool:
    return is_on(value) or str(value).strip().lower() in ("false", "0", "no", "off", "")


def _places(given: Given, values: Mapping[str, Any]) -> Iterator[Given]:
    """The global options, and the options of each model."""
    yield given
    yield from (model.given for model in values["profile_models"] or ())


def _is_remote(values: Mapping[str, Any]) -> bool:
    return values["triton_launch_mode"] is LaunchMode.REMOTE
