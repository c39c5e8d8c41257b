# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rules that hold between options: each yields the problems that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.config.table import Given
from model_analyzer.errors import Problem

Rule = Callable[[Given, Mapping[str, Any]], Iterator[Problem]]


def _needs_models(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if "profile_models" not in given.where:
        yield Problem(
            where="profile_models",
            what="no model is named",
            hint="give --profile-models, or profile_models in the YAML file",
        )


def _needs_repository(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if "model_repository" not in given.where:
        yield Problem(
            where="model_repository",
            what="no model repository is given",
            hint="give -m/--model-repository, or model_repository in the YAML file",
        )


def _minimum_below_maximum(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    for what in ("concurrency", "instance_count", "model_batch_size"):
        low_key, high_key = f"run_config_search_min_{what}", f"run_config_search_max_{what}"
        low, high = values[low_key], values[high_key]
        if low > high:
            where = given.where.get(low_key) or given.where.get(high_key, low_key)
            yield Problem(where=where, what=f"{low_key} ({low}) is above {high_key} ({high})")


def _different_ports(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    keys = ("triton_http_endpoint", "triton_grpc_endpoint", "triton_metrics_url")
    seen: dict[str, str] = {}
    for key in keys:
        if values[key] is None:
            continue
        port = values[key].split("://")[-1].split("/")[0].rpartition(":")[2]
        if port in seen:
            yield Problem(where=given.where[key], what=f"{key} and {seen[port]} share port {port}")
        seen[port] = key


def _file_name(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    name = values["filename_model_inference"]
    if "/" in name or name in ("", ".", ".."):
        yield Problem(
            where=given.where["filename_model_inference"],
            what=f"expected the name of a file, found {name!r}",
            hint="the directory is export_path",
        )


PROFILE_RULES: Sequence[Rule] = (
    _needs_models,
    _needs_repository,
    _minimum_below_maximum,
    _different_ports,
    _file_name,
)


def _needs_variants(given: Given, values: Mapping[str, Any]) -> Iterator[Problem]:
    if "report_model_configs" not in given.where:
        yield Problem(
            where="report_model_configs",
            what="no variant is named",
            hint="give -n/--report-model-configs, such as add_sub_config_default",
        )


REPORT_RULES: Sequence[Rule] = (_needs_variants,)
