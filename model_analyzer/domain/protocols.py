# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The interfaces between the rooms, each with at least two implementations (fakes count)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

from model_analyzer.domain.measurements import (
    ModelMeasurement,
    Notice,
    Observation,
    Outcome,
    ServerStatistics,
)
from model_analyzer.domain.models import ModelVariant, empty
from model_analyzer.domain.profiles import Conclusion, Outlook
from model_analyzer.domain.settings import Protocol as ClientProtocol
from model_analyzer.domain.slots import Asked, Finished, Lane, Slot, Unfinished
from model_analyzer.domain.trials import Failure, ServerSetup, Trial, Workload


class Search(Protocol):
    """Proposes what to measure next. The same calls in the same order give the same trials."""

    @property
    def most_trials(self) -> int | None:
        """The largest possible number of trials, to show the progress; None if unknown."""

    def ask(self) -> Trial | None:
        """The next trial. None if it depends on outcomes that are missing; if none is missing, the
        search has ended.
        """

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        """Gives the search the outcome of a trial that `ask` returned: once for each time that
        `ask` returned it, in any order.
        """

    @property
    def outlook(self) -> Outlook | None:
        """What further trials could bring, when `ask` was called last; None if it is unknown."""

    @property
    def conclusion(self) -> Conclusion | None:
        """The conclusion of a search that has ended, if it draws one."""


class Runner(Protocol):
    """Measures trials, one at a time."""

    def run(self, trial: Trial) -> Outcome:
        """The outcome of `trial`. Raises only if no further trial can be measured."""


class Executor(Protocol):
    """Slots that measure trials in parallel."""

    @property
    def slots(self) -> Sequence[Slot]:
        """All working slots."""

    @property
    def free(self) -> Sequence[Slot]:
        """The slots without a trial."""

    def start(self, trial: Trial, slot: Slot, *, is_test: bool = False) -> None:
        """Starts to measure a trial on a free slot. If it `is_test`, its outcome is none of the
        run, and nothing may store it.
        """

    def wait(self) -> Finished | Unfinished | None:
        """The next trial that has finished or was lost, or that takes long; None if instead a slot
        works again, or will not work any more. At least one trial must be running, or one slot
        starting. Raises only if no further trial can be measured.
        """


class State(Protocol):
    """Remembers outcomes."""

    def outcome_of(self, trial: Trial) -> Outcome | None:
        """The recorded outcome of a trial with this key, if it may be used again: a round
        may not if `round_s` is None.
        """

    def record(self, trial: Trial, outcome: Outcome, node: str = "") -> None:
        """Stores the outcome, which a cluster node has measured if one is given: it is on disk when
        this returns. Doing so twice is fine.
        """

    def record_loss(self, trial: Trial, node: str) -> Outcome | None:
        """Counts a trial that was lost on a cluster node; "" is none. If the node has stored an
        outcome, that is the result, and nothing is counted.
        """

    def asked(self, lane: Lane) -> Sequence[Asked]:
        """The trials that a search was asked for, if several ran in parallel."""

    def record_asked(self, lane: Lane, number: int, asked: Asked) -> None:
        """Keep a question, on disk when this returns. It replaces all from `number` on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """How perf_analyzer reaches a variant: its flags and environment variables.

    If there is a `load_timeout_s`, the server is inside perf_analyzer, and the model must be loaded
    within this number of seconds.
    """

    flags: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=empty)
    load_timeout_s: float | None = None


class Server(Protocol):
    """A Triton server that can be made to serve variants."""

    @property
    def description(self) -> str:
        """The server in words."""

    def version(self, setup: ServerSetup) -> str:
        """The server's version. Raises ServerError if it does not start."""

    def serve(self, variants: Sequence[ModelVariant], setup: ServerSetup) -> Failure | None:
        """Loads these variants and those that they call, unloads all others, and waits until the
        loaded ones are ready.
        """

    def discard(self) -> None:
        """Ends the server: the next `serve` starts a new one. Doing so twice is fine."""

    def route(self, variant: ModelVariant, protocol: ClientProtocol) -> Route:
        """How the load generator reaches a variant of the last `serve`."""

    def statistics(self, variants: Sequence[ModelVariant]) -> ServerStatistics:
        """The counts of the server for these variants and those that they call, since it loaded
        them. Empty if the server provides none.
        """

    @property
    def is_alive(self) -> bool:
        """False if the server is known to have ended."""

    def stubs(self) -> Sequence[int]:
        """The ids of its processes that run Python models, if they are visible from here."""

    def log_tail(self) -> tuple[str, ...]:
        """The last lines of the server's log that explain a failure."""

    def begin_stop(self) -> None:
        """Asks the server to end, without waiting for it."""

    def stop(self) -> None:
        """Waits for the server to end."""


class Readings(Protocol):
    """The results of a load generator: one measurement for each workload, in order."""

    @property
    def models(self) -> tuple[ModelMeasurement, ...]: ...

    @property
    def statistics(self) -> ServerStatistics: ...

    @property
    def notices(self) -> tuple[Notice, ...]: ...

    @property
    def commands(self) -> tuple[str, ...]: ...

    @property
    def during(self) -> tuple[float, float] | None:
        """The times, in seconds since the epoch, between which all requests were measured; None if
        they are unknown.
        """


class LoadGenerator(Protocol):
    """Sends the requests of workloads to a server, and measures the answers."""

    def generate(
        self,
        workloads: Sequence[Workload],
        server: Server,
        round_s: float | None,
        part: int,
        limit_s: float | None,
    ) -> Readings | Failure:
        """Readings for all workloads, or the reason why there are none. For `round_s` and
        `limit_s`, see `Trial`. `part` counts the measurements of the same trial: an open load goes
        on with other random times.
        """


class Monitor(Protocol):
    """A context manager that observes the machine; the observation is complete after it exits."""

    def __enter__(self) -> object: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def observation(self) -> Observation: ...
