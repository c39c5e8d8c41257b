# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Manifests of runs: valid, safe, and the same from the command and from the Helm chart."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import helm_python
import jsonschema
import kubernetes_validate
import pytest
import yaml

from model_analyzer.errors import ConfigError
from model_analyzer.features.cluster.manifest import cluster_manifest

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy" / "helm" / "model-analyzer"
SCHEMA = json.loads(Path(__file__).with_name("rayjob.schema.json").read_text())
IMAGE = "registry.example/model-analyzer:1"
VERSIONS = ("1.31", "1.37")

PLAIN = "profile_models: [m]\n"
CONFIGS = {
    "plain": PLAIN,
    "slots": PLAIN + "executor: ray\nslots: 4\nslot_gpus: 2\nslot_cpus: 8\nslots_per_host: 2\n",
    "cpu": "profile_models: {m: {cpu_only: true}}\nexecutor: ray\n",
    "remote": PLAIN + "triton_launch_mode: remote\ntriton_grpc_endpoint: triton.example:8001\n",
    "url": PLAIN + "executor: ray\nmodel_repository: s3://bucket/models\n",
    "unicode": "# {{ .Values.image }} \u00e9\u4e2d\U0001f600 \u2028# --- \"'%\n" + PLAIN,
    "specials": "profile_models: ['a: b', '- c', '*f', '{{ {g} }}', '# h', '$(i)']\n",
    "no last line break": "profile_models: [m]",
    "many line breaks": "\n\n" + PLAIN + "\n\n",
    "indented": "  profile_models: [m]\n",
    "document end": "---\n" + PLAIN + "...\n",
    "carriage returns": "profile_models: [m]\r\nexecutor: ray\r\n",
    "long": "# " + "x" * 5000 + "\n" + PLAIN,
}


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str, name: str = "my run.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


def text_of(path: Path, kind: str, **options: Any) -> str:
    return cluster_manifest(kind, path, {}, image=IMAGE, **options).text


def made(path: Path, kind: str, **options: Any) -> dict[str, Any]:
    return {each["kind"]: each for each in yaml.safe_load_all(text_of(path, kind, **options))}


def remarks(path: Path, kind: str = "job", variables: Mapping[str, str] | None = None) -> str:
    return "\n".join(cluster_manifest(kind, path, variables or {}).remarks)


def templates(objects: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The pod templates."""
    if "Job" in objects:
        yield objects["Job"]["spec"]["template"]
        return
    spec = objects["RayJob"]["spec"]
    yield spec["submitterPodTemplate"]
    yield spec["rayClusterSpec"]["headGroupSpec"]["template"]
    yield from (group["template"] for group in spec["rayClusterSpec"]["workerGroupSpecs"])


def check(objects: Mapping[str, Any]) -> None:
    """Strictly, for the oldest and the newest version."""
    for version in VERSIONS:
        for kind, each in objects.items():
            if kind != "RayJob":
                kubernetes_validate.validate(each, version, strict=True)
        for template in templates(objects):
            pod = {"apiVersion": "v1", "kind": "Pod", **template}
            kubernetes_validate.validate(pod, version, strict=True)
    if "RayJob" in objects:
        jsonschema.validate(objects["RayJob"], SCHEMA)


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (config, kind)
        for config in CONFIGS
        for kind in ("job", "rayjob")
        if (config, kind) != ("remote", "rayjob")  # a slot starts its own server
    ],
)
def test_manifests_are_valid_and_always_the_same(write, config: str, kind: str) -> None:
    path = write(CONFIGS[config])
    assert text_of(path, kind) == text_of(path, kind)
    objects = made(path, kind)
    check(objects)
    last = "RayJob" if kind == "rayjob" else "Job"
    assert list(objects) == ["ServiceAccount", "ConfigMap", "PersistentVolumeClaim", last]
    assert objects["ConfigMap"]["data"] == {"config.yaml": CONFIGS[config]}


@pytest.mark.parametrize("kind", ["job", "rayjob"])
def test_pods_are_restricted(write, kind: str) -> None:
    for template in templates(made(write(PLAIN), kind)):
        spec = template["spec"]
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not spec["automountServiceAccountToken"]
        (container,) = spec["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert set(mounts) == {volume["name"] for volume in spec["volumes"]}
        assert {"/tmp", "/cache", "/dev/shm"} <= set(mounts.values())
        assert {"name": "RAY_worker_niceness", "value": "0"} in container["env"]


def test_only_slots_have_gpus_and_a_node_of_their_own(write) -> None:
    submitter, head, worker = templates(made(write(CONFIGS["slots"]), "rayjob"))
    for other in (submitter, head):
        assert "affinity" not in other["spec"]
        assert other["spec"]["containers"][0]["resources"] == {}
    limits = {"cpu": 16, "nvidia.com/gpu": 4}
    assert worker["spec"]["containers"][0]["resources"] == {"limits": limits, "requests": limits}
    (term,) = worker["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term["labelSelector"]["matchLabels"] == worker["metadata"]["labels"]


def test_the_head_has_no_slot_and_two_slots_share_a_pod(write) -> None:
    cluster = made(write(CONFIGS["slots"]), "rayjob")["RayJob"]["spec"]["rayClusterSpec"]
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    (group,) = cluster["workerGroupSpecs"]
    assert group["replicas"] == group["minReplicas"] == group["maxReplicas"] == 2


def test_a_job_resumes_but_not_with_an_invalid_configuration(write) -> None:
    job = made(write(PLAIN), "job")["Job"]["spec"]
    assert job["backoffLimit"] > 0
    assert job["template"]["spec"]["restartPolicy"] == "Never"
    rules = {rule["action"]: rule for rule in job["podFailurePolicy"]["rules"]}
    assert rules["FailJob"]["onExitCodes"] == {"operator": "In", "values": [2]}
    command = job["template"]["spec"]["containers"][0]["command"]
    assert command[command.index("--checkpoint-directory") + 1].startswith("/data/")


def test_the_model_repository_of_a_remote_server_is_not_mounted(write) -> None:
    text = text_of(write(CONFIGS["remote"]), "job")
    assert '"--model-repository"' not in text
    assert '"models"' not in text
    with pytest.raises(ConfigError, match="triton_launch_mode remote"):
        text_of(write(CONFIGS["remote"]), "rayjob")


def test_the_models_of_a_url_need_no_claim(write) -> None:
    for template in templates(made(write(CONFIGS["url"]), "rayjob")):
        assert "models" not in {volume["name"] for volume in template["spec"]["volumes"]}
    assert "--model-repository " not in text_of(write(CONFIGS["url"]), "rayjob")


def test_an_image_needs_no_programs_if_pods_install_them(write) -> None:
    with_programs = "tritonserver and perf_analyzer on its PATH (or set runtime_install)"
    assert with_programs in remarks(write(PLAIN))
    assert with_programs not in remarks(write(PLAIN + "runtime_install: true\n"))


def test_models_without_gpus_need_none(write) -> None:
    assert "nvidia" not in text_of(write(CONFIGS["cpu"]), "rayjob")
    assert "nvidia" not in text_of(write(PLAIN + "gpus: []\n"), "job")
    assert "nvidia.com/gpu: 1" in text_of(write(PLAIN), "job")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("resnet.yaml", "model-analyzer-resnet"),
        ("É_My: Model!.yml", "model-analyzer-my-model"),
        ("中.yaml", "model-analyzer"),
        (f"{'x' * 200}.yaml", f"model-analyzer-{'x' * 25}"),
    ],
)
def test_the_name_of_a_file_becomes_a_valid_name(write, file: str, name: str) -> None:
    assert made(write(PLAIN, file), "job")["Job"]["metadata"]["name"] == name


@pytest.mark.parametrize("name", ["", "A", "1a", "a-", "a\n", "a" * 41, "a: b", "é"])
def test_a_name_that_kubernetes_refuses_is_refused(write, name: str) -> None:
    with pytest.raises(ConfigError, match="--name"):
        text_of(write(PLAIN), "job", name=name)


@pytest.mark.parametrize("image", ["", "a b", "a\nb", "é"])
def test_an_image_that_is_none_is_refused(write, image: str) -> None:
    with pytest.raises(ConfigError, match="--image"):
        cluster_manifest("job", write(PLAIN), {}, image=image)


@pytest.mark.parametrize(
    ("lines", "where", "why"),
    [
        ("triton_launch_mode: docker\n", ":2:21", "no Docker"),
        ("fresh: true\n", ":2:8", "delete all measurements"),
        ("no_checkpoint: true\n", ":2:16", "could not resume"),
        ("checkpoint_storage: s3://a:secret@b/c\n", ":2:1", "contains a secret"),
        ("model_repository: s3://a:secret@b/c\n", ":2:1", "contains a secret"),
        ("triton_server_environment: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyzABCDEFGH}\n",
         ":2:1", "contains a secret"),
        ("triton_server_environment: {DB_PASSWORD: hunter2}\n", ":2:28", "contains a secret"),
        ("nonsense: 1\n", ":2:1", "unknown option"),
        (f"# {'x' * 1_000_000}\n", "my run.yaml", "too large"),
    ],
)  # fmt: skip
def test_what_cannot_work_in_a_pod_is_refused(write, lines: str, where: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as raised:
        text_of(write(PLAIN + lines), "job")
    (problem,) = raised.value.problems
    assert problem.where.endswith(where)


def test_a_reference_to_a_secret_is_accepted(write) -> None:
    text_of(write(PLAIN + "triton_server_environment: {HF_TOKEN: $HF_TOKEN}\n"), "job")


@pytest.mark.parametrize(
    ("lines", "remark"),
    [
        ("triton_output_path: /var/log/t.log\n", "triton_output_path: is /var/log/t.log"),
        ("triton_output_path: t.log\n", "triton_output_path: is /data/t.log"),
        ("triton_server_path: /opt/t\n", "triton_server_path: /opt/t must exist in the image"),
        ("perf_analyzer_flags: {input-data: in.json}\n", "/data/in.json must exist"),
        ("checkpoint_storage: s3://bucket/a\n", "checkpoint_storage: gets copies"),
        ("model_repository: s3://bucket/a\n", "copies s3://bucket/a to /cache, which has 16Gi"),
        ("runtime_install: true\n", "runtime_install: each pod fetches 70 MB"),
        ("slots: 3\n", "use --kind rayjob"),
        ("slot_label: [a=b]\n", "nodeSelector"),
        ("triton_launch_mode: remote\n", "not localhost"),
    ],
)
def test_what_differs_in_a_pod_is_a_remark(write, lines: str, remark: str) -> None:
    assert remark in remarks(write(PLAIN + lines))


def test_remarks_are_comments_and_say_what_to_fill_in(write) -> None:
    manifest = cluster_manifest("rayjob", write(PLAIN), {"MODEL_ANALYZER_SEARCH": "quick"})
    comments = [line[2:] for line in manifest.text.splitlines() if line.startswith("# ")]
    assert comments == list(manifest.remarks)
    for start in ("image:", "claim model-repository:", "workers: 2", "MODEL_ANALYZER_SEARCH:"):
        assert any(line.startswith(start) for line in comments), start


# ---------------------------------------------------------------- Helm


def rendered(values: Mapping[str, Any], name: str = "release") -> dict[str, Any]:
    with helm_python.Chart.load(CHART) as chart:
        texts = chart.render(dict(values), name=name)
    files = [text for path, text in texts.items() if path.endswith(".yaml")]
    return {each["kind"]: each for text in files for each in yaml.safe_load_all(text) if each}


def values(path: Path, kind: str | None = None) -> dict[str, Any]:
    loaded = yaml.safe_load(text_of(path, "helm-values"))
    assert isinstance(loaded, dict)
    return loaded if kind is None else {**loaded, "kind": kind}


@pytest.mark.parametrize("config", CONFIGS)
def test_the_chart_renders_the_manifests_of_the_command(write, config: str) -> None:
    path = write(CONFIGS[config])
    chosen = values(path)
    assert rendered(chosen) == made(path, chosen["kind"])
    assert chosen["kind"] == ("rayjob" if "executor: ray" in CONFIGS[config] else "job")


def test_the_chart_is_clean_and_renders_the_same_twice(write) -> None:
    chosen = values(write(CONFIGS["slots"]))
    report = helm_python.lint(CHART, chosen, strict=True)
    assert not report["errors"]
    assert all(message["severity"] < 2 for message in report["messages"])
    assert rendered(chosen) == rendered(chosen)


def test_the_chart_needs_no_more_than_an_image_and_a_configuration() -> None:
    objects = rendered({"image": IMAGE, "config": PLAIN, "checkpoints": {"storageClass": "fast"}})
    check(objects)
    assert objects["Job"]["metadata"]["name"] == "release"
    claim = objects["PersistentVolumeClaim"]["spec"]
    assert claim["storageClassName"] == "fast"
    assert claim["resources"] == {"requests": {"storage": "10Gi"}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"image": ""}, {"config": ""}, {"kind": "pod"}, {"workers": 0}, {"gpus": 0.5},
        {"name": "A: b"}, {"sharedMemory": "much"}, {"typo": 1}, {"image": "a\nb"},
    ],
)  # fmt: skip
def test_the_chart_refuses_wrong_values(wrong: dict[str, Any]) -> None:
    with pytest.raises(helm_python.HelmError):
        rendered({"image": IMAGE, "config": PLAIN, **wrong})


@pytest.fixture
def run(tmp_path: Path, program: str):
    (tmp_path / "my.yaml").write_text("profile_models: [m]\n")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, "cluster", "manifest", *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return run


def test_yaml_is_on_standard_output_and_remarks_are_warnings(run) -> None:
    done = run("--kind", "job", "-f", "my.yaml", "--name", "a", "--image", "b:1")
    assert done.returncode == 0
    assert [each["metadata"]["name"] for each in yaml.safe_load_all(done.stdout)] == ["a"] * 4
    comments = [line[2:] for line in done.stdout.splitlines() if line.startswith("# ")]
    assert done.stderr.splitlines() == [f"model-analyzer: warning: {line}" for line in comments]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kind", "job", "-f", "none.yaml"), "none.yaml: cannot be read"),
        (("--kind", "job", "-f", "."), ".: cannot be read"),
        (("--kind", "pod", "-f", "my.yaml"), "--kind"),
        (("-f", "my.yaml"), "--kind"),
        (("--kind", "job"), "--config-file"),
        (("--kind", "job", "-f", "my.yaml", "--name", "A"), "--name"),
    ],
)
def test_a_wrong_option_is_one_line_with_status_2(run, words, message: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_file_lacks_models(run, tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("")
    done = run("--kind", "job", "-f", "my.yaml")
    assert done.returncode == 2
    assert "profile_models" in done.stderr
