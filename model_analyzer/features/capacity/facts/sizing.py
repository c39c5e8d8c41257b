# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How many replicas serve a rate, how sure that is, and what happens at other rates.

Requests that are dealt out in turn arrive at each replica more evenly than Poisson arrivals at the
same rate, which were measured. So the promise errs on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass

from model_analyzer.domain.goals import Constraint
from model_analyzer.features.capacity.facts.capacity import ModelCapacity
from model_analyzer.features.capacity.facts.points import Carried, at_rate, replicas_for

# The rates beside the requested one, as shares of it.
_OTHER_RATES = (0.8, 1.0, 1.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """`rate` requests per second that all replicas together must serve. `headroom` is the share of
    the rate that they could serve beyond it. `per_node` replicas fit on a node; None if nodes are
    not asked for.
    """

    rate: float
    headroom: float = 0.2
    per_node: int | None = None

    @property
    def with_headroom(self) -> float:
        return self.rate * (1 + self.headroom)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number of replicas with its 95 % interval; an end is None if it is unknown."""

    number: int
    fewest: int | None
    most: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateOutlook:
    """What a `rate` needs, and what it does to the planned replicas: each gets `each` requests per
    second. `holds` says whether they keep the constraints; None if that is not certain, by the 95 %
    interval of what each carries.
    `values` has each constraint with the metric at that rate (None if not measured).
    """

    rate: float
    replicas: int
    each: float
    holds: bool | None
    values: tuple[tuple[Constraint, float | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """The answer for a demand; `nodes` is None if nodes are not asked for. So many replicas are
    `enough` to serve the rate, without headroom, as surely as the measurements tell; None if no
    number is.
    """

    demand: Demand
    replicas: Count
    nodes: int | None
    enough: int | None
    outlooks: tuple[RateOutlook, ...]

    @property
    def is_certain(self) -> bool:
        """Whether the planned replicas surely serve the rate, by the same interval."""
        return self.enough is not None and self.replicas.number >= self.enough


def sizing_of(capacity: ModelCapacity, demand: Demand) -> Sizing | None:
    """The answer for a demand; None if it is unknown what one server carries."""
    replica = capacity.replica
    carried = replica.carried
    if carried is None:
        return None
    needed = demand.with_headroom
    count = Count(
        number=replicas_for(needed, carried.rate),
        fewest=None if carried.high is None else replicas_for(needed, carried.high),
        most=None if carried.low is None else replicas_for(needed, carried.low),
    )
    nodes = None if demand.per_node is None else -(-count.number // demand.per_node)
    return Sizing(
        demand=demand,
        replicas=count,
        nodes=nodes,
        enough=None if carried.low is None else replicas_for(demand.rate, carried.low),
        outlooks=tuple(
            _outlook(capacity, demand, share * demand.rate, count.number) for share in _OTHER_RATES
        ),
    )


def _outlook(capacity: ModelCapacity, demand: Demand, rate: float, planned: int) -> RateOutlook:
    replica, carried = capacity.replica, capacity.replica.carried
    assert carried is not None, "the caller checks it"
    each = rate / planned
    return RateOutlook(
        rate=rate,
        replicas=replicas_for(rate * (1 + demand.headroom), carried.rate),
        each=each,
        holds=_holds(carried, each),
        values=tuple(
            (limit, at_rate(replica.points, limit.tag, each)) for limit in capacity.constraints
        ),
    )


def _holds(carried: Carried, rate: float) -> bool | None:
    if carried.low is not None and replicas_for(rate, carried.low) == 1:
        return True
    return False if carried.high is not None and rate > carried.high else None
