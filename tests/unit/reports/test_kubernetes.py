# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The manifest: what was measured, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from model_analyzer.domain.models import ModelVariant, group_name
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.reports.kubernetes import manifest
from model_analyzer.results.answer import answer_of
from tests.unit.builders import at_most, goal, measurement, origin, ranking, record, variant

PBTXT = 'name: "m"\nmax_batch_size: 8\n'
SETUP = ServerSetup(version="2.51.0")


def text(
    of: ModelVariant,
    *,
    setup: ServerSetup = SETUP,
    model: str = "m",
    wanted: float | None = None,
    **values: Any,
) -> str:
    ranked = ranking(
        record(of, measurement(values.pop("throughput", 519.1), 24.5, **values), setup=setup),
        model=model,
        by=goal(*at_most(perf_latency_p99=30)),
    )
    where = origin(cores=16, Processor="AMD EPYC with many cores")
    return manifest(
        answer_of(ranked), where, {part.model: PBTXT for part in of.with_parts()}, throughput=wanted
    )


def objects(written: str) -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in yaml.safe_load_all(written)}


def container(written: str) -> dict[str, Any]:
    (only,) = objects(written)["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert isinstance(only, dict)
    return only


ON_CPU = variant(backend="python", instance_group=[{"kind": "KIND_CPU", "count": 2}])
ON_GPU = variant(backend="onnxruntime", instance_group=[{"kind": "KIND_GPU", "count": 2}])


def test_the_measured_configuration_lies_over_that_of_the_repository() -> None:
    made = objects(text(ON_CPU))
    assert list(made) == ["ConfigMap", "Deployment", "Service"]
    assert made["ConfigMap"]["data"] == {"m.pbtxt": PBTXT}
    pod = made["Deployment"]["spec"]["template"]["spec"]
    mounts = {mount["mountPath"]: mount for mount in pod["containers"][0]["volumeMounts"]}
    assert mounts["/models/m/config.pbtxt"]["subPath"] == "m.pbtxt"
    assert {mount["name"] for mount in mounts.values()} == {each["name"] for each in pod["volumes"]}
    name = made["ConfigMap"]["metadata"]["name"]
    assert {volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume} == {
        name
    }
    labels = made["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert labels == made["Service"]["spec"]["selector"]
    assert labels == made["Deployment"]["spec"]["selector"]["matchLabels"]


@pytest.mark.parametrize(
    ("wanted", "replicas", "why"),
    [
        (None, 1, "replica: 519 infer/sec at p99 24.5 ms at concurrency 1"),
        (10, 1, "10 infer/sec at 519 infer/sec per replica"),
        (519.1, 1, "519.1 infer/sec at 519 infer/sec per replica"),
        (519.2, 2, "rounded up; assumes evenly distributed load"),
        (5000, 10, "5000 infer/sec at 519 infer/sec per replica"),
    ],
)
def test_replicas_follow_from_the_throughput(wanted: float | None, replicas: int, why: str) -> None:
    written = text(ON_CPU, wanted=wanted)
    assert objects(written)["Deployment"]["spec"]["replicas"] == replicas
    assert why in written


def test_replicas_of_a_model_with_sequences_come_with_what_that_needs() -> None:
    told = "all requests of a sequence must reach the same replica"
    sequences = variant(backend="python", sequence_batching={})
    assert told in text(sequences, wanted=5000)
    assert told not in text(sequences, wanted=10) + text(ON_CPU, wanted=5000)


@pytest.mark.parametrize(
    ("setup", "image"),
    [
        (ServerSetup(version="2.51.0"), "nvcr.io/nvidia/tritonserver:24.10-py3"),
        (ServerSetup(version="2.18.0"), "nvcr.io/nvidia/tritonserver:22.01-py3"),
        (ServerSetup(version="2.41.0"), "nvcr.io/nvidia/tritonserver:23.12-py3"),
        (ServerSetup(version="2.59.1"), "nvcr.io/nvidia/tritonserver:25.06-py3"),
        (ServerSetup(version="2.99.0"), "nvcr.io/nvidia/tritonserver:RELEASE-py3"),
        (ServerSetup(), "nvcr.io/nvidia/tritonserver:RELEASE-py3"),
        (ServerSetup(version="2.51.0", container={"image": "mine:7"}), "mine:7"),
    ],
)
def test_the_image_is_that_of_the_measured_server(setup: ServerSetup, image: str) -> None:
    written = text(ON_CPU, setup=setup)
    assert container(written)["image"] == image
    assert ("RELEASE" in image) == ("replace with the release that has Triton" in written)


def test_memory_and_cores_are_those_of_the_measurement() -> None:
    written = text(ON_CPU, host={"cpu_used_ram": 1000.5})
    assert container(written)["resources"] == {"requests": {"cpu": 16, "memory": "1251M"}}
    assert "1,000 MB measured, plus 25 % for other loads" in written

    written = text(ON_GPU, setup=replace(SETUP, devices=("H200",)))
    assert container(written)["resources"] == {"limits": {"nvidia.com/gpu": 1}, "requests": {}}
    assert "memory: not measured (measure it with --collect-cpu-metrics)" in written
    assert "measured on H200" in written


@pytest.mark.parametrize(
    ("groups", "gpus"),
    [
        ([{"kind": "KIND_GPU"}], 4),
        ([{"kind": "KIND_GPU", "gpus": [0]}], 1),
        ([{"kind": "KIND_GPU", "gpus": [2]}, {"kind": "KIND_CPU"}], 3),
        ([{"kind": "KIND_GPU", "gpus": [0]}, {}], 4),
        ([], 4),
        ([{"kind": "KIND_CPU"}], 0),
    ],
)
def test_a_server_sees_the_gpus_that_its_instances_need(
    groups: list[dict[str, Any]], gpus: int
) -> None:
    setup = replace(SETUP, devices=("a", "b", "c", "d"))
    written = text(variant(instance_group=groups), setup=setup)
    assert container(written)["resources"].get("limits", {}) == (
        {"nvidia.com/gpu": gpus} if gpus else {}
    )


def test_composing_models_are_loaded_and_flags_kept_without_secrets() -> None:
    part = variant("p_config_0", model="p")
    whole = variant("e_config_0", model="e", composing=[part])
    setup = ServerSetup(
        version="2.51.0",
        flags={"rate-limit": "off", "http-port": 8100, "backend-config": ("a,b=1", "c,d=2")}
        | {"disable-auto-complete-config": "true", "strict-model-config": "false"},
        environment={"API_TOKEN": "hush", "OMP_NUM_THREADS": "4", "MODE": "hush"},
    )
    written = text(whole, setup=setup, model="e")
    assert container(written)["args"] == [
        "tritonserver", "--model-repository=/models", "--model-control-mode=explicit",
        "--disable-auto-complete-config", "--load-model=e", "--load-model=p", "--rate-limit=off",
        "--backend-config=a,b=1", "--backend-config=c,d=2",
    ]  # fmt: skip
    assert "hush" not in written
    assert {"name": "OMP_NUM_THREADS", "value": "4"} in container(written)["env"]
    assert written.count("replace: checkpoints do not store its value") == 2


def test_any_name_of_a_model_gives_valid_kubernetes_objects() -> None:
    odd = 'My Model_v2: "x"\n# é'
    parts = [variant("a", model="a b"), variant("b", model="a/b")]
    made = objects(text(variant("v", model=odd, composing=parts), model=odd))
    assert made["Service"]["metadata"]["name"] == "triton-my-model-v2-x"
    assert sorted(made["ConfigMap"]["data"]) == [
        "My_Model_v2___x_____.pbtxt",
        "a_b.pbtxt",
        "a_b_.pbtxt",
    ]
    long = objects(text(variant("v", model="x" * 300), model="x" * 300))
    assert len(long["Deployment"]["metadata"]["name"]) < 63


def test_a_configuration_that_misses_the_constraints_says_so() -> None:
    ranked = ranking(record(ON_CPU, measurement(10, 50.5)), by=goal(*at_most(perf_latency_p99=10)))
    written = manifest(answer_of(ranked), origin(), {"m": PBTXT})
    assert written.startswith(
        "# Misses the constraints by 405 %: p99 Latency 50.5 ms, Max p99 Latency: 10 ms\n"
    )


def test_it_has_the_constrained_latency() -> None:
    ranked = ranking(
        record(ON_CPU, measurement(10, 50.5, perf_latency_p90=20.5)),
        by=goal(*at_most(perf_latency_p90=30)),
    )
    written = manifest(answer_of(ranked), origin(), {"m": PBTXT})
    assert written.startswith("# m_config_0: 10.0 infer/sec at p90 20.5 ms at concurrency 1\n")
    assert "replicas: 1  # measured with one replica: 10.0 infer/sec at p90 20.5 ms" in written


HOSTILE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(HOSTILE)
@example("yes")
@example("0o17")
@example("a: b # c\n- d\n---\nkind: Secret\n")
@example(" a\n")
@example("\n a\n\n")
@example("{{ name }}{% if %}")
@example("\u2028\x85\ufeff\r\x00\x1c")
def test_no_text_breaks_out_of_its_place(hostile: str) -> None:
    of = variant(f"{hostile}_config_0", model=hostile, platform="python")
    ranked = ranking(
        record(of, measurement(10, 5), setup=ServerSetup(container={"image": hostile})),
        model=group_name([hostile]),
    )
    where = replace(origin(hostile, cores=2), checkpoint=hostile, written=hostile, tool=hostile)

    written = manifest(answer_of(ranked), where, {hostile: hostile})

    made = objects(written)
    assert list(made) == ["ConfigMap", "Deployment", "Service"]
    (data,) = made["ConfigMap"]["data"].values()
    assert data == hostile
    assert container(written)["image"] == hostile
    assert container(written)["args"][4:] == [f"--load-model={hostile}"]
    mounts = container(written)["volumeMounts"]
    assert mounts[1]["mountPath"] == f"/models/{hostile}/config.pbtxt"


def test_a_configuration_is_shown_line_by_line() -> None:
    assert '  "m.pbtxt": |\n    name: "m"\n    max_batch_size: 8\n---\n' in text(ON_CPU)


def test_all_texts_are_quoted() -> None:
    setup = ServerSetup(flags={"x": "0o17"}, environment={"OMP_NUM_THREADS": "1e3"})
    written = text(ON_CPU, setup=setup)
    assert '- "--x=0o17"\n' in written
    assert 'value: "1e3"\n' in written
