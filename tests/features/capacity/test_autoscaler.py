# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Manifests of autoscalers: valid, and with the numbers that the measurements give."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.features.capacity.autoscaler import FORMS, autoscaler_manifest
from model_analyzer.features.capacity.facts.sizing import Demand
from model_analyzer.features.capacity.question import capacity_report
from tests.features.capacity.replicas import capacity, closed_load, open_load

KEDA = json.loads(Path(__file__).with_name("scaledobject.schema.json").read_text())

# one replica carries 88 requests/s; it loads in 100 s
RECORDS = (open_load(80, 20, loading_s=100.2), open_load(100, 200))
MODELS = ("m", "Résumé #1: {{ x }}", 'quo"te\\', "9" * 70)


def text_of(form: str, *records: TrialRecord, model: str = "m", **demand: Any) -> str | None:
    known = replace(capacity(*(records or RECORDS)), model=model)
    question = Demand(rate=demand.pop("rate", 500), **demand)
    return autoscaler_manifest(capacity_report(known, question), form)


def made(form: str, **options: Any) -> dict[str, Any]:
    text = text_of(form, **options)
    assert text is not None
    document: dict[str, Any] = yaml.safe_load(text)
    return document


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rate", [0.5, 500, 1e6])
def test_an_hpa_is_valid(model: str, rate: float) -> None:
    hpa = made("hpa", model=model, rate=rate)

    for version in ("1.31", "1.37"):
        kubernetes_validate.validate(hpa, version, strict=True)
    assert hpa["spec"]["minReplicas"] <= hpa["spec"]["maxReplicas"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rate", [0.5, 500, 1e6])
def test_a_scaled_object_of_keda_is_valid(model: str, rate: float) -> None:
    jsonschema.validate(made("keda", model=model, rate=rate), KEDA)


def test_values_of_a_chart_make_a_valid_hpa() -> None:
    values, hpa = made("helm"), made("hpa")

    assert values["replicaCount"] == 7
    scaling = values["autoscaling"]
    spec = {**hpa["spec"], **{key: value for key, value in scaling.items() if key != "enabled"}}
    assert spec == hpa["spec"]
    assert scaling["enabled"] is True


def test_numbers_follow_from_the_measurements() -> None:
    spec = made("hpa")["spec"]

    assert (spec["minReplicas"], spec["maxReplicas"]) == (2, 10)
    assert spec["metrics"][0]["pods"]["target"]["averageValue"] == "73299m"
    up, down = spec["behavior"]["scaleUp"], spec["behavior"]["scaleDown"]
    assert {policy["periodSeconds"] for policy in up["policies"]} == {105}
    assert down["stabilizationWindowSeconds"] == 300
    trigger = made("keda")["spec"]["triggers"][0]["metadata"]
    assert trigger["threshold"] == "73.299"
    assert trigger["query"] == 'sum(rate(nv_inference_request_success{model="m"}[60s]))'


def test_comments_give_the_reasons() -> None:
    text = text_of("hpa")

    assert text is not None
    assert text.startswith("# 7 replicas of m_config_1 serve 500 requests/s")
    assert "# a replica carries 88.0 requests/s; 20 % headroom" in text
    assert "# the server loads the model in 100 s" in text
    tight = text_of("hpa", headroom=0.0)
    assert tight is not None
    assert "10 % headroom, the tolerance of the controller" in tight


def test_a_query_quotes_the_name_of_the_model() -> None:
    query = made("keda", model='quo"te\\')["spec"]["triggers"][0]["metadata"]["query"]

    assert r'{model="quo\"te\\"}' in query


@pytest.mark.parametrize("form", ["hpa", "helm"])
def test_a_rule_for_prometheus_counts_the_model_once(form: str) -> None:
    """The server also counts the models that an ensemble calls, and others that it serves."""
    text = text_of(form, model="chain")

    assert text is not None
    assert """seriesQuery 'nv_inference_request_success{pod!="",model="chain"}'""" in text
    assert (
        """'sum(rate(<<.Series>>{<<.LabelMatchers>>,model="chain"}[60s])) by (<<.GroupBy>>)'"""
        in text
    )


@pytest.mark.parametrize("form", FORMS)
def test_without_an_answer_there_is_no_manifest(form: str) -> None:
    assert text_of(form, closed_load(8, 100)) is None
