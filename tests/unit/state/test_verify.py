# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a file, where, and what is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.state.format.codec import FORMAT
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.format.lines import encode
from model_analyzer.state.overview import files_of, verify
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Of three outcomes; there are two more in the journal."""
    with ProfileState(tmp_path) as state:
        for concurrency in (1, 2, 3):
            state.record(trial(concurrency), measurement(concurrency))
        state.save()
        for concurrency in (4, 5):
            state.record(trial(concurrency), measurement(concurrency))
    return tmp_path / "0.ckpt"


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_intact_files_have_no_damage(checkpoint: Path) -> None:
    files = files_of(Layout(checkpoint.parent))

    assert [path.name for path in files] == ["0.ckpt", "journal"]
    assert [(verdict.outcomes, verdict.damage, verdict.loss) for verdict in map(verify, files)] == [
        (3, "", ""),
        (2, "", ""),
    ]
    assert verify(checkpoint).size == checkpoint.stat().st_size


def test_a_flipped_bit_costs_its_line(checkpoint: Path) -> None:
    lines = lines_of(checkpoint)
    place = next(n for n, line in enumerate(lines) if b'"measurement"' in line)
    lines[place] = lines[place].replace(b'"perf_throughput"', b'"perf_throughpux"')
    checkpoint.write_bytes(b"".join(lines))

    verdict = verify(checkpoint)

    assert verdict.damage == f"line {place + 1}: the checksum does not match"
    assert verdict.loss == f"1 of {len(lines) - 1} entries: an outcome of m_config_default"
    assert verdict.outcomes == 2


def test_a_line_that_is_gone_is_counted(checkpoint: Path) -> None:
    lines = lines_of(checkpoint)
    place = next(n for n, line in enumerate(lines) if b'"measurement"' in line)
    checkpoint.write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))

    verdict = verify(checkpoint)

    assert verdict.damage == "the digest does not match"
    assert verdict.loss == f"1 of {len(lines) - 1} entries: an outcome of m_config_default"


def test_lines_in_another_order_lose_nothing(checkpoint: Path) -> None:
    lines = lines_of(checkpoint)
    lines[-3], lines[-2] = lines[-2], lines[-3]
    checkpoint.write_bytes(b"".join(lines))

    verdict = verify(checkpoint)

    assert verdict.damage == "the digest does not match"
    assert verdict.loss == "no entry"
    assert verdict.outcomes == 3


def test_the_loss_of_a_cut_checkpoint_is_unknown(checkpoint: Path) -> None:
    lines = lines_of(checkpoint)
    checkpoint.write_bytes(b"".join(lines[:-2]))

    verdict = verify(checkpoint)

    assert verdict.damage == "the end is missing"
    assert verdict.loss == f"what came after entry {len(lines) - 2}, and the end"


def test_a_torn_journal_loses_its_last_line(checkpoint: Path) -> None:
    journal = checkpoint.with_name("journal")
    lines = lines_of(journal)
    journal.write_bytes(journal.read_bytes()[:-4])

    verdict = verify(journal)

    assert verdict.damage == f"line {len(lines)} is cut off"
    name = f"m_config_default (line {len(lines)})"
    assert verdict.loss == f"1 of {len(lines)} lines: an outcome of {name}"
    assert verdict.outcomes == 1


def test_of_an_empty_or_foreign_file_all_is_lost(checkpoint: Path) -> None:
    for content in (b"", b"something else\n"):
        checkpoint.write_bytes(content)
        assert verify(checkpoint).damage
        assert verify(checkpoint).loss == "all of it"


def test_missing_and_too_new_files_are_reported(checkpoint: Path) -> None:
    assert verify(checkpoint.with_name("7.ckpt")).damage.startswith("cannot be read")
    checkpoint.write_bytes(encode({"entry": "header", "format": FORMAT + 1}))
    assert verify(checkpoint).damage.startswith(f"written in format {FORMAT + 1} by a newer")
