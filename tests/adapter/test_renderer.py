# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an engine does to its process costs a picture, and neither the others nor us."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import model_analyzer
from model_analyzer.reports.engines import SVG
from model_analyzer.reports.renderer import Limits, Picture, Renderer

# Does what its specification says, in a process whose number it appends to a file.
ENGINE = """\
import os, time
from pathlib import Path

Path({starts!r}, str(os.getpid())).touch()

def vegalite_to_svg(text):
    match text.partition(" ")[0]:
        case "abort":
            os.abort()
        case "kill":
            os.kill(os.getpid(), 9)
        case "fatal":
            os.write(2, b"# Fatal process out of memory: Oilpan: CagedHeap reservation.\\n")
            os.abort()
        case "exit":
            os._exit(3)
        case "hang":
            time.sleep(3600)
        case "fill":
            return len(bytes(1 << 30)) and "filled"
        case "raise":
            raise ValueError("no chart:\\n  too deep\\n    at v (place:1:2)")
        case "chatter":
            print("done 0 3")
        case "long":
            return "x" * 10**6
    return f"<{{text}}>"
"""


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a file for each process in which the pretend engine was imported."""
    directory = tmp_path / "starts"
    directory.mkdir()
    (tmp_path / "vl_convert.py").write_text(ENGINE.format(starts=str(directory)))
    monkeypatch.syspath_prepend(tmp_path)
    return directory


def drawn(*texts: str, limits: Limits | None = None) -> list[Picture]:
    with Renderer(limits) as renderer:
        orders = [renderer.order(SVG, text) for text in texts]
        return [renderer.take(order) for order in orders]


def test_all_are_drawn_by_one_process(starts: Path) -> None:
    assert [picture.content for picture in drawn("a", "b", "größe")] == [
        b"<a>", b"<b>", "<größe>".encode(),
    ]  # fmt: skip
    (process,) = starts.iterdir()
    assert not Path("/proc", process.name).exists()


def test_nothing_is_started_for_nothing(starts: Path) -> None:
    assert drawn() == []
    assert list(starts.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("abort", "the renderer was ended by SIGABRT"),
        ("exit", "the renderer ended with status 3"),
        ("kill", "the renderer ran out of memory (limit 4.3 GB)"),
        ("fatal", "the renderer ran out of memory (limit 4.3 GB)"),
    ],
)
def test_what_ends_the_process_costs_the_picture_that_it_was_at(
    starts: Path, text: str, why: str
) -> None:
    assert drawn("a", text, "b", "c") == [
        Picture(b"<a>"), Picture(None, why), Picture(b"<b>"), Picture(b"<c>"),
    ]  # fmt: skip
    assert len(list(starts.iterdir())) == 2


def test_what_an_engine_raises_costs_its_picture_and_no_process(starts: Path) -> None:
    assert drawn("a", "raise", "b") == [
        Picture(b"<a>"), Picture(None, "ValueError: no chart: too deep"), Picture(b"<b>"),
    ]  # fmt: skip
    assert len(list(starts.iterdir())) == 1


def test_memory_is_limited(starts: Path) -> None:
    limits = Limits(memory=256 << 20)
    assert drawn("fill", "b", limits=limits) == [
        Picture(None, "the renderer ran out of memory (limit 0.3 GB)"), Picture(b"<b>"),
    ]  # fmt: skip


def test_time_is_limited(starts: Path) -> None:
    (picture,) = drawn("hang", limits=Limits(seconds=0.1))
    assert picture == Picture(None, "it took longer than 0.1 s")
    assert not any(Path("/proc", process.name).exists() for process in starts.iterdir())


def test_a_process_that_always_ends_is_not_started_for_ever(starts: Path) -> None:
    with Renderer(Limits(starts=3)) as renderer:
        orders = [renderer.order(SVG, "abort") for _ in range(10)]
        pictures = [renderer.take(order) for order in orders]
        later = renderer.take(renderer.order(SVG, "a"))
    assert {picture.why for picture in (*pictures, later)} == {"the renderer was ended by SIGABRT"}
    assert len(list(starts.iterdir())) == 3


def test_a_limit_for_the_size_of_files_costs_pictures_and_nothing_else(starts: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Renderer() as renderer:
        first = renderer.order(SVG, "a")
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            second = renderer.order(SVG, "b" * 10_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        pictures = [renderer.take(order) for order in (first, second, renderer.order(SVG, "c"))]

    why = "cannot send charts to the renderer: File too large"
    assert [picture.why for picture in pictures] == [why] * 3


def test_what_an_engine_prints_is_no_answer(starts: Path) -> None:
    assert drawn("chatter", "b") == [Picture(b"<chatter>"), Picture(b"<b>")]


def test_much_is_ordered_without_waiting_for_what_is_drawn(starts: Path) -> None:
    texts = [f"{number} " + "y" * 200_000 for number in range(50)]
    pictures = drawn(*texts, *["long"] * 20)
    assert [picture.content for picture in pictures[:50]] == [
        f"<{text}>".encode() for text in texts
    ]
    assert {len(picture.content or b"") for picture in pictures[50:]} == {10**6}


def test_orders_may_be_taken_in_any_order_and_given_again(starts: Path) -> None:
    with Renderer() as renderer:
        first, second = renderer.order(SVG, "a"), renderer.order(SVG, "b")
        assert renderer.take(second).content == b"<b>"
        third = renderer.order(SVG, "c")
        assert renderer.take(first).content == b"<a>"
        assert renderer.take(third).content == b"<c>"


def test_a_process_that_was_begun_draws_all(starts: Path) -> None:
    with Renderer() as renderer:
        renderer.begin()
        renderer.rest()
        (process,) = starts.iterdir()
        assert renderer.take(renderer.order(SVG, "a")).content == b"<a>"
        assert list(starts.iterdir()) == [process]
        renderer.begin()  # not waited for
        assert renderer.take(renderer.order(SVG, "b")).content == b"<b>"
    assert list(starts.iterdir()) == [process]


def test_a_process_that_somebody_killed_while_it_rested_costs_no_picture(starts: Path) -> None:
    with Renderer() as renderer:
        renderer.begin()
        renderer.rest()
        (process,) = starts.iterdir()
        os.kill(int(process.name), signal.SIGKILL)
        os.waitid(os.P_PID, int(process.name), os.WEXITED | os.WNOWAIT)

        assert renderer.take(renderer.order(SVG, "a")).content == b"<a>"
    assert len(list(starts.iterdir())) == 2


def test_a_process_that_cannot_be_begun_is_tried_again(starts: Path, monkeypatch) -> None:
    with Renderer() as renderer:
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", str(starts / "none"))
            renderer.begin()
        renderer.rest()
        assert renderer.take(renderer.order(SVG, "a")).content == b"<a>"


def test_where_no_process_can_be_started_nothing_is_drawn(starts: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", str(starts / "none"))
    why = "the renderer cannot be started: No such file or directory"
    assert drawn("a", "b") == [Picture(None, why), Picture(None, why)]


PARENT = """\
import os, signal
from model_analyzer.reports.renderer import Renderer

with Renderer() as renderer:
    renderer.take(renderer.order("svg", "a"))
    renderer.order("svg", "hang")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_ends_with_the_process_that_started_it(starts: Path, tmp_path: Path, mark) -> None:
    environment = {**mark.environment, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PARENT], env=environment, check=False)
    assert done.returncode == -9
    assert len(list(starts.iterdir())) == 1
    assert mark.gone()


ANYWHERE = """\
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import model_analyzer
from model_analyzer.reports.renderer import Renderer

assert model_analyzer.__file__.startswith(sys.argv[2]), model_analyzer.__file__
with Renderer() as renderer:
    picture = renderer.take(renderer.order("svg", "a"))
assert picture.content == b"<a>", picture
"""


def test_it_finds_the_package_in_an_archive_too(starts: Path, tmp_path: Path) -> None:
    archive = tmp_path / "package.zip"
    package = Path(model_analyzer.__file__).parent
    with zipfile.ZipFile(archive, "w") as file:
        for path in package.rglob("*.py"):
            file.write(path, path.relative_to(package.parent))
    places = json.dumps([str(archive), str(tmp_path)])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    subprocess.run(
        [sys.executable, "-c", ANYWHERE, places, str(archive)], env=environment, check=True
    )
