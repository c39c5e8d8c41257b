# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`best --format prometheus-rules` and `grafana`: what was measured, for the eyes of production."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from model_analyzer.domain.measurements import Measurement, ModelMeasurement, ModelStatistics
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial, Workload
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import variant

Run = Callable[..., tuple[int, str, str]]

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="make prometheus installs promtool")

# 500 requests/s of four inferences, and 8 ms in the server
VALUES = {
    "perf_throughput": 2000.0,
    "perf_server_queue": 3.0,
    "perf_server_compute_input": 0.5,
    "perf_server_compute_infer": 4.0,
    "perf_server_compute_output": 0.5,
}


@pytest.fixture
def best(run: Run, tmp_path: Path) -> Callable[..., str]:
    """What the command prints, where models with these values were measured together."""

    def printed(form: str, models: Sequence[ModelVariant], values: dict[str, float]) -> str:
        works = [Workload(variant=each, load=Load(value=16, batch_size=4)) for each in models]
        counts = ModelStatistics(inferences=6000, executions=1000)
        measured = Measurement(
            models=(ModelMeasurement(values=values),) * len(models),
            statistics={each.model: counts for each in models},
        )
        with ProfileState(tmp_path / "checkpoints") as state:
            state.record(Trial(workloads=tuple(works), setup=ServerSetup()), measured)
            state.save()
        status, output, error = run("best", "--format", form)
        assert status == 0, error
        return output

    return printed


def rules(text: str) -> dict[str, dict[str, Any]]:
    """The rules of all groups, by group and name."""
    groups = yaml.safe_load(text)["groups"]
    return {
        f"{group['name']} {rule['alert'].removeprefix('TritonModel')}": rule
        for group in groups
        for rule in group["rules"]
    }


def promtool(directory: Path, *arguments: str) -> None:
    done = subprocess.run(
        [str(PROMTOOL), *arguments], cwd=directory, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_watch_what_was_measured_of_each_model(best: Callable[..., str]) -> None:
    text = best(
        "prometheus-rules", [variant("a_config_0", model="a"), variant("b_0", model="b")], VALUES
    )

    found = rules(text)
    kinds = ("Missing", "Failing", "NearCapacity", "Slow")
    assert [*found] == [f"triton-{model} {kind}" for model in "ab" for kind in kinds]
    assert found["triton-a NearCapacity"]["expr"] == (
        'sum by (instance) (rate(nv_inference_request_success{model="a"}[5m])) > 425'
    )
    assert found["triton-b Slow"]["expr"].endswith('{model="b"}[5m])) / 1000 > 12')
    assert "  # 85 % of 500 requests/s, measured at concurrency 16, client batch 4\n" in text
    assert text.startswith("# a_config_0,b_0: ")


def test_the_limit_is_the_highest_load_within_the_constraints(run: Run, tmp_path: Path) -> None:
    """The recommended load may be a lower one, and the highest that was measured too slow."""
    rates = {100: 5.0, 200: 9.0, 400: 700.0}
    with ProfileState(tmp_path / "checkpoints") as state:
        for rate, latency in rates.items():
            load = Load(kind=LoadKind.REQUEST_RATE, value=rate)
            work = Workload(variant=variant("m_0"), load=load)
            values = VALUES | {"perf_throughput": float(rate), "perf_latency_p99": latency}
            measured = Measurement(models=(ModelMeasurement(values=values),))
            state.record(Trial(workloads=(work,), setup=ServerSetup()), measured)
        state.save()

    goal = ("--metric", "perf_latency_p99", "--constraint", "perf_latency_p99<50")
    status, output, _ = run("best", "--format", "prometheus-rules", *goal)

    assert status == 0
    near = rules(output)["triton-m NearCapacity"]
    assert near["expr"].endswith(" > 170")
    assert "measured up to 200" in near["annotations"]["summary"]


def test_what_was_not_measured_gets_no_rule(best: Callable[..., str]) -> None:
    streaming = variant("m_0", model_transaction_policy={"decoupled": True})

    text = best("prometheus-rules", [streaming], VALUES)

    assert [*rules(text)] == ["triton-m Missing", "triton-m Failing", "triton-m NearCapacity"]
    assert "# no rule for the time of m: the server did not tell it" in text


def test_a_dashboard_shows_each_replica_beside_what_was_measured(best: Callable[..., str]) -> None:
    board = json.loads(best("grafana", [variant("m_config_2")], VALUES))

    text, *panels = board["panels"]
    assert board["title"] == "Triton: m"
    assert "m_config_2" in text["options"]["content"]
    lines = {
        panel["title"]: [
            step["value"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
        ]
        for panel in panels
        if panel["description"]
    }
    assert lines == {
        "m: requests by replica": [None, 500],
        "m: mean time in the server": [None, 8],
        "m: mean batch": [None, 6],
    }
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    assert len({(x, y) for x, y, _, _ in places}) == len(places)
    assert len({panel["id"] for panel in board["panels"]}) == len(places)


# What a server counts in each minute: requests, failures, and µs of all requests.
MINUTES = {
    "as measured": (400 * 60, 0, 400 * 60 * 8000, []),
    "near capacity": (450 * 60, 0, 450 * 60 * 8000, ["NearCapacity"]),
    "slow": (100 * 60, 0, 100 * 60 * 13000, ["Slow"]),
    "failing": (100 * 60, 120, 100 * 60 * 8000, ["Failing"]),
    "missing": (None, None, None, ["Missing"]),
    "idle": (0, 0, 0, []),
}


@needs_promtool
@pytest.mark.parametrize("state", MINUTES)
def test_prometheus_raises_the_alert_for_its_cause_alone(
    best: Callable[..., str], tmp_path: Path, state: str
) -> None:
    """On two replicas, of which each is judged by itself; the name of the model needs quotes."""
    model = 'a "b\\c {{ x'
    (tmp_path / "rules.yaml").write_text(
        best("prometheus-rules", [variant("m_0", model=model)], VALUES)
    )
    *counts, expected = MINUTES[state]
    label = json.dumps(model)
    names = ("success", "failure", "duration_us")
    series = [
        {
            "series": f'nv_inference_request_{name}{{model={label},version="1",instance="{pod}"}}',
            "values": f"0+{count}x20",
        }
        for pod in ("p1:8002", "p2:8002")
        for name, count in zip(names, counts, strict=True)
        if count is not None
    ]
    firing = 'count by (alertname) (ALERTS{{alertname="TritonModel{}",alertstate="firing"}})'
    alerts = [
        {
            "expr": firing.format(kind),
            "eval_time": "15m",
            "exp_samples": [
                {
                    "labels": f'{{alertname="TritonModel{kind}"}}',
                    "value": 1 if kind == "Missing" else 2,
                }
            ]
            if kind in expected
            else [],
        }
        for kind in ("Missing", "Failing", "NearCapacity", "Slow")
    ]
    case = {"interval": "1m", "input_series": series, "promql_expr_test": alerts}
    (tmp_path / "test.yaml").write_text(
        yaml.safe_dump({"rule_files": ["rules.yaml"], "tests": [case]})
    )

    promtool(tmp_path, "check", "rules", "rules.yaml")
    promtool(tmp_path, "test", "rules", "test.yaml")


@needs_promtool
def test_prometheus_understands_the_questions_of_the_dashboard(
    best: Callable[..., str], tmp_path: Path
) -> None:
    board = json.loads(best("grafana", [variant("m_0")], VALUES))
    questions = [panel["targets"][0]["expr"] for panel in board["panels"][1:]]
    recorded = [
        {"record": f"q{number}", "expr": question.replace("$__rate_interval", "5m")}
        for number, question in enumerate(questions)
    ]
    groups = [{"name": "g", "rules": recorded}]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}))

    promtool(tmp_path, "check", "rules", "rules.yaml")
