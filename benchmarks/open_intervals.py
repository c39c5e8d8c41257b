# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The same as `intervals.py` for open loads: requests arrive at random, and wait in a queue.

    python benchmarks/open_intervals.py --cases 400

Servers of one to four instances are simulated request by request, with Poisson and gamma arrivals,
from a fifth to four fifths of their capacity. Each case has up to four rounds, as long as a
search makes them; the interval should hold what 60,000 requests give.
"""

from __future__ import annotations

import argparse
import heapq
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.intervals import Case, Row, judged, nanoseconds, request, show
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial, Workload
from model_analyzer.noise.first_look import first_look_s
from model_analyzer.noise.lag import SEND_LAG
from model_analyzer.runner.load.profile_export import Export, Requests
from model_analyzer.runner.load.sampling import Offered, sampled
from model_analyzer.runner.load.schedule import Times, due_times, intended
from model_analyzer.search.refine import measured_again

_ROUNDS, _LONG = 4, 60_000
_CASES_IN_RUN = 5
_NS = 1e9
# perf_analyzer sends somewhat longer than its windows last
_MORE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Instances that answer one request each, which takes `service_s` on average."""

    rate: int
    cv: float
    instances: int
    service_s: float
    variation: float  # of the times, as standard deviation over mean

    @property
    def trial(self) -> Trial:
        work = Workload(
            variant=ModelVariant(model="m", name="m_config_0", config={}, files=""),
            load=Load(kind=LoadKind.REQUEST_RATE, value=self.rate, batch_size=1),
            traffic=Traffic(arrivals=Arrivals.GAMMA, cv=self.cv),
        )
        return Trial(workloads=(work,), setup=ServerSetup(), round_s=0.0)

    def answered(self, due: Times, seconds: float, random: np.random.Generator) -> Export:
        """The export of `seconds` in which requests are sent when they are due."""
        free, requests = [0.0] * self.instances, []
        shape = 1 / self.variation**2
        for sent in (due / _NS).tolist():
            if sent >= seconds:
                break
            end = max(sent, heapq.heappop(free))
            end += random.gamma(shape, self.service_s / shape)
            heapq.heappush(free, end)
            requests.append(request(sent, end))
        bounds = [nanoseconds(seconds * part / 3) for part in range(4)]
        requests.sort(key=lambda each: each.ended)
        return Export(Requests.of(requests), bounds)

    def measured(self, seconds: float, part: int, random: np.random.Generator) -> Measurement:
        """A round; its number makes its arrivals."""
        (work,) = self.trial.workloads
        assert work.traffic is not None
        more = 2 * seconds + _MORE_S
        due = due_times(work.traffic, rate=self.rate, seconds=more, part=part, stratum_s=seconds)
        moved = intended(self.answered(due, seconds, random), due)
        offered = Offered(moved.due, self.rate)
        model = sampled(moved.export, in_flight=0, batch_size=1, with_tokens=False, offered=offered)
        if model is None:  # no request ended: the runner measures for longer, too
            return self.measured(3 * seconds, part, random)
        return Measurement(models=(replace(model, values={**model.values, SEND_LAG: 0.1}),))


def simulated_run(number: int) -> list[Case]:
    """Five cases of one run."""
    random = np.random.default_rng(number)
    cases = []
    for _ in range(_CASES_IN_RUN):
        rate, instances = (
            int(np.exp(random.uniform(np.log(20), np.log(1000)))),
            random.integers(1, 5),
        )
        server = Server(
            rate=rate,
            cv=float(random.choice([1, 1, 1.5, 2, 3])),
            instances=int(instances),
            service_s=float(random.uniform(0.2, 0.8) * instances / rate),
            variation=float(random.choice([0.05, 0.3, 1])),
        )
        rounds: list[Measurement] = []
        for attempt in range(_ROUNDS):
            asked_s = measured_again(server.trial, attempt, rounds).round_s
            part = int(random.integers(0, 2**31))
            rounds.append(server.measured(asked_s or first_look_s(rate, 0), part, random))
        long = server.measured(_LONG / rate, int(random.integers(0, 2**31)), random)
        cases.append(Case(name=str(server), rounds=rounds, long=long))
    return cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument(
        "--first", type=int, default=0, help="the first run; others have other cases"
    )
    given = parser.parse_args()
    rows: list[Row] = []
    for number in range(given.first, given.first + given.cases // _CASES_IN_RUN):
        rows += judged(simulated_run(number), _ROUNDS)
    show(rows)


if __name__ == "__main__":
    main()
