# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Forty secrets of all kinds, and every byte that any command writes or prints."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

# Each contains a word by which it is found.
ENVIRONMENT = {
    "PGPASSWORD": "planted-01",
    "MYSQL_PWD": "planted-02",
    "HF_TOKEN": "planted-03",
    "HFTOKEN": "planted-04",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.planted-05.c2lnbmF0dXJl",
    "BEARER": "planted-06",
    "SESSION_COOKIE": "planted-07",
    "SSH_PRIVATE_KEY": "-----BEGIN OPENSSH PRIVATE KEY-----\nplanted-08-of-many-lines\n-----END",
    "SIGNING_KEY": "planted-09",
    "AZURE_STORAGE_KEY": "/planted-10==",
    "AZURE_STORAGE_CONNECTION": "AccountName=me;AccountKey=planted-11==;EndpointSuffix=core",
    "BLOB": "https://me.blob/c?sv=2026&sig=planted-12&se=2027",
    "DATABASE": "postgres://me:planted-13@db:5432/x",
    "DSN": "host=db user=me password='planted-14' dbname=x",
    "HTTP_EXTRA": "Authorization: Bearer planted-15",
    "SETTINGS": '{"user": "me", "password": "planted-16"}',
    "AWS_SECRET_ACCESS_KEY": "planted-17",
    "AWS_SESSION_TOKEN": "planted-18",
    "NGC_API_KEY": "planted-19",
    "REDIS": "me:planted-20@redis:6379",
    "SOMETHING": "planted-21",
    "LOGIN": "planted-22",
    "WEBHOOK_URL": "https://hooks/planted-23",
    "LICENSE": "planted-24",
    "clientSecret": "planted-25",
    "TRITON_AUTH": "planted-26",
    "CUDA_LICENSE_KEY": "planted-27",
    "LD_PRELOAD": "/lib/x.so?password=planted-28",
}
HEADERS = ["Authorization: Bearer planted-29", "X-Trace: planted-30", "Cookie: a=planted-31"]
SERVER_FLAGS = {
    "cache-config": ["local,size=1048576", "redis,password=planted-33"],
    "http-restricted-api": "metadata:key=planted-34",
    "model-load-gpu-limit": "secret=planted-32",
    "backend-config": "x,connection=s3://me:planted-35@bucket",
}
MODEL = {
    "password": "planted-36",
    "api_key": "planted-37",
    "store": "https://me:planted-38@store/x",
    "dbPassword": "planted-39",
    "note": "Bearer planted-40",
}
OF_THE_MODEL = ("planted-36", "planted-37", "planted-38", "planted-39", "planted-40")
ALL = [f"planted-{number:02}" for number in range(1, 41)]


def pbtxt() -> str:
    parameters = [
        f'parameters {{ key: "{name}" value {{ string_value: "{value}" }} }}'
        for name, value in MODEL.items()
    ]
    return "\n" + "\n".join(parameters) + "\n"


def texts_in(path: Path) -> Iterator[bytes]:
    """The bytes of a file, also of what is packed in it."""
    content = path.read_bytes()
    yield content
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    if content.startswith(b"\x1f\x8b"):
        yield gzip.decompress(content)


def found_in(content: bytes) -> list[str]:
    return [secret for secret in ALL if secret.encode() in content]


@pytest.fixture
def planted(setting, pretend) -> Mapping[str, object]:
    """A setting whose options, model and programs are full of secrets; what `profile` needs."""
    config = setting.directory / "models" / "m" / "config.pbtxt"
    config.write_text(config.read_text() + pbtxt())
    said = [f"error: {name}={value}" for name, value in ENVIRONMENT.items()]
    said += [f"error: cannot log in with {value}" for value in ENVIRONMENT.values()]
    said += [f"error: {header}" for header in HEADERS] + ["error: sent planted-30"]
    failing = [{"status": 99, "text": "\n".join(said[i : i + 6])} for i in range(0, len(said), 6)]
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({}, {}, *failing))
    setting.config["triton_server_path"] = str(pretend.tritonserver())
    return {
        "triton_server_environment": ENVIRONMENT,
        "perf_analyzer_flags": {"http-header": HEADERS},
        "triton_server_flags": SERVER_FLAGS,
        "output_formats": ["html", "json", "csv", "md", "svg"],
        "skip_detailed_reports": False,
        "perf_output": True,
        "perf_output_path": str(setting.directory / "transcript.txt"),
    }


def test_no_secret_is_in_any_byte_that_a_command_writes_or_prints(setting, run, planted) -> None:
    printed = [setting.profile("-v", **planted)]
    assert printed[0][0] == 0, printed[0][1]
    checkpoint = str(setting.directory / "checkpoints")
    config = str(setting.directory / "config.yaml")
    commands = [
        ["profile", "-f", config, "-v"],  # goes on
        ["profile", "-f", config, "--dry-run"],
        ["analyze", "-f", config, "-v"],
        ["report", "-f", config, "-n", "m_config_default", "-v"],
        ["config", "show", config],
        ["config", "show", config, "--json"],
        ["config", "validate", config],
        *(["best", "-s", checkpoint, "--format", form] for form in ("json",)),
        *(["checkpoint", name, "-s", checkpoint] for name in ("show", "list", "verify", "trials")),
        ["checkpoint", "trials", "-s", checkpoint, "--format", "json"],
        ["checkpoint", "export", "-s", checkpoint, "--format", "csv"],
        ["checkpoint", "export", "-s", checkpoint, "--format", "json"],
        ["checkpoint", "stats", "-s", checkpoint],
        ["compare", checkpoint, checkpoint],
    ]
    for command in commands:
        status, output, errors = run(*command, env=setting.variables)
        assert "Traceback" not in errors, errors
        assert status == 0, errors
        printed.append((status, output + errors))

    deployed = [
        ["best", "-s", checkpoint, "--format", "pbtxt"],
        ["best", "-s", checkpoint, "--format", "kubernetes"],
        ["checkpoint", "export", "-s", checkpoint, "--format", "upstream"],
    ]
    for command in deployed:
        status, output, errors = run(*command, env=setting.variables)
        assert status == 0, errors
        own = [secret for secret in found_in(output.encode()) if secret not in OF_THE_MODEL]
        printed.append((status, errors + str(own)))

    leaks = {f"printed {index}": found_in(text.encode()) for index, (_, text) in enumerate(printed)}
    theirs = ("programs", "models", "output_model_repository", "best")
    for path in setting.directory.rglob("*"):
        inside = path.relative_to(setting.directory).parts
        if not path.is_file() or inside[0] in theirs or path.name == "config.yaml":
            continue
        leaked = [secret for text in texts_in(path) for secret in found_in(text)]
        if "checkpoints" in inside or inside[-1] in ("config.pbtxt", "config.diff"):
            # the configuration itself, which is deployed from there
            leaked = [secret for secret in leaked if secret not in OF_THE_MODEL]
        leaks[str(path)] = leaked
    assert len(leaks) > 20
    assert {name: secrets for name, secrets in leaks.items() if secrets} == {}


def test_what_is_deployed_and_served_is_complete(setting, planted) -> None:
    setting.succeeds(**planted)
    for place in ("best/m", "output_model_repository/m_config_default"):
        text = (setting.directory / place / "config.pbtxt").read_text()
        assert all(value in text for value in MODEL.values()), place


def test_no_secret_of_the_environment_is_on_a_command_line(setting, pretend, planted, mark) -> None:
    go = setting.directory / "go"
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"until": str(go)}))
    process = setting.start(
        **{**planted, "perf_analyzer_flags": {}, "triton_server_flags": {}},
        run_config_search_disable=True,
    )
    setting.wait_until(lambda: bool(pretend.launches))
    lines = [Path("/proc", str(number), "cmdline").read_bytes() for number in mark.processes()]
    go.touch()
    process.communicate()

    assert any(b"tritonserver" in line for line in lines)
    assert any(b"perf_analyzer" in line for line in lines)
    assert [line for line in lines if found_in(line)] == []


def test_a_server_that_does_not_start_may_tell_what_it_likes(setting, pretend, planted) -> None:
    setting.config["triton_server_path"] = str(
        pretend.tritonserver(die="error: planted-21 and planted-01: PGPASSWORD=planted-01")
    )
    output = setting.fails(1, **planted)
    assert "did not start" in output
    assert found_in(output.encode()) == []


# -- trials ------------------------------------------------------------------------------------


def measured(setting, **changes: object) -> int:
    """How many trials a run measures, which had not been measured before."""
    before = len(setting.launches())
    setting.succeeds(run_config_search_disable=True, **changes)
    return len(setting.launches()) - before


@pytest.fixture
def counted(setting, pretend):
    setting.launches = lambda: pretend.launches
    return setting


def test_the_same_values_are_found_again_and_a_changed_one_is_noticed(counted) -> None:
    first = {"MODE": "fast", "HF_TOKEN": "old", "OMP_NUM_THREADS": "2"}
    assert measured(counted, triton_server_environment=first) > 0
    assert measured(counted, triton_server_environment=first) == 0
    assert measured(counted, triton_server_environment={**first, "HF_TOKEN": "new"}) == 0
    assert measured(counted, triton_server_environment={**first, "MODE": "slow"}) > 0
    assert measured(counted, triton_server_environment=first) == 0


def test_a_changed_secret_is_told(setting) -> None:
    once = {"run_config_search_disable": True}
    setting.profile(triton_server_environment={"HF_TOKEN": "old-secret"}, **once)
    _, same = setting.profile(triton_server_environment={"HF_TOKEN": "old-secret"}, **once)
    _, changed = setting.profile(triton_server_environment={"HF_TOKEN": "new-secret"}, **once)
    assert "Different from the checkpoint" not in same
    assert (
        "Different from the checkpoint: server environment: HF_TOKEN: was ******, now a"
        " different ****** (its measurements are used)"
    ) in " ".join(changed.split())


def test_without_the_key_a_masked_value_counts_as_another(counted, tmp_path) -> None:
    environment = {"MODE": "fast", "HF_TOKEN": "old"}
    counted.environment["XDG_CACHE_HOME"] = str(tmp_path / "one")
    assert measured(counted, triton_server_environment=environment) > 0
    counted.environment["XDG_CACHE_HOME"] = str(tmp_path / "another")
    assert measured(counted, triton_server_environment=environment) > 0
    shown = {"triton_server_environment": environment, "show_environment": ["MODE"]}
    assert measured(counted, **shown) > 0
    counted.environment["XDG_CACHE_HOME"] = str(tmp_path / "one")
    assert measured(counted, **shown) == 0


def test_the_key_is_for_the_user_alone_and_in_no_checkpoint(counted, tmp_path) -> None:
    counted.environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    measured(counted, triton_server_environment={"MODE": "fast"})
    key = tmp_path / "cache" / "model-analyzer" / "fingerprint.key"
    assert key.stat().st_mode & 0o777 == 0o600
    (checkpoint,) = (counted.directory / "checkpoints").glob("*.ckpt")
    content = checkpoint.read_bytes()
    assert key.read_bytes() not in content
    assert key.read_bytes().hex().encode() not in content
    (setup,) = [
        entry for entry in map(json.loads, content.splitlines()) if entry["entry"] == "setup"
    ]
    assert setup["environment"]["MODE"].startswith("****** ")
