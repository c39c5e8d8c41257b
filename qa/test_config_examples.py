# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every file in config/ works with the commands in its first lines."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.openai_server import running

EXAMPLES = sorted(
    path
    for path in (Path(__file__).parents[1] / "config").glob("*.yaml")
    if path.name != "prices.yaml"  # no configuration of a run
)

# The examples for every day; `make qa` runs the others.
EVERYDAY = ("default-only",)


@pytest.fixture
def openai_server(tmp_path: Path) -> Iterator[str]:
    with running(tmp_path / "port") as address:
        yield address


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in EVERYDAY else (pytest.mark.slow,))
        for path in EXAMPLES
    ],
)
def test_an_example_runs(scene, remote, certificates, path: Path, request) -> None:
    if "triton_launch_mode: docker" in path.read_text():
        request.getfixturevalue("containers")
    shutil.copytree(certificates.directory, scene.directory / "certificates")
    text = path.read_text()
    if "endpoint: openai" in text:
        address = request.getfixturevalue("openai_server")
        text = text.replace("localhost:8000", address)
    elif "triton_launch_mode: remote" in text:
        server = remote("explicit")
        for usual, here in ((8000, server.http), (8001, server.grpc), (8002, server.metrics)):
            text = text.replace(f"localhost:{usual}", f"localhost:{here}")
    if "localhost:9001" in text:
        server = remote("explicit")
        for usual, here in ((9000, server.http), (9001, server.grpc), (9002, server.metrics)):
            text = text.replace(f"localhost:{usual}", f"localhost:{here}")

    if "executor: ray" in text:
        text = text.replace(
            "ray_address: auto", f"ray_address: {request.getfixturevalue('cluster')}"
        )

    quick = scene.directory / "config" / path.name
    quick.parent.mkdir()
    for file in (*path.parent.glob("*.csv"), *path.parent.glob("*.json")):
        shutil.copy(file, quick.parent)
    quick.write_text(re.sub(r"(measurement-interval:) \d+", r"\1 60", text))

    output = follow(scene, path)

    assert scene.rows
    # short windows on a busy machine give these
    expected = (
        "other programs use",
        "p99 is based on",
        "one request in a hundred was sent",
        "its requests were sent late",
        "requests/sec were answered",
        "requests in flight",
        "chance that it meets",
        "which is within noise",
    )
    lines = [line for line in output.splitlines() if not any(e in line.lower() for e in expected)]
    assert "WARNING" not in "\n".join(lines), output


def follow(scene, example: Path) -> str:
    """Runs the commands in the first lines of an example; returns their output."""
    said = ""
    head = example.read_text().partition("\n\n")[0]
    for line in re.findall(r"^#     (\w.*)$", head, re.MULTILINE):
        for command in line.split(" && "):
            word, *arguments = shlex.split(command)
            if arguments[:2] == ["runtime", "run"]:
                continue  # the test has started it
            if word == "model-analyzer":
                status, output = scene.run(*arguments)
                assert status == 0, output
                said += output
            elif word == "rm":
                (scene.directory / arguments[0]).unlink()
            else:
                assert word == "RAY_worker_niceness=0", command  # the test has started it
    assert said, "the example has no command"
    return said


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 21
