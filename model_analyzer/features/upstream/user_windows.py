# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Windows that upstream enlarged itself, because perf_analyzer found no stable result. They belong
to the measurement, not to the user's settings.

An enlarged interval is in the key of its measurement. An enlarged request count is in no key: the
run configuration has that of the first measurement, as an integer; a user's setting is a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from model_analyzer.domain.loads import under_load
from model_analyzer.domain.measurements import Notice, NoticeKind
from model_analyzer.domain.models import empty, freeze
from model_analyzer.domain.trials import Load
from model_analyzer.features.upstream.perf_flags import Flags

_COUNT = "measurement-request-count"
_INTERVAL = "measurement-interval"

# perf_analyzer's defaults.
_DEFAULTS = {_COUNT: 50, _INTERVAL: 5000}
_UNITS = {_COUNT: "", _INTERVAL: " ms"}

# Python refuses to read thousands of digits.
_MOST_DIGITS = 20


def of_later_measurement(flags: Flags) -> Flags:
    """The flags of a run configuration that hold for all measurements of its variants, not only
    for the first.
    """
    if isinstance(flags.get(_COUNT), int):
        return {name: value for name, value in flags.items() if name != _COUNT}
    return flags


def given_in_no_key(flags: Flags) -> Flags:
    """The window that the user set, as far as keys do not have it."""
    count = flags.get(_COUNT)
    return {_COUNT: count} if isinstance(count, str) else {}


@dataclass(slots=True)
class _Uses:
    """The values of a flag in the measurements of a model, as far as upstream stored them."""

    is_absent: bool = False
    values: set[int] = field(default_factory=set)


class UserWindows:
    """The windows that users set for each model: the smallest ones in the checkpoint."""

    def __init__(self) -> None:
        self._uses: dict[tuple[str, str], _Uses] = {}

    def see(self, model: str, flags: Flags, *, is_first: bool) -> None:
        """Adds a measurement; `is_first` means the first one of its variants."""
        for name in _DEFAULTS:
            value = flags.get(name)
            number = _number(value)
            uses = self._uses.setdefault((model, name), _Uses())
            if value is None:
                uses.is_absent |= is_first or name != _COUNT
            elif number is not None and (isinstance(value, str) or name != _COUNT):
                uses.values.add(number)

    def split(self, model: str, flags: Flags) -> tuple[Flags, Flags]:
        """The flags with the user's windows, and the windows that upstream enlarged."""
        original, raised = dict(flags), {}
        for name, default in _DEFAULTS.items():
            uses = self._uses[model, name]
            smallest = min(uses.values, default=None)
            value = _number(flags.get(name))
            if name not in flags:
                if smallest is not None and not uses.is_absent:
                    original[name] = str(smallest)
                continue
            if value is None:
                continue
            is_over_default = uses.is_absent and value > default
            if smallest is None or is_over_default:
                del original[name]
            elif value > smallest:
                original[name] = str(smallest)
            else:
                continue
            raised[name] = flags[name]
        return original, freeze(raised) if raised else empty()


def longer_window(name: str, load: Load, original: Flags, raised: Mapping[str, Any]) -> Notice:
    """The notice that a variant was measured over longer windows."""
    windows = ", ".join(
        f"{flag} {original.get(flag, _DEFAULTS[flag])} → {value}{_UNITS[flag]}"
        for flag, value in raised.items()
    )
    return Notice(
        kind=NoticeKind.LONGER_WINDOW,
        text=f"{name} {under_load(load)}: measured over a longer window ({windows})",
    )


def _number(value: Any) -> int | None:
    """The value of a flag as a number; None if it is not a number."""
    if isinstance(value, str) and value.isdecimal():
        return int(value) if len(value) < _MOST_DIGITS else None
    return value if isinstance(value, int) else None
