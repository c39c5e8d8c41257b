# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Escapes in checkpoints, and in what servers and perf_analyzer say, reach no terminal, log or
image; a server that is none ends a run in one line.
"""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree
import zlib
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.words import one_line, printable
from model_analyzer.reports.plots import Chart
from model_analyzer.state.format.layout import Layout
from tests.drawn import images, svg_of
from tests.fakes.wrong_answers import WrongServer, answer, content, endless

# sets a title, clears the screen, rings, goes back, turns the direction, ends a string
HOSTILE = "x\x1b]0;owned\x07\x1b[2J\r\x08\x9b31m\u202e\u2066\x00\x7f"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def is_clean(text: str) -> bool:
    return CONTROLS.search(text) is None


def test_what_is_not_for_printing_becomes_visible() -> None:
    assert printable("a\x1b[2J\tb\nc") == "a\\x1b[2J\tb\nc"
    assert one_line("a\nb\tc") == "a\\nb\\tc"
    assert printable("größe 模型 🚀") == "größe 模型 🚀"
    assert printable("\ud800\ufffe") == "\\ud800\\ufffe"
    assert is_clean(printable(HOSTILE))


def hostile_line(entry: dict[str, Any]) -> bytes:
    raw = json.dumps(entry).encode()
    return raw[:-1] + b',"crc":"%08x"}\n' % zlib.crc32(raw)


@pytest.fixture
def hostile_checkpoint(setting) -> Path:
    """A checkpoint directory whose every text is hostile; its checksums are right."""
    setting.succeeds()
    directory = setting.directory / "hostile"
    directory.mkdir()
    (checkpoint,) = (setting.directory / "checkpoints").glob("*.ckpt")
    lines = []
    for line in checkpoint.read_bytes().splitlines():
        entry = json.loads(line)
        entry.pop("crc")
        if entry["entry"] == "end":
            continue
        match entry["entry"]:
            case "header":
                entry["host"] = {"Processor": HOSTILE, HOSTILE: HOSTILE, "Server": HOSTILE}
            case "variant":
                entry["name"] = HOSTILE + entry["name"]
                entry["model"] = HOSTILE + entry["model"]
            case "measurement":
                entry["commands"] = [HOSTILE]
                entry["notices"] = [["unstable", HOSTILE]]
                for work in entry["workloads"]:
                    work["name"] = HOSTILE + work["name"]
            case "setup":
                entry["version"] = HOSTILE
                entry["environment"] = {"OMP_NUM_THREADS": HOSTILE, HOSTILE: HOSTILE}
        lines.append(hostile_line(entry))
    lines.append(hostile_line({"entry": "metadata", "key": "note", "value": HOSTILE}))
    Layout(directory).journal().write_bytes(b"".join(lines))
    return directory


def test_no_command_prints_an_escape_of_a_checkpoint(setting, run, hostile_checkpoint) -> None:
    checkpoint = str(hostile_checkpoint)
    out = str(setting.directory / "out")
    commands = [
        *(["checkpoint", name, "-s", checkpoint]
          for name in ("list", "show", "trials", "best", "verify", "stats")),
        ["best", "-s", checkpoint],
        ["best", "-s", checkpoint, "--format", "json"],
        ["report", "-s", checkpoint, "-n", "x", "-e", out],
        ["compare", checkpoint, checkpoint],
        ["compare", checkpoint, str(setting.directory / "checkpoints")],
    ]  # fmt: skip
    seen = ""
    for command in commands:
        _, output, errors = run(*command)
        assert "Traceback" not in errors, (command, errors)
        assert is_clean(output + errors), (command, CONTROLS.findall(output + errors))
        seen += output + errors
    assert "owned" in seen, "it is shown, and does nothing"


def test_no_escape_of_a_checkpoint_is_offered_to_a_shell(run, hostile_checkpoint) -> None:
    environment = {
        **os.environ,
        "_MODEL_ANALYZER_COMPLETE": "bash_complete",
        "COMP_WORDS": f"model-analyzer best -s {hostile_checkpoint} --model ",
        "COMP_CWORD": "5",
    }
    _, output, errors = run(env=environment)
    assert is_clean(output + errors)


def test_what_servers_and_perf_analyzer_say_is_printed_as_text(setting, pretend) -> None:
    said = {"status": 99, "text": f"error: {HOSTILE}"}
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer(said))
    log = setting.directory / "transcript.txt"
    output = setting.fails(
        1, "-v", perf_output=True, perf_output_path=str(log), run_config_search_disable=True
    )
    assert "owned" in output
    assert is_clean(output), CONTROLS.findall(output)
    for path in (log, setting.directory / "perf_analyzer_error.log"):
        assert "owned" in path.read_text()
        assert is_clean(path.read_text())


def test_a_server_that_does_not_start_prints_no_escape(setting, pretend) -> None:
    setting.config["triton_server_path"] = str(
        pretend.tritonserver(die="error: \x1b]0;owned\x07 \x1b[2J")
    )
    output = setting.fails(1)
    assert "owned" in output
    assert is_clean(output), output


def chart(text: str) -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": text,
        "data": {"values": [{"x": text, "y": 1}]},
        "mark": "bar",
        "encoding": {"x": {"field": "x", "type": "nominal", "title": text},
                     "y": {"field": "y", "type": "quantitative"}},
    }  # fmt: skip


def test_a_chart_of_hostile_texts_is_drawn() -> None:
    hostile = Chart(name="c", caption="", spec=chart(HOSTILE + "\ud800\ufffe\uffff"))
    svg = svg_of(hostile)
    xml.etree.ElementTree.fromstring(svg)
    assert is_clean(svg)
    image = images().png(images().svg([hostile], "a test"))["c"].content
    assert image is not None
    assert image.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "pieces",
    [
        content([1]),
        content({"version": [1]}),
        answer(b"<html>"),
        answer(json.dumps({"error": HOSTILE}).encode(), status="500 X"),
        content({"version": HOSTILE}),
        endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
    ],
    ids=["list", "odd version", "page", "error", "hostile version", "endless"],
)
def test_a_remote_server_that_is_none_ends_the_run_in_one_line(setting, pieces) -> None:
    server = WrongServer(pieces)
    try:
        status, output = setting.profile(
            triton_launch_mode="remote",
            client_protocol="http",
            triton_http_endpoint=f"127.0.0.1:{server.port}",
            triton_grpc_endpoint=f"127.0.0.1:{server.port}",
            triton_metrics_url=f"http://127.0.0.1:{server.port}/metrics",
            client_max_retries=1,
            model_repository=setting.config["model_repository"],
        )
    finally:
        server.close()
    assert status in (1, 2)
    assert "Traceback" not in output
    assert is_clean(output)
    assert len([line for line in output.splitlines() if line.startswith("model-analyzer:")]) == 1
