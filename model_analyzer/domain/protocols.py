# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The interfaces between the rooms, each with at least two implementations (fakes count)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

from model_analyzer.domain.conclusions import Conclusion
from model_analyzer.domain.measurements import ModelMeasurement, Notice, Observation, Outcome
from model_analyzer.domain.models import ModelVariant, empty
from model_analyzer.domain.settings import Protocol as ClientProtocol
from model_analyzer.domain.slots import Asked, Finished, Slot
from model_analyzer.domain.statistics import ServerStatistics
from model_analyzer.domain.trials import Failure, ServerSetup, Trial, Workload


class Search(Protocol):
    """Proposes what to measure next. The same calls in the same order give the same trials."""

    @property
    def most_trials(self) -> int | None:
        """The largest number of trials, for showing progress; None if nobody can tell."""

    def ask(self) -> Trial | None:
        """The next trial. None if it depends on outcomes that are missing; if none is missing, the
        search has ended.
        """

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        """The outcome of a trial that was asked for. Each time that a trial was asked for, its
        outcome is told once, in any order.
        """

    @property
    def conclusion(self) -> Conclusion | None:
        """The conclusion of a search that has ended, if it draws one."""


class Runner(Protocol):
    """Measures trials, one at a time."""

    def run(self, trial: Trial) -> Outcome:
        """The outcome of `trial`. Raises only when no further trial makes sense."""


class Executor(Protocol):
    """Slots that measure trials side by side."""

    @property
    def slots(self) -> Sequence[Slot]:
        """All slots that work."""

    @property
    def free(self) -> Sequence[Slot]:
        """The slots without a trial."""

    def start(self, trial: Trial, slot: Slot) -> None:
        """Begins to measure a trial on a free slot."""

    def wait(self) -> Finished:
        """The next trial that has finished or was lost. There must be one under way. Raises only
        when no further trial makes sense.
        """


class State(Protocol):
    """Remembers outcomes."""

    def outcome_of(self, trial: Trial) -> Outcome | None:
        """What was recorded for a trial with this key, if it is to be used again."""

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Keep the outcome: it is on disk when this returns. Keeping it twice is fine."""

    def asked(self, subject: str) -> Sequence[Asked]:
        """The trials that the search for a subject was asked for, where several were under way."""

    def record_asked(self, subject: str, number: int, asked: Asked) -> None:
        """Keep a question, on disk when this returns. It replaces all from `number` on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """How perf_analyzer reaches a variant: by which flags, with which variables set.

    With `load_timeout_s` the server is inside perf_analyzer, and the model has to be loaded
    after so many seconds.
    """

    flags: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=empty)
    load_timeout_s: float | None = None


class Server(Protocol):
    """A Triton server that can be made to serve variants."""

    @property
    def description(self) -> str:
        """What serves, for people."""

    def version(self, setup: ServerSetup) -> str:
        """The server's version. Raises ServerError where it does not come up."""

    def serve(self, variants: Sequence[ModelVariant], setup: ServerSetup) -> Failure | None:
        """Make these variants (composing ones included) the ones that are loaded and ready."""

    def discard(self) -> None:
        """Throw the server away: the next `serve` starts a fresh one. Twice is fine."""

    def route(self, variant: ModelVariant, protocol: ClientProtocol) -> Route:
        """How the load generator reaches one of the variants served last."""

    def statistics(self, variants: Sequence[ModelVariant]) -> ServerStatistics:
        """What the server has counted of these variants and those that they call, since it loaded
        them. Empty where it does not tell.
        """

    @property
    def is_alive(self) -> bool:
        """Whether the server can still answer, as far as is known."""

    def stubs(self) -> Sequence[int]:
        """The numbers of its processes that run Python models, as far as they are seen here."""

    def log_tail(self) -> tuple[str, ...]:
        """The last telling lines of the server's log."""

    def begin_stop(self) -> None:
        """Ask the server to end, without waiting for it."""

    def stop(self) -> None:
        """Wait for the server to end."""


class Readings(Protocol):
    """What a load generator read: one measurement for each workload, in order."""

    @property
    def models(self) -> tuple[ModelMeasurement, ...]: ...

    @property
    def statistics(self) -> ServerStatistics: ...

    @property
    def notices(self) -> tuple[Notice, ...]: ...

    @property
    def commands(self) -> tuple[str, ...]: ...


class LoadGenerator(Protocol):
    """Puts workloads on a server and reads what comes back."""

    def generate(self, workloads: Sequence[Workload], server: Server) -> Readings | Failure:
        """Readings for all workloads, or why there are none."""


class Monitor(Protocol):
    """Observes the machine while it is entered; the observation is complete after leaving it."""

    def __enter__(self) -> object: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def observation(self) -> Observation: ...
