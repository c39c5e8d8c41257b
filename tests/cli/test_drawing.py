# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where charts cannot be drawn, everything else is written, and a line says what is missing."""

from __future__ import annotations

import json
import os
import re
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.format.codec import Encoder, encode
from model_analyzer.state.format.header import Header
from model_analyzer.state.records import Records
from tests.browser.pages import measured
from tests.sizes import small_and_full
from tests.unit.builders import record, variant

Run = Callable[..., tuple[int, str, str]]

DEFAULT, BEST = "m_config_default", "m_config_0"


def checkpoint(directory: Path, loads: int) -> None:
    """A checkpoint of two variants, each under so many loads."""
    directory.mkdir()
    records, encoder = Records(), Encoder()
    for instances, name in enumerate((DEFAULT, BEST), 1):
        tried = variant(name, max_batch_size=instances, backend="python")
        for concurrency in range(1, loads + 1):
            values = measured(instances, instances, concurrency)
            made: TrialRecord = record(tried, values, concurrency=concurrency)
            for entry in encoder.record(made.trial.key, made):
                records.take(entry, encode(entry))
    content = Checkpoint(records=records, header=Header(uuid="drawing")).to_bytes()
    (directory / "0.ckpt").write_bytes(content)


def addresses(gigabytes: int) -> Callable[[], None]:
    """What ulimit -v of a batch system does."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (gigabytes * 10**9, gigabytes * 10**9))

    return limit


ANALYZE = ("analyze", "--profile-models", "m", "-m", "models", "-s", "checkpoints", "-e", "out")
REPORT = ("report", "-n", f"{DEFAULT},{BEST}", "-s", "checkpoints", "-e", "out")


@small_and_full("gigabytes", 16, 4)
@pytest.mark.parametrize("command", [ANALYZE, REPORT], ids=["analyze", "report"])
def test_with_few_addresses_everything_but_the_pictures_is_written(
    run: Run, tmp_path: Path, command: tuple[str, ...], gigabytes: int
) -> None:
    checkpoint(tmp_path / "checkpoints", 4)
    stale = tmp_path / f"out/plots/simple/{'m' if command is ANALYZE else BEST}"
    stale.mkdir(parents=True)
    (stale / "throughput_v_latency.png").write_text("of an earlier run")

    status, output, error = run(
        *command, "-o", "html,png,csv,json,md", preexec_fn=addresses(gigabytes)
    )

    assert status == 0, error
    (line,) = [line for line in output.splitlines() if "not drawn" in line]
    assert re.search(
        rf"WARNING: \d+ charts not drawn \(\S+ of \S+, .* and \d+ more\): the renderer ran out of"
        rf" memory \(ulimit -v is {gigabytes}\.0 GB; V8, which draws charts, needs about 70 GB of"
        r" address space\); everything else is complete, and pages draw their charts in a browser$",
        line,
    )
    assert "Traceback" not in output + error
    assert "C stack trace" not in output + error
    assert not list((tmp_path / "out").rglob("*.png"))
    pages = list((tmp_path / "out/reports").rglob("*.html"))
    assert pages
    for page in pages:
        text = page.read_text()
        assert '<p class="missing">Not drawn: the renderer ran out of memory (' in text
        assert '"specs":{"' in text  # what the browser draws
    assert list((tmp_path / "out/reports").rglob("*.md"))
    if command is ANALYZE:
        assert (tmp_path / "out/results/metrics-model-inference.csv").exists()
        assert (tmp_path / "out/best/m/config.pbtxt").exists()
        assert len(json.loads((tmp_path / "out/results/results.json").read_text())["models"]) == 1


def test_a_run_with_few_addresses_gives_its_answer(setting) -> None:
    setting.draws = True

    process = setting.start(skip_detailed_reports=False, preexec_fn=addresses(16))
    output, _ = process.communicate(timeout=600)

    assert process.returncode == 0, output
    assert output.count(" not drawn (") == 1
    assert "WARNING" in output
    assert (setting.directory / "best/m/config.pbtxt").exists()
    assert (setting.directory / "results/metrics-model-inference.csv").exists()
    assert list((setting.directory / "reports/detailed").rglob("*.html"))


def test_paper_says_which_charts_are_missing_and_is_printed(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("weasyprint")
    checkpoint(tmp_path / "checkpoints", 4)

    status, output, error = run(
        "report", "-n", BEST, "-s", "checkpoints", "-e", "out", "-o", "pdf",
        preexec_fn=addresses(16),
    )  # fmt: skip

    assert status == 0, error
    assert "charts not drawn" in output
    (page,) = (tmp_path / "out").rglob("*.pdf")
    assert page.read_bytes().startswith(b"%PDF-")


def test_a_variant_with_thousands_of_loads_is_drawn(run: Run, tmp_path: Path) -> None:
    checkpoint(tmp_path / "checkpoints", 3000)

    status, output, error = run("report", "-n", BEST, "-s", "checkpoints", "-e", "out")

    assert status == 0, output + error
    assert "not drawn" not in output
    (page,) = (tmp_path / "out").rglob("*.html")
    text = page.read_text()
    assert "40 of 3000 loads are shown." in text
    assert re.search(r"\d{2,3} of 3000 points on lines are shown", text)
    cells = json.loads(re.search(r'id="rows">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    assert sum(cells["counts"]) == 3000
    images = {path.name for path in (tmp_path / "out/plots").rglob("*.png")}
    assert {"latency_breakdown.png", "throughput_v_latency.png"} <= images


def test_a_pdf_that_cannot_be_printed_is_named_and_the_rest_is_written(
    run: Run, tmp_path: Path
) -> None:
    checkpoint(tmp_path / "checkpoints", 4)
    broken = tmp_path / "broken"
    broken.mkdir()
    # the command asks beforehand whether it is there; the process that prints is another
    (broken / "weasyprint.py").write_text("import os\ndef HTML(**_): os.abort()\n")
    path = os.pathsep.join(filter(None, [str(broken), os.environ.get("PYTHONPATH")]))

    status, output, error = run(
        "report", "-n", BEST, "-s", "checkpoints", "-e", "out", "-o", "pdf,png",
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip

    assert status == 0, error
    assert (
        f"1 PDF not drawn (detailed_report of {BEST}): the renderer was ended by SIGABRT;"
        " everything else is complete" in output
    )
    assert not list((tmp_path / "out").rglob("*.pdf"))
    assert list((tmp_path / "out").rglob("*.html"))
    assert list((tmp_path / "out").rglob("*.png"))
