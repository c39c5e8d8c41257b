# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a report: the time from a checkpoint to the page, its size, and opening it.

    python benchmarks/reports.py [--sizes 1000 10000 100000] [--keep DIR] [--chromium PROGRAM]

Creating a page runs in a separate process, measured from its start to its end, with its peak
memory. CPU time includes the process that draws charts. A page is open when its answer, its first
chart and the first rows of its table are visible. A step of the limit's handle ends when answer,
table and chart show it; the columns have the median and the longest of 40 steps.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from model_analyzer.cli.main import GARBAGE_THRESHOLD
from model_analyzer.domain.goals import Constraint, Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import DEFAULT_SUFFIX
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.reports.alternatives import Deployment
from model_analyzer.reports.build import ReportOrigin, build_page
from model_analyzer.reports.html import render_summary
from model_analyzer.reports.images import Images
from model_analyzer.results.answer import ModelAnswer, answer_of
from model_analyzer.results.ranking import rank
from model_analyzer.state.checkpoint import Checkpoint, read_file
from model_analyzer.state.format.codec import Encoder, encode
from model_analyzer.state.format.header import Header
from model_analyzer.state.records import Records

GOAL = Goal(models=(ModelGoal(constraints=(Constraint(tag="perf_latency_p99", maximum=50),)),))


def measured(number: int) -> Measurement:
    """A plausible measurement: variants differ, throughput saturates, latency grows, with noise."""
    from benchmarks import checkpoints  # imported here: not part of the cost of a report

    flat = checkpoints.measurement(number)
    variant, load = divmod(number, checkpoints.LOADS)
    noise = random.Random(number).gauss(1, 0.02)
    limit = 200 + 1800 * random.Random(variant).random()
    throughput = limit * (load + 1) / (load + 5) * noise
    values = checkpoints.values_of(load + 1, throughput)
    return replace(flat, models=(replace(flat.models[0], values=values),))


def tried(number: int) -> Trial:
    """The trial with this number; the first variant is the default."""
    from benchmarks import checkpoints

    trial = checkpoints.trial(number)
    if number >= checkpoints.LOADS:
        return trial
    work = trial.workloads[0]
    default = replace(work.variant, name=work.variant.model + DEFAULT_SUFFIX)
    return replace(trial, workloads=(replace(work, variant=default),))


def checkpoint(path: Path, count: int) -> None:
    made, encoder = Records(), Encoder()
    for number in range(count):
        trial = tried(number)
        for entry in encoder.record(trial.key, TrialRecord(trial=trial, outcome=measured(number))):
            made.take(entry, encode(entry))
    path.write_bytes(Checkpoint(records=made, header=Header(uuid="benchmark")).to_bytes())


def make(source: Path, target: Path) -> None:
    """Creates a summary from a checkpoint, like `analyze`; prints seconds and peak memory (MB)."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    begin = time.perf_counter()
    profile = read_file(source).profile
    loaded = time.perf_counter()
    (ranking,) = rank(profile, "resnet", GOAL)
    ranked = time.perf_counter()
    origin = ReportOrigin(host=profile.host, devices=(), written="now", checkpoint=str(source))
    answer = ModelAnswer(model="resnet", answers=(answer_of(ranking),))
    page = build_page(answer, [Deployment()], best=3, origin=origin, complete=True)
    with Images() as images:
        target.write_text(render_summary(page, images.svg(page.charts, "resnet")))
    status = Path("/proc/self/status").read_text().splitlines()
    (high_water,) = (line for line in status if line.startswith("VmHWM:"))
    costs = {
        "load": loaded - begin,
        "rank": ranked - loaded,
        "page": time.perf_counter() - ranked,
        "cpu": sum(os.times()[:4]),
        "peak_mb": int(high_water.split()[1]) * 1024 / 1e6,
    }
    print(json.dumps(costs))


# Moves the limit over the axis in 40 steps; gives the milliseconds of each.
_DRAG = """async () => {
  const [[view]] = charts.drawn(), [budget] = budgets, times = [];
  const width = view.signal("width");
  for (let step = 1; step <= 40; step++) {
    const begin = performance.now();
    budget.set(view.scale("x").invert(width * step / 41));
    await view.runAsync();
    times.push(performance.now() - begin);
    await new Promise(requestAnimationFrame);
  }
  return times;
}"""


def opened(page: Path, program: str) -> tuple[float, float, float]:
    """Seconds until the page is usable in Chromium, which must not report errors; the milliseconds
    of the median and of the longest step of its limit.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-quic"]
        )
        window = browser.new_page(viewport={"width": 1280, "height": 900})
        complaints: list[str] = []
        window.on("console", lambda message: complaints.append(message.text))
        window.on("pageerror", lambda error: complaints.append(str(error)))
        window.goto("about:blank")
        begin = time.perf_counter()
        window.goto(page.as_uri())
        window.wait_for_selector(".rows tbody tr", state="attached")
        window.wait_for_selector("figure .live svg", state="attached")
        seconds = time.perf_counter() - begin
        steps = sorted(window.evaluate(_DRAG))
        browser.close()
    assert not complaints, complaints
    return seconds, steps[len(steps) // 2], steps[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--keep", type=Path, help="where checkpoints and pages are kept")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--make", type=Path, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make(*arguments.make)
        return
    print(
        "measurements  process [s]  load  rank  page   CPU [s]  peak memory [MB]"
        "  page [MB]  opened [s]  step [ms]  longest [ms]"
    )
    with tempfile.TemporaryDirectory() as scratch:
        directory = arguments.keep or Path(scratch)
        directory.mkdir(exist_ok=True)
        for size in arguments.sizes:
            source, page = directory / f"{size}.ckpt", directory / f"{size}.html"
            if not source.exists():
                checkpoint(source, size)
            begin = time.perf_counter()
            done = subprocess.run(
                [sys.executable, __file__, "--make", str(source), str(page)],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            seconds = time.perf_counter() - begin
            costs = json.loads(done.stdout)
            in_browser = ""
            if arguments.chromium:
                open_s, step_ms, longest_ms = opened(page, arguments.chromium)
                in_browser = f"{open_s:10.2f}  {step_ms:9.1f}  {longest_ms:12.1f}"
            print(
                f"{size:12,}  {seconds:11.2f}  {costs['load']:4.1f}  {costs['rank']:4.1f}"
                f"  {costs['page']:4.1f}  {costs['cpu']:8.2f}  {costs['peak_mb']:16.0f}"
                f"  {page.stat().st_size / 1e6:9.2f}  {in_browser}"
            )


if __name__ == "__main__":
    main()
