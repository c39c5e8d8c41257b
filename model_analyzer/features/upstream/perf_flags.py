# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer flags in checkpoints of upstream: as settings, and in the text of a key.

Here, flags are a mapping of everything that is set, by the names that users know. Upstream sets
some flags itself; those with other values are the user's.

Windows that upstream enlarged itself, because perf_analyzer found no stable result, belong to the
measurement, not to the user's settings. An enlarged interval is in the key of its measurement. An
enlarged request count is in no key: the run configuration has that of the first measurement, as an
integer; a user's setting is a text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from model_analyzer.domain.flags import (
    PERF_ANALYZER_LONG_FLAGS,
    PERF_ANALYZER_NO_FILES,
    PERF_ANALYZER_SHORT_FLAGS,
    PERF_ANALYZER_SWITCHES,
)
from model_analyzer.domain.measurements import Notice, NoticeKind
from model_analyzer.domain.models import empty, fingerprint, freeze
from model_analyzer.domain.trials import Load, LoadKind, under_load

Flags = Mapping[str, Any]

_VERBOSITY = {"verbose": "-v", "extra-verbose": "-v -v", "verbose-csv": "--verbose-csv"}
_VERBOSITY_NAMES = {option: name for name, option in _VERBOSITY.items()}
_SHORT = {short: name for name, short in PERF_ANALYZER_SHORT_FLAGS.items()}
_LOAD_FLAGS = {
    LoadKind.CONCURRENCY: "concurrency-range",
    LoadKind.REQUEST_RATE: "request-rate-range",
}

# Keys do not have these: they do not change a measurement.
_NOT_IN_KEYS = ("url", "measurement-request-count")

_FLAG_IN_KEY = re.compile(
    r"(?:^| )(?:(?P<verbosity>--verbose-csv|-v -v|-v)(?= |$)"
    r"|(?P<short>-[mxbuifH]) "
    rf"|--(?P<long>{'|'.join(PERF_ANALYZER_LONG_FLAGS)})(?:=|(?= |$)))"
)

# Upstream's defaults.
_URLS = {"grpc": "localhost:8001", "http": "localhost:8000"}
_METRICS_URL = "http://localhost:8002/metrics"

_COUNT = "measurement-request-count"
_INTERVAL = "measurement-interval"

# perf_analyzer's defaults.
_DEFAULTS = {_COUNT: 50, _INTERVAL: 5000}
_UNITS = {_COUNT: "", _INTERVAL: " ms"}

# Python refuses to read thousands of digits.
_MOST_DIGITS = 20


def flags_of(perf_config: Mapping[str, Any]) -> dict[str, Any]:
    """The flags of a `_perf_config`. Raises ValueError if it is invalid."""
    flags: dict[str, Any] = {}
    long: Mapping[str, str] = {}
    for section, names in (("_options", _SHORT), ("_verbose", _VERBOSITY_NAMES), ("_args", long)):
        values = perf_config.get(section)
        if not isinstance(values, dict):
            raise ValueError(f"_perf_config has no {section}")
        for name, value in values.items():
            if value is None or value is False:
                continue
            if not isinstance(value, (str, int, float, list)):
                raise ValueError(f"{name} of {section} is not a text, a number or a list")
            flags[names.get(name, name)] = value
    return flags


def perf_config(flags: Flags) -> dict[str, Any]:
    """The `_perf_config` of these flags."""
    in_other_sections = {*PERF_ANALYZER_SHORT_FLAGS, *_VERBOSITY}
    names = dict.fromkeys((*PERF_ANALYZER_LONG_FLAGS, *(set(flags) - in_other_sections)))
    return {
        "_args": {name: _stored(flags.get(name)) for name in names},
        "_options": {
            short: _stored(flags.get(name)) for name, short in PERF_ANALYZER_SHORT_FLAGS.items()
        },
        "_verbose": {
            option: option if name in flags else None for name, option in _VERBOSITY.items()
        },
        "_input_to_options": dict(PERF_ANALYZER_SHORT_FLAGS),
        "_input_to_verbose": dict(_VERBOSITY),
        "_additive_args": {"input-data": None, "shape": None},
    }


def _stored(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def key_text(flags: Flags) -> str:
    """The flags as a measurement key has them."""
    options: list[str] = []
    for name, short in PERF_ANALYZER_SHORT_FLAGS.items():
        if name in flags and name not in _NOT_IN_KEYS:
            options += [f"{short} {value}" for value in _values(flags, name)]
    options += [option for name, option in _VERBOSITY.items() if name in flags]
    for name in filter(flags.__contains__, PERF_ANALYZER_LONG_FLAGS):
        if name in PERF_ANALYZER_SWITCHES:
            options += [f"--{name}" for value in _values(flags, name) if _is_true(value)]
        elif name not in _NOT_IN_KEYS:
            options += [f"--{name}={value}" for value in _values(flags, name)]
    return " ".join(options)


def flags_in_key(text: str) -> dict[str, Any]:
    """The flags of a measurement key, all as text; repeated ones as lists."""
    flags: dict[str, Any] = {}
    matches = list(_FLAG_IN_KEY.finditer(text))
    ends = [following.start() for following in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=True):
        value = text[match.end() : end]
        if match["verbosity"]:
            flags[_VERBOSITY_NAMES[match["verbosity"]]] = match["verbosity"]
            continue
        name = _SHORT[match["short"]] if match["short"] else match["long"]
        value = "True" if name in PERF_ANALYZER_SWITCHES else value
        flags[name] = [*_values(flags, name), value] if name in flags else value
    return flags


def with_load(flags: Flags, load: Load) -> dict[str, Any]:
    """`flags` with the flags of this load instead of those of another."""
    changed = {name: value for name, value in flags.items() if name not in _LOAD_FLAGS.values()}
    if load.kind in _LOAD_FLAGS:
        changed[_LOAD_FLAGS[load.kind]] = load.value
    return {**changed, "batch-size": load.batch_size}


def upstream_defaults(
    name: str, load: Load, *, protocol: str | None, calls: tuple[str, ...]
) -> dict[str, Any]:
    """The flags that upstream sets itself to measure the model that is served as `name`.

    `protocol` is None in launch mode c_api; `calls` are the models that a BLS model calls.
    """
    flags: dict[str, Any] = {
        "model-name": name,
        "latency-report-file": f"{name}-results.csv",
        "verbose-csv": "--verbose-csv",
        "measurement-mode": "count_windows",
    }
    if protocol is None:
        flags["service-kind"] = "triton_c_api"
    else:
        flags |= {
            "protocol": protocol,
            "url": _URLS.get(protocol, ""),
            "collect-metrics": "True",
            "metrics-url": _METRICS_URL,
            "metrics-interval": 1000,
        }
    if calls:
        flags["bls-composing-models"] = ",".join(calls)
    return with_load(flags, load)


def user_flags(flags: Flags, defaults: Flags) -> Flags:
    """The user's flags: all but the load, `defaults` of upstream, and switches that are off."""
    result: Flags = freeze(
        {
            name: list(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in flags.items()
            if name not in (*_LOAD_FLAGS.values(), "batch-size")
            and str(defaults.get(name)) != str(value)
            and (name not in PERF_ANALYZER_SWITCHES or _is_true(value))
        }
    )
    return result


def names_of_inputs(flags: Flags) -> str:
    """A fingerprint of the names of the input files, since upstream stores nothing else of them; ""
    if there are none.
    """
    names = {
        name: [value for value in _values(flags, name) if value not in PERF_ANALYZER_NO_FILES]
        for name in ("input-data", "request-intervals")
    }
    return fingerprint(names) if any(names.values()) else ""


def _values(flags: Flags, name: str) -> list[Any]:
    """The values of a flag that upstream passes to perf_analyzer."""
    value = flags.get(name)
    return [item for item in (value if isinstance(value, (list, tuple)) else [value]) if item]


def _is_true(value: Any) -> bool:
    return str(value).lower() == "true"


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


class UserWindows:
    """The windows that users set for each model: the smallest ones in the checkpoint."""

    def __init__(self) -> None:
        # the values of a flag in the measurements of a model; None where it is absent
        self._uses = defaultdict[tuple[str, str], set[int | None]](set)

    def see(self, model: str, flags: Flags, *, is_first: bool) -> None:
        """Adds a measurement; `is_first` means the first one of its variants."""
        for name in _DEFAULTS:
            value = flags.get(name)
            number = _number(value)
            is_of_user = is_first if value is None else isinstance(value, str)
            if (value is None or number is not None) and (is_of_user or name != _COUNT):
                self._uses[model, name].add(number)

    def split(self, model: str, flags: Flags) -> tuple[Flags, Flags]:
        """The flags with the user's windows, and the windows that upstream enlarged."""
        original, raised = dict(flags), {}
        for name, default in _DEFAULTS.items():
            uses = self._uses[model, name]
            smallest = min((use for use in uses if use is not None), default=None)
            value = _number(flags.get(name))
            if name not in flags:
                if smallest is not None and None not in uses:
                    original[name] = str(smallest)
                continue
            if value is None:
                continue
            is_over_default = None in uses and value > default
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
