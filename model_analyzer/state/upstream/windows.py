# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Windows that upstream enlarged by itself, where perf_analyzer found no stable result: part of a
measurement, not of what a user asked for.

An enlarged interval is in the key of its measurement. An enlarged count of requests is in no key:
the run configuration tells that of the first measurement of its variants, as an integer, where
what a user gave is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from model_analyzer.domain.measurements import Notice, NoticeKind
from model_analyzer.domain.models import empty, freeze
from model_analyzer.domain.trials import Load
from model_analyzer.state.upstream.flags import Flags

_COUNT = "measurement-request-count"
_INTERVAL = "measurement-interval"

# What perf_analyzer takes where nothing is given.
_DEFAULTS = {_COUNT: 50, _INTERVAL: 5000}
_UNITS = {_COUNT: "", _INTERVAL: " ms"}


def of_later_measurement(flags: Flags) -> Flags:
    """The flags of a run configuration as far as they hold for each measurement of its variants,
    and not only for the first.
    """
    if isinstance(flags.get(_COUNT), int):
        return {name: value for name, value in flags.items() if name != _COUNT}
    return flags


def given_in_no_key(flags: Flags) -> Flags:
    """The windows of a run configuration that keys do not tell, and that a user gave."""
    count = flags.get(_COUNT)
    return {_COUNT: count} if isinstance(count, str) else {}


@dataclass(slots=True)
class _Seen:
    """The values of one flag that a model was measured with, as far as they are told."""

    is_absent: bool = False
    given: set[int] = field(default_factory=set)


class AskedWindows:
    """The windows that users asked for, model by model: of those that a checkpoint holds the
    smallest.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], _Seen] = {}

    def see(self, model: str, flags: Flags, *, is_first: bool) -> None:
        """Takes notice of a measurement; `is_first` of its variants."""
        for name in _DEFAULTS:
            value = flags.get(name)
            number = _number(value)
            seen = self._seen.setdefault((model, name), _Seen())
            if value is None:
                seen.is_absent |= is_first or name != _COUNT
            elif number is not None and (isinstance(value, str) or name != _COUNT):
                seen.given.add(number)

    def split(self, model: str, flags: Flags) -> tuple[Flags, Flags]:
        """The flags that were asked for, and those windows that were larger than asked for."""
        asked, raised = dict(flags), {}
        for name, default in _DEFAULTS.items():
            seen = self._seen[model, name]
            least = min(seen.given, default=None)
            value = _number(flags.get(name))
            if name not in flags:
                if least is not None and not seen.is_absent:
                    asked[name] = str(least)
                continue
            if value is None:
                continue
            is_over_default = seen.is_absent and value > default
            if least is None or is_over_default:
                del asked[name]
            elif value > least:
                asked[name] = str(least)
            else:
                continue
            raised[name] = flags[name]
        return asked, freeze(raised) if raised else empty()


def longer_window(name: str, load: Load, asked: Flags, raised: Mapping[str, Any]) -> Notice:
    """Says of a variant by which windows it was measured."""
    windows = ", ".join(
        f"{flag} {asked.get(flag, _DEFAULTS[flag])} → {value}{_UNITS[flag]}"
        for flag, value in raised.items()
    )
    return Notice(
        kind=NoticeKind.LONGER_WINDOW,
        text=f"{name} at {load}: measured over a longer window ({windows})",
    )


def _number(value: Any) -> int | None:
    """The value of a flag as a number, if it is one."""
    if isinstance(value, str) and value.isdecimal():
        return int(value) if len(value) < _MOST_DIGITS else None
    return value if isinstance(value, int) else None


# No window has so many; and Python refuses to read some thousands.
_MOST_DIGITS = 20
