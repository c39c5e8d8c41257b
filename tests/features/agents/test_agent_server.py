# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer mcp`, with the client of the library."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from model_analyzer.features.agents.agent_tools import TOOLS
from tests.cli.conftest import Setting

Call = Callable[..., Awaitable[tuple[bool, str, dict[str, Any]]]]
Talk = Callable[[Callable[[Call], Awaitable[None]]], None]


@pytest.fixture
def config(setting: Setting) -> dict[str, Any]:
    """A run on pretend programs, which the person chooses who starts the server."""
    config = dict(setting.config)
    for key in ("triton_server_path", "perf_analyzer_path"):
        setting.environment[f"MODEL_ANALYZER_{key.upper()}"] = config.pop(key)
    return config


@pytest.fixture
def server(setting: Setting, tmp_path: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=setting.program,
        args=["mcp", "--root", str(tmp_path), "--budget", "10m"],
        env=setting.variables,
        cwd=tmp_path,
    )


@pytest.fixture
def talk(config: dict[str, Any], setting: Setting, server: StdioServerParameters) -> Talk:
    """Runs a conversation; a call gives whether it is an error, the line and the document."""

    def run(conversation: Callable[[Call], Awaitable[None]]) -> None:
        async def session() -> None:
            parameters = server.model_copy(update={"env": setting.variables})
            with anyio.fail_after(240):
                async with Client(stdio_client(parameters)) as client:

                    async def call(name: str, **arguments: Any) -> tuple[bool, str, dict[str, Any]]:
                        result = await client.call_tool(name, arguments)
                        document = result.structured_content or {}
                        texts = [getattr(each, "text", "") for each in result.content]
                        if not result.is_error:
                            assert json.loads(texts[1]) == document
                        return bool(result.is_error), texts[0], document

                    await conversation(call)

        # another test may have left an event loop in this thread
        with ThreadPoolExecutor(1) as thread:
            thread.submit(anyio.run, session).result()

    return run


async def ended(call: Call) -> tuple[bool, str, dict[str, Any]]:
    """The status of a run after its end."""
    while (told := await call("status", wait_s=60))[2]["state"] != "ended":
        pass
    return told


def test_a_run_from_the_plan_to_another_goal(talk: Talk, config: dict[str, Any]) -> None:
    async def conversation(call: Call) -> None:
        assert (await call("validate", config=config))[1] == "file config.yaml, valid True"
        _, line, plan = await call("plan", config=config)
        assert "mode brute, size 10" in line
        assert len(plan["subjects"][0]["trials"]) == 5
        assert (await call("start", config=config, duration="2h"))[2]["duration_s"] == 600
        is_error, line, _ = await call("start", config=config, duration=5)
        assert (is_error, line[:28]) == (True, "start: a run is measuring: w")
        assert (await call("doctor"))[0]
        _, line, status = await ended(call)
        assert (status["state"], status["exit_status"], status["stopped"]) == ("ended", 0, False)
        assert status["trials_done"] == 10
        assert line.startswith("The run has ended. m_config_")
        assert line.endswith(" s of the budget are left.")
        assert (status["expected_left_s"], 500 < status["budget_left_s"] < 600) == (None, True)
        _, line, answer = await call("answer")
        assert line.startswith(answer["models"][0]["sentence"])
        assert ["limit run_config_search_max_concurrency: 2" in each for each in answer["advice"]]
        assert len(answer["models"][0]["variants"]) == 3
        assert len(json.dumps(answer)) < 6000
        _, _, whole = await call("answer", detail=True)
        assert whole["models"][0]["variants"][0]["measurements"][0]["duration_s"] > 0
        _, line, other = await call("what_if", latency_budget=1000, metric="perf_latency_p99")
        assert other["models"][0]["goals"][0]["objectives"][0]["metric"] == "perf_latency_p99"
        _, line, _ = await call("explain", variant="m_config_default")
        assert "m_config_default" in line
        _, line, _ = await call("compare", base="checkpoints", new="checkpoints")
        assert "regression False" in line
        _, line, _ = await call("capacity", rate=5)
        assert line.startswith("The measurements do not tell how many replicas of m serve 5 ")

    talk(conversation)


def test_a_run_is_stopped_and_keeps_what_it_measured(talk: Talk, config: dict[str, Any]) -> None:
    async def conversation(call: Call) -> None:
        await call("start", config=config, duration=100)
        while not (await call("status"))[2]["trials_done"]:
            await anyio.sleep(0.05)
        await call("stop")
        _, _, status = await ended(call)
        assert (status["state"], status["stopped"], status["exit_status"]) == ("ended", True, 1)
        assert 0 < status["trials_done"] < 10
        assert (await call("stop"))[:2] == (True, "stop: no run is measuring")
        _, _, answer = await call("answer")
        assert answer["models"][0]["recommended"]["times_measured"] >= 1

    talk(conversation)


def test_a_run_ends_with_its_time(talk: Talk, config: dict[str, Any]) -> None:
    async def conversation(call: Call) -> None:
        await call("start", config=config, duration=1)
        _, _, status = await ended(call)
        assert status["stopped"]

    talk(conversation)


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_run_ends_with_its_client(
    talk: Talk, config: dict[str, Any], setting: Setting, is_killed: bool
) -> None:
    async def conversation(call: Call) -> None:
        await call("start", config=config, duration=600)
        while not (await call("status"))[2]["trials_done"]:
            await anyio.sleep(0.05)
        marked = setting.mark.processes() if is_killed else []
        for server in psutil.process_iter(["cmdline"]):
            if server.pid in marked and "mcp" in server.info["cmdline"]:
                server.kill()

    talk(conversation)
    assert setting.mark.gone()
    assert setting.checkpoints == ["0.ckpt"]


def test_what_a_run_says_of_its_failure_is_told(talk: Talk, config: dict[str, Any]) -> None:
    async def conversation(call: Call) -> None:
        await call("start", config={**config, "profile_models": ["x"]}, duration=100)
        _, line, status = await ended(call)
        assert (status["state"], status["trials_done"], status["exit_status"]) == ("ended", 0, 2)
        assert status["log"][-1] in line
        assert "model 'x'" in line

    talk(conversation)


def malformed(seed: int, config: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Calls that are wrong, one each: a tool, and its arguments."""
    chance = random.Random(seed)
    junk: list[Any] = [
        None, -1, 0, 1e300, "", "x" * 5000, "--help", "; rm -rf /", "$(id)", "../..", "/etc/passwd",
        "s3://a/b", "grpc://evil:1", [], [[]], {}, {"a": {"b": []}}, True, "\0", "\u202e", "nan",
    ]  # fmt: skip
    forbidden = {
        "triton_server_path": "/bin/sh", "perf_analyzer_path": "/bin/sh", "fresh": True,
        "triton_launch_mode": "remote", "triton_grpc_endpoint": "evil:1", "executor": "ray",
        "triton_server_environment": {"LD_PRELOAD": "x"}, "checkpoint_storage": "s3://a/b",
        "model_repository": "https://evil/models", "export_path": "/tmp/x", "verify": "grpc://e:1",
        "triton_server_flags": {"backend-directory": "/tmp"}, "no_checkpoint": True,
        "perf_analyzer_flags": {"url": "evil:1"}, "prices": "/etc/passwd", "nonsense": 1,
        "profile_models": {"m": {"triton_server_environment": {"A": "b"}}},
        "load": {"replay": "/etc/passwd"}, "runtime_install": True,
    }  # fmt: skip
    deep: Any = "x"
    for _ in range(90):
        deep = [deep]
    while True:
        tool = chance.choice(TOOLS)
        right = {"config": config, "duration": 5, "rate": 5, "base": ".", "new": "."}
        needs, takes = tool.needs.split(), [*tool.schema["properties"]]
        arguments = {name: right[name] for name in needs}
        match chance.randrange(7):
            case 0:
                yield chance.choice(["", "Start", "shell", "x" * 3000, "start\n"]), arguments
            case 1:
                unknown = chance.choice(["command", "--root", "", "env", "x" * 3000])
                yield tool.name, {**arguments, unknown: chance.choice(junk)}
            case 2 if needs:
                del arguments[chance.choice(needs)]
                yield tool.name, arguments
            case 3 if "config" in takes:
                key = chance.choice([*forbidden])
                yield tool.name, {**arguments, "config": {**config, key: forbidden[key]}}
            case 4 if takes:
                name = chance.choice(takes)
                wrong = [each for each in junk if not isinstance(each, str | bool)]
                wrong = [None, deep, [None]] if name == "config" else [deep, *wrong[:1], {}, [[]]]
                yield tool.name, {**arguments, name: chance.choice(wrong)}
            case 5 if places := [*{"checkpoint_directory", "base", "new"}.intersection(takes)]:
                outside = ["..", "/", "/etc/passwd", "s3://a/b", "a\0b", "x/../../y"]
                yield tool.name, {**arguments, min(places): chance.choice(outside)}
            case 6 if tool.name == "start":
                duration = chance.choice(["0", "-5", "forever", "1d", 0, -1, 1e300, True, None])
                yield "start", {**arguments, "duration": duration}


def test_malformed_calls_are_told_and_start_nothing(
    talk: Talk, config: dict[str, Any], pretend: Any, tmp_path: Path
) -> None:
    async def conversation(call: Call) -> None:
        calls = malformed(7, config)
        for number in range(200):
            name, arguments = next(calls)
            is_error, line, document = await call(name, **arguments)
            assert is_error, (number, name, arguments)
            assert (document, "Traceback" in line, "\n" in line) == ({}, False, False), line
            assert 8 < len(line) <= 2000, (name, line)
        assert (await call("status"))[2] == {"state": "none", "budget_left_s": 600.0}

    before = {path.name for path in tmp_path.iterdir()}
    talk(conversation)
    assert (pretend.server_calls, pretend.launches) == ([], [])
    assert {path.name for path in tmp_path.iterdir()} == before


def test_lines_that_are_no_messages_change_nothing(
    config: dict[str, Any], server: StdioServerParameters, setting: Setting
) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    messages: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status"}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"arguments": []}},
    ]
    lines = [json.dumps(each).encode() for each in messages]
    junk = [b"no JSON", b"\xff\xfe", b"[1]", b"{}", b"[" * 5000, b""]

    command = [server.command, *server.args]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=setting.variables,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n".join([*lines[:2], *junk, *lines[2:], b""]))
        process.stdin.flush()
        answers: dict[Any, Any] = {}
        while {1, 2, 3} - answers.keys():
            answer = json.loads(process.stdout.readline())
            answers[answer["id"]] = answer
        assert answers[2]["result"]["structuredContent"]["state"] == "none"
        assert answers[3]["error"]["code"] == -32602
        rest, errors = process.communicate(b"x" * (5 * 2**20) + b"\n" + lines[2] + b"\n", 180)
    assert (rest, process.returncode) == (b"", 0)
    assert b"larger than 4 MiB" in errors


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--root", "nowhere", "--budget", "1m"], "--root: nowhere is not a directory"),
        (["--root", ".", "--budget", "soon"], "--budget: expected a duration"),
        (["--root", "."], "Missing option '--budget'"),
    ],
)
def test_a_server_without_borders_does_not_start(
    run: Callable[..., tuple[int, str, str]], arguments: list[str], problem: str
) -> None:
    status, output, error = run("mcp", *arguments)

    assert (status, output) == (2, "")
    assert problem in error


def test_a_missing_package_is_named(run: Callable[..., tuple[int, str, str]], monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)

    status, _, error = run("mcp", "--root", ".", "--budget", "1m")

    assert status == 1
    assert error.endswith("(pip install 'anyio>=4.9' 'jsonschema>=4.20' 'mcp<3,>=2.0')\n")
