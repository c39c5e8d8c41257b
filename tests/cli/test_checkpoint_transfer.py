# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint download`, `checkpoint upload` and `profile --checkpoint-storage`."""

from __future__ import annotations

import math
import signal
import time
from pathlib import Path

import pytest

from model_analyzer import list_checkpoints
from model_analyzer.state.profile_state import ProfileState
from tests.cli.conftest import error_of
from tests.unit.state.samples import measurement, several


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Three checkpoints; throughput is best in the second, by a measurement that was replaced."""
    directory = tmp_path / "source"
    with ProfileState(directory) as state:
        first, second, third = several(3)
        state.record(first, measurement(10.0))
        state.save()
        state.record(second, measurement(99.0))
        state.save()
        state.record(second, measurement(5.0))
        state.record(third, measurement(20.0))
        state.save()
    return directory


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.ckpt")}


@pytest.mark.parametrize(
    ("which", "name"),
    [("0", "0.ckpt"), ("--latest", "2.ckpt"), ("latest", "2.ckpt"), ("--best", "1.ckpt")],
)
def test_one_is_downloaded_as_it_is(run, source: Path, tmp_path: Path, which, name) -> None:
    where = ["--from", f"file://{source}", "--output-dir", "new/place"]
    status, out, err = run("checkpoint", "download", which, *where)
    assert (status, out, err) == (0, f"wrote new/place/{name}\n", "")
    assert files(tmp_path / "new" / "place") == {name: (source / name).read_bytes()}

    status, out, _ = run("checkpoint", "download", which, *where)
    assert (status, out) == (0, f"new/place/{name} already exists\n")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["2"], ["2.ckpt", "1.ckpt"]),
        (["9"], ["2.ckpt", "1.ckpt", "0.ckpt"]),
        (["2", "--order", "asc"], ["0.ckpt", "1.ckpt"]),
        (["2", "--sort-by", "perf_throughput"], ["1.ckpt", "2.ckpt"]),
        (["1", "--sort-by", "perf_throughput", "--order", "asc"], ["0.ckpt"]),
    ],
)
def test_several_are_downloaded(run, source: Path, tmp_path: Path, arguments, names) -> None:
    where = ["--from", str(source), "--output-dir", "new"]

    status, out, err = run("checkpoint", "download", "--top-n", *arguments, *where)

    assert (status, err) == (0, "")
    assert out.splitlines() == [f"wrote new/{name}" for name in names]
    assert files(tmp_path / "new") == {name: (source / name).read_bytes() for name in names}


def test_of_several_damaged_ones_are_left_out(run, source: Path, tmp_path: Path) -> None:
    (source / "2.ckpt").write_bytes(b"")
    where = ["--from", str(source), "--output-dir", "new"]

    status, out, err = run("checkpoint", "download", "--top-n", "1", *where)

    assert (status, out) == (0, "wrote new/1.ckpt\n")
    assert "2 is damaged (it is empty): left out" in err
    for name in ("0.ckpt", "1.ckpt"):
        (source / name).write_bytes(b"")
    err = error_of(run("checkpoint", "download", "--top-n", "1", *where), 1)
    assert err.splitlines()[-1] == f"model-analyzer: {source}: no intact checkpoint found"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["0", "--top-n", "1"], "no checkpoint is named"),
        (["0", "--sort-by", "time"], "--sort-by and --order need --top-n N"),
        (["--top-n", "0"], "--top-n"),
        (["--top-n", "1", "--sort-by", "x"], "--sort-by: unknown metric 'x'"),
    ],
)
def test_several_are_chosen_in_one_way(run, source: Path, arguments, says) -> None:
    err = error_of(
        run("checkpoint", "download", *arguments, "--from", str(source), "--output-dir", "new"), 2
    )
    assert says in err


def test_a_uuid_is_found(run, source: Path, tmp_path: Path) -> None:
    identity = list_checkpoints(source)[1].header.uuid
    status, out, _ = run(
        "checkpoint", "download", identity[:12], "--from", str(source), "--output-dir", "new"
    )
    assert (status, out) == (0, "wrote new/1.ckpt\n")


@pytest.mark.parametrize("arguments", [[], ["0", "--best"]])
def test_exactly_one_is_to_be_named(run, source: Path, tmp_path: Path, arguments) -> None:
    err = error_of(
        run("checkpoint", "download", *arguments, "--from", str(source), "--output-dir", "new"), 2
    )
    assert "no checkpoint is named" in err
    assert not (tmp_path / "new").exists()


def test_an_unknown_one_is_one_line(run, source: Path, tmp_path: Path) -> None:
    status, out, err = run(
        "checkpoint", "download", "17", "--from", str(source), "--output-dir", "new"
    )
    assert (status, out, err) == (
        2,
        "",
        f"model-analyzer: {source}: no checkpoint '17': there are 0, 1, 2\n",
    )
    assert not (tmp_path / "new").exists()


def test_what_is_there_is_not_overwritten(run, source: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "0.ckpt").write_text("mine")
    err = error_of(
        run("checkpoint", "download", "0", "--from", str(source), "--output-dir", "new"), 1
    )
    assert err == "model-analyzer: new/0.ckpt: exists, and is another checkpoint\n"
    assert (tmp_path / "new" / "0.ckpt").read_text() == "mine"


def test_a_damaged_one_gets_no_name(run, source: Path, tmp_path: Path) -> None:
    data = (source / "2.ckpt").read_bytes()
    (source / "2.ckpt").write_bytes(data.replace(b"m_config_default", b"m_config_defaulT", 1))
    where = ["--from", f"file://{source}", "--output-dir", "new"]
    err = error_of(run("checkpoint", "download", "2", *where), 1)
    assert err.startswith(f"model-analyzer: {source}: 2.ckpt is damaged")
    assert not (tmp_path / "new").exists()
    assert run("checkpoint", "download", "--latest", *where)[1] == "wrote new/1.ckpt\n"


@pytest.mark.parametrize("prefix", ["../x", "a/b", "/x"])
def test_nothing_is_written_outside(run, source: Path, tmp_path: Path, prefix: str) -> None:
    for command in (["download", "0", "--from", str(source)], ["upload", "--to", str(source)]):
        status, _, err = run(
            "checkpoint", *command, "--checkpoint-prefix", prefix,
            *(["--output-dir", "new"] if command[0] == "download" else []),
        )  # fmt: skip
        assert status == 2
        assert "expected a name of letters" in err


def test_all_are_uploaded_once(run, source: Path, tmp_path: Path) -> None:
    arguments = ["checkpoint", "upload", "-s", "source", "--to", f"file://{tmp_path}/store"]
    status, out, err = run(*arguments)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        f"uploaded {number}.ckpt to {tmp_path}/store" for number in range(3)
    ]
    assert files(tmp_path / "store") == files(source)
    assert run(*arguments)[0] == 0
    assert files(tmp_path / "store") == files(source)


def test_one_is_uploaded(run, source: Path, tmp_path: Path) -> None:
    status, out, _ = run("checkpoint", "upload", "best", "-s", "source", "--to", "store")
    assert (status, out) == (0, "uploaded 1.ckpt to store\n")
    assert files(tmp_path / "store") == {"1.ckpt": (source / "1.ckpt").read_bytes()}


def test_another_of_the_same_number_stays(run, source: Path, tmp_path: Path) -> None:
    with ProfileState(tmp_path / "store") as state:
        state.record(several(5)[4], measurement())
        kept = state.save()
    assert kept is not None
    before = kept.read_bytes()
    status, out, _ = run("checkpoint", "upload", "0", "-s", "source", "--to", "store")
    assert (status, out) == (0, "uploaded 0.ckpt to store as number 1\n")
    assert kept.read_bytes() == before


def test_damaged_ones_are_not_uploaded_but_named(run, source: Path, tmp_path: Path) -> None:
    (source / "1.ckpt").write_bytes(b"")
    status, out, err = run("checkpoint", "upload", "-s", "source", "--to", "store")
    assert status == 1
    assert "1.ckpt is damaged (it is empty)" in err
    assert sorted(files(tmp_path / "store")) == ["0.ckpt", "2.ckpt"]
    assert out.count("uploaded") == 2


def test_nothing_to_upload_is_one_line(run) -> None:
    err = error_of(run("checkpoint", "upload", "--to", "store"), 2)
    assert err.startswith("model-analyzer: checkpoints: no checkpoint found")


def test_credentials_are_not_shown(run, source: Path) -> None:
    status, out, err = run(
        "checkpoint", "upload", "-s", "source", "--to", "nowhere://me:s3cr3t@bucket/x"
    )
    assert status == 2
    assert "nowhere://******@bucket/x" in err
    assert "s3cr3t" not in out + err


def test_a_run_uploads_what_it_saves(setting) -> None:
    store = setting.directory / "store"
    output = setting.succeeds("--checkpoint-storage", f"file://{store}")
    assert f"Uploaded {setting.directory}/checkpoints/0.ckpt to {store}" in output
    assert files(store) == files(setting.directory / "checkpoints")


def test_a_store_that_does_not_work_changes_no_status_and_an_interrupt_ends_the_wait(
    setting,
) -> None:
    (setting.directory / "file").touch()
    store = setting.directory / "file" / "store"
    process = setting.start("--checkpoint-storage", str(store))
    output, began = "", -math.inf
    for line in process.stdout:
        output += line
        if "waiting up to 30 s" in line:
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
        if "Not uploaded" in line:
            break
    assert time.monotonic() - began < 20
    output += process.communicate(timeout=180)[0]
    assert process.returncode == 0
    assert f"Not uploaded to {store}: {setting.directory}/checkpoints/0.ckpt" in output
    assert (
        "model-analyzer checkpoint upload --checkpoint-directory"
        f" {setting.directory}/checkpoints --to {store}" in output
    )
    assert setting.checkpoints == ["0.ckpt"]


def test_a_url_that_cannot_be_used_stops_before_anything_is_measured(setting) -> None:
    output = setting.fails(2, checkpoint_storage="nowhere://me:s3cr3t@bucket")
    assert "nowhere://******@bucket" in output
    assert "s3cr3t" not in output
    assert setting.checkpoints == []
