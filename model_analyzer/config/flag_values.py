# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The values that perf_analyzer and tritonserver accept for their flags.

Both programs read a number from the beginning of a text and ignore the rest: `5.5` and `5s` are 5.
A fraction, and the unit that the program means, are accepted here, too, because a run with them
works; `ignored_part` tells users about it. Any other rest is a mistake. A number that does not fit
into 32 bits aborts perf_analyzer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from model_analyzer.config.kinds import Integer, Integers, Kind
from model_analyzer.config.nodes import Node, Schema, any_case, any_of
from model_analyzer.domain.words import MOST_COUNT, MOST_RATE

_INTEGER = r"\s*[+-]?[0-9]+"
_DECIMAL = r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_FRACTION = r"[0-9]*(?:\.[0-9]*)?"
_END = r"\s*$(?!\n)"
_MOST = str(MOST_COUNT)
_AS_LONG = "|".join(
    f"{_MOST[:place]}[0-{int(digit) - 1}][0-9]{{{len(_MOST) - place - 1}}}"
    for place, digit in enumerate(_MOST)
)
# of an integer with an optional sign: that it fits into 32 bits
_FITS = rf"(?=[+-]?0*(?:[0-9]{{1,{len(_MOST) - 1}}}|{_AS_LONG}|{_MOST})(?![0-9]))"
# of a decimal number: that it is no more than a float can be
_FITS_FLOAT = "(?![+-]?[0-9]{39})"
_ZEROS = re.compile(r"\.?0*\s*")


@dataclass(frozen=True, slots=True)
class FlagText:
    """A text that begins with a match of `pattern`; `expected` describes it in messages.

    `numbers` is the schema of the YAML numbers that are accepted, and `read` the pattern of the
    part that the program reads of a number; both are empty if it is no number.
    """

    expected: str
    pattern: str
    numbers: tuple[Schema, ...] = ()
    read: str = ""
    metavar: str = "TEXT"

    def parse(self, node: Node) -> str:
        value = node.value
        if isinstance(value, float) and not math.isfinite(value):
            raise node.problem(f"expected a finite number, found {node.describe()}")
        written = str(value).lower() if isinstance(value, bool) else node.text
        if not re.match(self.pattern, written):
            raise node.problem(f"expected {self.expected}, found {node.describe()}")
        return written

    def schema(self) -> Schema:
        words = [value for value in (True, False) if re.match(self.pattern, str(value).lower())]
        return any_of(
            {"type": "string", "pattern": f"^(?:{self.pattern})"},
            *({"type": "boolean"} for _ in words[:1]),
            *self.numbers,
        )


def ignored_part(kind: Kind | None, written: str) -> tuple[str, str] | None:
    """The part of a number that the program reads, and the rest, if it ignores any."""
    match = re.match(kind.read, written) if isinstance(kind, FlagText) and kind.read else None
    if match is None or _ZEROS.fullmatch(written[match.end() :]):
        return None
    return match[0].strip(), written[match.end() :]


def _number(
    expected: str, pattern: str, numbers: Schema, read: str = _INTEGER, unit: str = ""
) -> FlagText:
    written = rf"\s*{pattern}{_FRACTION}(?:{unit})?{_END}"
    return FlagText(expected, written, ({"type": "number", **numbers},), read)


def _integer(expected: str, pattern: str, numbers: Schema, unit: str = "") -> FlagText:
    """A number of 32 bits."""
    up_to = {**numbers, "maximum": MOST_COUNT}
    return _number(f"{expected} up to {_MOST}", _FITS + pattern, up_to, unit=unit)


def _choice(*words: str) -> FlagText:
    return FlagText(" or ".join(words), rf"(?:{'|'.join(words)})$(?!\n)")


_MILLISECONDS = _integer(
    "a whole number of milliseconds from 1", r"\+?0*[1-9]", {"minimum": 1}, unit="ms"
)
_COUNT = _integer("a whole number from 1", r"\+?0*[1-9]", {"minimum": 1})
_SIZE = _integer("a whole number from 0", r"(?:\+?[0-9]|-0+(?![0-9]))", {"minimum": 0})
_SIGNED = _integer("a whole number", "[+-]?[0-9]", {"minimum": -MOST_COUNT})
_WHOLE_NUMBER = _number("a whole number", "[+-]?[0-9]", {})
_DECIMAL_NUMBER = _number("a number", _FITS_FLOAT + r"[+-]?\.?[0-9]", {}, _DECIMAL)
_PERCENTAGE = _number(
    "a percentage from 0",
    _FITS_FLOAT + r"(?:\+?\.?[0-9]|-0*\.?0+(?![0-9]))",
    {"minimum": 0},
    _DECIMAL,
)
_RANGE = FlagText(f"START:END, up to {_MOST}", rf"\s*{_FITS}\+?[0-9]+:{_FITS}\+?[0-9]+{_END}")
_PERCENTILE = FlagText(
    "a percentile from 1 to 99, or -1 for the average",
    r"\s*(?:-1|\+?0*[1-9][0-9]?)(?:\.[0-9]*)?" + _END,
    ({"enum": [-1]}, {"type": "number", "minimum": 1, "exclusiveMaximum": 100}),
    _INTEGER,
)
_CERTIFICATE = _choice("PEM", "DER")
# perf_analyzer drops parameters of other types, and sends other words than true as false.
_PARAMETER = FlagText(
    f"NAME:VALUE:TYPE, of type int (a whole number up to {_MOST}), bool (true or false) or string",
    rf"[^:]*:(?:\s*{_FITS}[+-]?[0-9]+:{any_case('int')}"
    rf"|(?:{any_case('true')}|{any_case('false')}):{any_case('bool')}"
    rf"|[^:]*:{any_case('string')})$(?!\n)",
)

# Flags that are not listed take any text, or are checked together with the model.
PERF_ANALYZER_VALUES: Mapping[str, Kind] = {
    "batch-size": Integer(1),
    "concurrency-range": Integers(1),
    "request-rate-range": Integers(1, MOST_RATE),
    "measurement-interval": _MILLISECONDS,
    "measurement-request-count": _COUNT,
    "metrics-interval": _MILLISECONDS,
    "max-threads": _COUNT,
    "max-trials": _COUNT,
    "num-of-sequences": _COUNT,
    "string-length": _COUNT,
    "request-period": _COUNT,
    "sequence-length": _SIGNED,
    "sequence-id-range": _RANGE,
    "sequence-length-variation": _DECIMAL_NUMBER,
    "trace-count": _SIGNED,
    "latency-threshold": _SIZE,
    "log-frequency": _SIZE,
    "request-count": _SIZE,
    "output-shared-memory-size": _SIZE,
    "stability-percentage": _PERCENTAGE,
    "percentile": _PERCENTILE,
    "measurement-mode": _choice("time_windows", "count_windows"),
    "request-distribution": _choice("poisson", "constant"),
    "shared-memory": _choice("none", "system", "cuda"),
    "grpc-compression-algorithm": _choice("none", "gzip", "deflate"),
    "request-parameter": _PARAMETER,
    "ssl-https-client-certificate-type": _CERTIFICATE,
    "ssl-https-private-key-type": _CERTIFICATE,
}

_TRUE_OR_FALSE = "|".join(map(any_case, ("true", "1", "on", "false", "0", "off")))
_BOOLEAN = FlagText("true or false", rf"(?:{_TRUE_OR_FALSE})$(?!\n)", ({"enum": [0, 1]},))
_VERBOSITY = FlagText(
    "a whole number, true or false",
    rf"(?:\s*[+-]?[0-9]{_FRACTION}{_END}|(?:true|false)$(?!\n))",
    ({"type": "number"},),
    _INTEGER,
)
_BOOLEANS = (
    "log-info", "log-warning", "log-error", "exit-on-error", "strict-readiness",
    "model-namespacing", "enable-peer-access", "allow-http", "reuse-http-port", "allow-grpc",
    "reuse-grpc-port", "grpc-use-ssl", "grpc-use-ssl-mutual", "grpc-keepalive-permit-without-calls",
    "allow-sagemaker", "allow-vertex-ai", "allow-metrics", "allow-gpu-metrics",
    "allow-cpu-metrics", "strict-model-config", "allow-client-shm",
)  # fmt: skip
_WHOLE_NUMBERS = (
    "exit-timeout-secs", "repository-poll-secs", "model-load-thread-count",
    "model-load-retry-count", "http-thread-count", "grpc-infer-allocation-pool-size",
    "grpc-keepalive-time", "grpc-keepalive-timeout", "grpc-http2-max-pings-without-data",
    "grpc-http2-min-recv-ping-interval-without-data", "grpc-http2-max-ping-strikes",
    "grpc-max-connection-age", "grpc-max-connection-age-grace", "sagemaker-port",
    "sagemaker-thread-count", "vertex-ai-port", "vertex-ai-thread-count",
    "metrics-interval-ms", "pinned-memory-pool-byte-size", "buffer-manager-thread-count",
    "response-cache-byte-size", "trace-rate", "trace-count", "trace-log-frequency",
)  # fmt: skip
TRITON_SERVER_VALUES: Mapping[str, Kind] = {
    **dict.fromkeys(_BOOLEANS, _BOOLEAN),
    **dict.fromkeys(_WHOLE_NUMBERS, _WHOLE_NUMBER),
    "log-verbose": _VERBOSITY,
    "log-format": _choice("default", "ISO8601"),
}
