# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every bad input gets one line with what, where and what to do; and the right exit status."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import error_of
from tests.phrases import NOT_AN_INTEGER, NOT_DELETED
from tests.sizes import small_and_full

RUN_FAILED, USAGE = 1, 2


def one_line(error: str) -> str:
    """The only line of an error, which is no traceback."""
    lines = error.splitlines()
    assert len(lines) == 1, error
    assert lines[0].startswith("model-analyzer: ")
    return lines[0]


@pytest.fixture
def complain(setting, run):
    """The only line of error of `profile` with a changed configuration."""

    def call(*arguments: str, drop: tuple[str, ...] = (), ends: int = USAGE, **changes: Any) -> str:
        config = {**setting.config, **changes}
        for name in drop:
            del config[name]
        path = setting.directory / "config.yaml"
        path.write_text(yaml.safe_dump(config, sort_keys=False))
        return one_line(
            error_of(run("profile", "-f", str(path), *arguments, env=setting.variables), ends)
        )

    return call


def test_an_unknown_yaml_key_is_located_and_the_nearest_named(complain, setting) -> None:
    line = complain(concurency=[1])

    assert f"{setting.directory}/config.yaml:13:1: unknown option 'concurency'" in line
    assert "did you mean 'concurrency'?" in line


def test_all_problems_are_told_at_once(setting, run) -> None:
    path = setting.directory / "config.yaml"
    path.write_text("concurrency: x\nbatch_sizes: [0]\nclient_protocol: ftp\nnonsense: 1\n")

    error = error_of(run("profile", "-f", str(path)), USAGE)

    lines = error.splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        f"{path}:1:14",
        f"{path}:2:15",
        f"{path}:3:18",
        f"{path}:4:1",
        "profile_models",
        "model_repository",
    ]


def test_a_bad_value_on_the_command_line_names_the_flag(complain) -> None:
    line = complain("--concurrency", "many")

    assert f"--concurrency: {NOT_AN_INTEGER}, found 'many'" in line


def test_an_unknown_flag_is_a_usage_error(run) -> None:
    error = error_of(run("profile", "--concurency", "1"), USAGE)

    assert "No such option" in error
    assert "--concurrency" in error


def test_an_unknown_command_is_a_usage_error(run) -> None:
    error = error_of(run("profil"), USAGE)

    assert "no command 'profil', did you mean 'profile'?" in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("profile --objectives x", "No such option '--objectives': write objectives in the YAML"),
        ("profile --constraint x<3", "'--constraint': write constraints in the YAML file"),
        ("profile --metric x", "'--metric': write objectives in the YAML file"),
        ("profile my.yaml", "unexpected extra argument (my.yaml): give -f my.yaml"),
        ("profile mine", "unexpected extra argument (mine)\n"),
        ("help", "no command 'help': --help lists all"),
    ],
)
def test_what_another_tool_would_take_is_told_with_what_to_write(run, arguments, said) -> None:
    status, _, error = run(*arguments.split())

    assert (status, said in error) == (USAGE, True), error


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: [1", "config.yaml:2:1: not valid YAML"),
        ("- 1\n", "config.yaml:1:1: expected a mapping of options, found a list"),
        ("\tx: 1", "config.yaml:1:1: not valid YAML"),
        ("# ü\na:\n- b:\n\t- c", " (a tab: indent with spaces)"),
    ],
)
def test_yaml_that_is_none_is_located(tmp_path: Path, run, content: str, words: str) -> None:
    (tmp_path / "config.yaml").write_text(content)
    error = error_of(run("profile", "-f", "config.yaml"), USAGE)

    assert words in error
    assert "Traceback" not in error


def test_a_missing_configuration_file(run) -> None:
    error = error_of(run("profile", "-f", "nowhere.yaml"), USAGE)

    assert "nowhere.yaml: cannot be read: No such file or directory" in one_line(error)


def test_a_model_that_is_not_there(complain) -> None:
    line = complain(profile_models=["mm"])

    assert "no model 'mm'" in line
    assert "did you mean 'm'?" in line


def test_a_repository_that_is_not_there(complain) -> None:
    line = complain(model_repository="/no/where")

    assert "model repository /no/where does not exist: check --model-repository" in line


def test_an_empty_repository_says_what_one_looks_like(complain, setting) -> None:
    (setting.directory / "empty").mkdir()

    line = complain(model_repository=str(setting.directory / "empty"))

    assert f"config.yaml:1:19: model repository {setting.directory}/empty contains no model" in line
    assert "MODEL/config.pbtxt" in line


def test_a_configuration_of_a_model_that_does_not_parse(complain, setting) -> None:
    path = setting.directory / "models" / "m" / "config.pbtxt"
    path.write_text('name: "m"\nmax_batch_sise: 4\n')

    line = complain()

    assert f"{path}:2:1: not a model configuration" in line


def test_an_output_repository_that_exists(complain, setting) -> None:
    (setting.directory / "output_model_repository" / "mine").mkdir(parents=True)

    line = complain(override_output_model_repository=False)

    assert "--override-output-model-repository" in line


def test_an_output_repository_that_holds_the_models(complain, setting) -> None:
    line = complain(output_model_repository_path=str(setting.directory))

    assert NOT_DELETED in line
    assert (setting.directory / "models" / "m" / "config.pbtxt").exists()


@pytest.mark.parametrize("option", ["triton_server_path", "perf_analyzer_path"])
@pytest.mark.parametrize(
    ("path", "words"),
    [("/no/such", "/no/such does not exist"), ("no-such", "no 'no-such' on the PATH"),
     ("./config.yaml", "./config.yaml is not executable")],
)  # fmt: skip
def test_a_program_that_is_not_one(complain, option: str, path: str, words: str) -> None:
    line = complain(**{option: path})

    assert re.match(rf"model-analyzer: \S+/config\.yaml:\d+:\d+: {re.escape(words)}", line)


def test_a_perf_analyzer_without_a_library(complain, tmp_path: Path) -> None:
    path = tmp_path / "perf_analyzer"
    reason = "perf_analyzer: error while loading shared libraries: libb64.so.0d: cannot open"
    path.write_text(f"#!/bin/sh\necho '{reason}' >&2\nexit 127\n")
    path.chmod(0o755)

    line = complain(perf_analyzer_path=str(path), ends=RUN_FAILED)

    assert "does not start" in line
    assert "libb64.so.0d" in line


def test_a_server_that_does_not_start(complain, pretend) -> None:
    line = complain(
        triton_server_path=str(pretend.tritonserver(die="error: no luck")), ends=RUN_FAILED
    )

    assert "did not start: error: no luck" in line


def test_no_programs_at_all(setting, run, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "c")}
    status, _, error = run(
        "profile", "-m", setting.config["model_repository"], "--profile-models", "m",
        env=environment,
    )  # fmt: skip

    assert status == RUN_FAILED
    assert "run `model-analyzer runtime install`" in one_line(error)
    assert not (tmp_path / "output_model_repository").exists()  # nothing half done


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--cpu-only --latency-budget 60",
         "No such option '--cpu-only': it belongs to a model: write it below profile_models:"
         " {MODEL: …}; for composing models, write cpu_only_composing_models"),
        ("--cpu-only-comp --latency-budget 60",
         "--cpu-only-composing-models needs a value, and --latency-budget is none"),
        ("--budget --quiet", "--budget needs a value, and --quiet is none"),
        ("-s -q", "--checkpoint-directory needs a value, and -q is none"),
        ("-e -q", "--export-path needs a value, and -q is none"),
        ("--model-names m", "No such option '--model-names': give --profile-models"),
        ("--perf-measurement-window=5",
         "No such option '--perf-measurement-window': write perf_analyzer_flags:"
         " {measurement-interval: MILLISECONDS}"),
    ],
)  # fmt: skip
def test_flags_that_are_not_what_they_seem(run, words: str, message: str) -> None:
    error = error_of(run("profile", *words.split()), 2)

    assert error.splitlines()[-1] == f"Error: {message}"


def test_a_runtime_that_cannot_be_installed(setting, run, tmp_path: Path) -> None:
    cache = tmp_path / "c" / "model-analyzer"
    (cache / ".installing-killed" / "runtime").mkdir(parents=True)
    environment = {
        **os.environ, "PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(cache.parent),
        "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1",
    }  # fmt: skip
    status, _, error = run(
        "profile", "-m", setting.config["model_repository"], "--profile-models", "m",
        "--runtime-install", env=environment,
    )  # fmt: skip

    assert status == RUN_FAILED
    assert "model-analyzer: cannot " in error.splitlines()[-1]
    assert not [*cache.glob("runtime-*/"), *cache.glob(".installing-*")]


def test_a_port_in_use(complain) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        line = complain("--triton-http-endpoint", f"localhost:{port}", ends=RUN_FAILED)

    assert f"127.0.0.1:{port}" in line
    assert "triton_http_endpoint" in line


def test_an_export_path_that_cannot_be_written_is_found_before_measuring(
    complain, setting, pretend
) -> None:
    (setting.directory / "file").touch()

    line = complain(export_path=str(setting.directory / "file" / "below"))

    assert "check --export-path" in line
    assert pretend.launches == []


def test_a_checkpoint_directory_that_cannot_be_made(complain, setting) -> None:
    (setting.directory / "file").touch()

    line = complain(checkpoint_directory=str(setting.directory / "file" / "below"))

    assert "--checkpoint-directory" in line


def test_a_server_log_that_cannot_be_written(complain) -> None:
    line = complain(triton_output_path="/no/such/directory/server.log")

    assert "--triton-output-path" in line


def test_a_damaged_newest_checkpoint_is_named_and_passed_over(setting, pretend) -> None:
    setting.config["run_config_search_disable"] = True
    setting.profile()
    launches = len(pretend.launches)
    for content in ("", "{", '{"entry":"header"', "\x00\x01\x02", "null\n"):
        (setting.directory / "checkpoints" / "1.ckpt").write_text(content)

        output = setting.succeeds()

        assert "1.ckpt is damaged" in output
        assert len(pretend.launches) == launches
        assert (setting.directory / "checkpoints" / "1.ckpt").read_text() == content


def test_a_truncated_checkpoint_gives_what_is_intact(setting, pretend) -> None:
    setting.profile()
    path = setting.directory / "checkpoints" / "0.ckpt"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    launches = len(pretend.launches)

    output = setting.succeeds()

    assert "0.ckpt is damaged" in output
    assert launches < len(pretend.launches) < 2 * launches
    assert setting.checkpoints == ["0.ckpt", "1.ckpt"]


def test_foreign_files_among_checkpoints_do_not_matter(setting) -> None:
    directory = setting.directory / "checkpoints"
    directory.mkdir()
    for name in ("x.ckpt", "3.old.ckpt", "007.ckpt", "notes.txt"):
        (directory / name).write_text("mine")

    setting.succeeds()

    assert (directory / "0.ckpt").exists()
    assert (directory / "3.old.ckpt").read_text() == "mine"


def test_a_checkpoint_of_a_newer_version_is_refused(complain, setting) -> None:
    setting.profile()
    from model_analyzer.state.format.codec import encode

    path = setting.directory / "checkpoints" / "1.ckpt"
    path.write_bytes(encode({"entry": "header", "format": 99, "tool": "9.9"}))

    line = complain(ends=RUN_FAILED)

    assert "newer model-analyzer (9.9)" in line


def can_mount() -> bool:
    return (
        shutil.which("unshare") is not None
        and subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode
        == 0
    )


@pytest.mark.skipif(not can_mount(), reason="mounting a small tmpfs needs user namespaces")
@small_and_full("size_kb", 8, 4, 12)
def test_a_full_disk_loses_nothing_that_was_acknowledged(
    setting, program: str, size_kb: int, pretend
) -> None:
    full = setting.directory / "full"
    full.mkdir()
    kept = setting.directory / "kept"
    path = setting.directory / "config.yaml"
    config = {**setting.config, "checkpoint_directory": str(full / "checkpoints")}
    path.write_text(yaml.safe_dump(config))
    script = (
        f"mount -t tmpfs -o size={size_kb}k tmpfs {full} && {program} profile -f {path}; "
        f"status=$?; cp -r {full}/checkpoints {kept}; exit $status"
    )

    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        cwd=setting.directory, capture_output=True, text=True, timeout=180,
        env=setting.variables, check=False,
    )  # fmt: skip

    assert done.returncode == RUN_FAILED, done.stdout + done.stderr
    line = one_line(done.stderr)
    assert "No space left on device" in line
    assert "run again" in line
    launches = len(pretend.launches)
    acknowledged = done.stdout.count("(measurement ")
    shutil.copytree(kept, setting.directory / "checkpoints")
    output = setting.succeeds()
    assert output.count("Existing measurement found") == acknowledged
    assert len(pretend.launches) - launches + acknowledged == 10


def test_names_that_leave_the_repository_are_refused(complain) -> None:
    for name in ("../m", "a/b", ".."):
        line = complain(profile_models=[name])
        assert "is not a valid model name" in line
