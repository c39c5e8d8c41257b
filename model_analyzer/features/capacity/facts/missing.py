# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which measurement is missing to say, or to say more exactly, what one server carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from model_analyzer.domain.models import ModelVariant
from model_analyzer.features.capacity.facts.points import Carried, Lack, Loads

# Between a rate that keeps the constraints and the next one that breaks them: at most this ratio.
_CLOSE = 1.25

# First rates to measure, as shares of the highest throughput.
_FIRST = (0.5, 0.7, 0.85)

# Rates to try below the lowest that breaks a constraint, and above the highest that keeps all.
_BELOW, _ABOVE = (0.4, 0.65), (1.25, 1.5)

# No measurement is worth it if less than this share can be gained.
_WORTH = 0.1


class Gap(Enum):
    """What the usable measurements leave open."""

    NOTHING = "nothing was measured with such requests"
    ALL_BREAK = "even the lowest measured rate breaks a constraint"
    ALL_KEEP = "no measured rate breaks a constraint, so a server may carry more"
    WIDE = "the rates that keep and that break the constraints are far apart"
    CONTRADICTORY = "a higher rate keeps a constraint that a lower one breaks"
    UNSURE = "given the noise, it is not certain which rates keep the constraints"
    BELOW_ONE = "it needs a rate below 1 request/s, the lowest that is measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A measurement to take: of the `variant` with Poisson arrivals of requests of `batch_size`
    inferences, at `rates` (requests per second, ascending; none if no rate can be proposed). Rates
    that were measured already are repeated. `is_needed`: without it, nothing can be said.
    """

    variant: ModelVariant
    batch_size: int
    rates: tuple[int, ...]
    reason: Lack | Gap
    is_needed: bool


def missing_of(
    variant: ModelVariant,
    batch_size: int,
    loads: Loads,
    keeping: Sequence[float],
    carried: Carried | None,
    most: float | None,
) -> Missing | None:
    """The most useful missing measurement of a variant; None if nothing is worth measuring.

    `keeping` are the measured rates that keep the constraints, `most` is the highest rate of
    requests that the server ever answered, under any load.
    """
    if not loads.points:
        gap: _Gap | None = _nothing_usable(loads.unfit, most)
    elif carried is None:
        lowest = loads.points[0].rate
        lower = [share * lowest for share in _BELOW]
        gap = Gap.ALL_BREAK, [rate for rate in lower if round(rate) < lowest]
    else:
        gap = _left_open([point.rate for point in loads.points], keeping, carried, most)
    if gap is None:
        return None
    reason, wanted = gap
    rates = tuple(sorted({round(rate) for rate in wanted if round(rate)}))
    if wanted and not rates:
        reason = Gap.BELOW_ONE
    return Missing(
        variant=variant,
        batch_size=batch_size,
        rates=rates,
        reason=reason,
        is_needed=carried is None,
    )


_Gap = tuple[Lack | Gap, Sequence[float]]


def _nothing_usable(unfit: Mapping[Lack, Sequence[float]], most: float | None) -> _Gap:
    """The gap if no measurement can be used: it is named after the most useful one."""
    lack = next((lack for lack in Lack if lack in unfit), None)
    match lack:
        case Lack.FEW_REQUESTS | Lack.NO_METRIC:
            return lack, unfit[lack]
        case Lack.FAILED if most is None:
            return lack, [share * min(unfit[lack]) for share in _BELOW]
    return lack or Gap.NOTHING, [share * most for share in _FIRST] if most else []


def _left_open(
    rates: Sequence[float], keeping: Sequence[float], carried: Carried, most: float | None
) -> _Gap | None:
    """What the measurements leave open, although they tell a rate."""
    broken, highest = carried.broken, max(keeping, default=0.0)
    disturbed = [rate for rate in rates if rate < highest and rate not in keeping]
    if disturbed:
        return Gap.CONTRADICTORY, [disturbed[0], highest]
    if broken is None:
        higher = [*_higher(carried.kept, most)]
        return (Gap.ALL_KEEP, higher) if higher else None
    if carried.low is None:
        return Gap.UNSURE, [_BELOW[-1] * rates[0], carried.kept]
    if _CLOSE * carried.low < carried.kept:
        return Gap.UNSURE, [carried.kept]
    if broken > _CLOSE * carried.kept:
        # near the estimate, and not too near to either
        third = (broken - carried.kept) / 3
        return Gap.WIDE, [min(max(carried.rate, carried.kept + third), broken - third)]
    return None


def _higher(kept: float, most: float | None) -> Iterator[float]:
    """Rates above one that keeps all constraints, up to what the server ever answered."""
    if most is None or most <= kept:
        yield from (share * kept for share in _ABOVE)
    elif most > (1 + _WORTH) * kept:
        yield from ((kept + most) / 2, most)
