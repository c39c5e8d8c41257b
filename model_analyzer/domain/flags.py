# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The flags of the programs we start, by the names that a user may set.

`config` checks names against these tables; `runner` writes command lines in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

# A value of the flag `shape`: NAME:SIZE,SIZE,…
SHAPE = re.compile(r"(\S+):(\d{1,30}(?:,\d{1,30})*)")

# the value of a flag, or its values if it may be given several times
Flag = str | tuple[str, ...]

# flag -> short option on the command line
PERF_ANALYZER_SHORT_FLAGS = {
    "model-name": "-m",
    "model-version": "-x",
    "batch-size": "-b",
    "url": "-u",
    "protocol": "-i",
    "latency-report-file": "-f",
    "http-header": "-H",
}

# letter -> flag: what users of the command line know, and a file must not have
PERF_ANALYZER_LETTERS = {
    **{short.removeprefix("-"): name for name, short in PERF_ANALYZER_SHORT_FLAGS.items()},
    "p": "measurement-interval",
    "s": "stability-percentage",
    "r": "max-trials",
    "a": "async",
    "l": "latency-threshold",
    "v": "verbose",
}

PERF_ANALYZER_VERBOSITY = ("verbose", "extra-verbose", "verbose-csv")

PERF_ANALYZER_LONG_FLAGS = (
    "service-kind", "model-signature-name", "async", "sync", "measurement-interval",
    "concurrency-range", "request-rate-range", "request-distribution", "request-intervals",
    "binary-search", "num-of-sequences", "latency-threshold", "max-threads",
    "stability-percentage", "max-trials", "percentile", "input-data", "shared-memory",
    "output-shared-memory-size", "shape", "sequence-length", "sequence-id-range",
    "string-length", "string-data", "measurement-mode", "measurement-request-count",
    "streaming", "grpc-compression-algorithm", "triton-server-directory", "model-repository",
    "ssl-grpc-use-ssl", "ssl-grpc-root-certifications-file", "ssl-grpc-private-key-file",
    "ssl-grpc-certificate-chain-file", "ssl-https-verify-peer", "ssl-https-verify-host",
    "ssl-https-ca-certificates-file", "ssl-https-client-certificate-type",
    "ssl-https-client-certificate-file", "ssl-https-private-key-type",
    "ssl-https-private-key-file", "collect-metrics", "metrics-url", "metrics-interval",
    "bls-composing-models",
)  # fmt: skip

# Further flags of perf_analyzer 2.51, which Triton Model Analyzer does not know.
PERF_ANALYZER_FURTHER_FLAGS = (
    "endpoint", "periodic-concurrency-range", "request-period", "request-parameter",
    "serial-sequences", "request-count", "sequence-length-variation", "input-tensor-format",
    "output-tensor-format", "data-directory", "trace-level", "trace-rate", "trace-count",
    "log-frequency",
)  # fmt: skip

# Written without a value when true, left out when false.
PERF_ANALYZER_SWITCHES = frozenset(
    {
        "streaming", "async", "sync", "binary-search", "ssl-grpc-use-ssl", "collect-metrics",
        "serial-sequences",
    }
)  # fmt: skip


def whole(flags: Mapping[str, Flag], name: str, default: int) -> int:
    """The value of a flag that is a whole number above 0; otherwise the `default`."""
    value = flags.get(name)
    return int(value) if isinstance(value, str) and value.isdecimal() and int(value) else default


def sequences(flags: Mapping[str, Flag]) -> int:
    """The number of sequences that perf_analyzer has under way with an open load."""
    return whole(flags, "num-of-sequences", 4)


def is_on(value: object) -> bool:
    """Whether the value of a switch turns it on."""
    return isinstance(value, str) and value.strip().lower() in ("true", "1", "yes", "on")


def header_parts(header: str) -> tuple[str, str, str]:
    """The name, the colon ("" if there is none) and the value of an HTTP header, without blanks:
    over gRPC, perf_analyzer would send the one after the colon as a part of the value.
    """
    name, colon, value = header.partition(":")
    return name.strip(), colon, value.strip()


# May be given several times.
PERF_ANALYZER_REPEATABLE = ("input-data", "shape", "http-header", "request-parameter")

# For this flag, "off" is a word and not a boolean.
PERF_ANALYZER_WORDS = ("trace-level",)

# Values of input-data that name no file.
PERF_ANALYZER_NO_FILES = ("random", "zero")

# Values that name files. Relative paths start at the current directory.
PERF_ANALYZER_PATHS = frozenset(
    {
        "input-data", "request-intervals", "ssl-grpc-root-certifications-file",
        "ssl-grpc-private-key-file", "ssl-grpc-certificate-chain-file",
        "ssl-https-ca-certificates-file", "ssl-https-client-certificate-file",
        "ssl-https-private-key-file", "data-directory",
    }
)  # fmt: skip

# Files that have no effect if no address begins with https://.
_OF_HTTPS = sorted(name for name in PERF_ANALYZER_PATHS if "ssl-https" in name)

# Flags of tritonserver about completing configurations: those to deploy are complete, and would be
# changed by it.
COMPLETION = ("disable-auto-complete-config", "strict-model-config")

# Switches of TLS over gRPC, and the files that have no effect if all switches of a program are off.
# If a server does not find one of its files, it says that its port is in use.
SERVER_KEYS = ("grpc-server-cert", "grpc-server-key", "grpc-root-cert")
_TLS: Mapping[tuple[str, ...], Sequence[str]] = {
    ("ssl-grpc-use-ssl",): sorted(name for name in PERF_ANALYZER_PATHS if "ssl-grpc" in name),
    ("grpc-use-ssl", "grpc-use-ssl-mutual"): SERVER_KEYS,
}

# These decide how long perf_analyzer measures, when it accepts a result, or which values it has. A
# file of intervals is also one: a part of it is not like the whole.
PERF_ANALYZER_CARE = frozenset(
    {
        "measurement-mode", "measurement-interval", "measurement-request-count", "request-count",
        "stability-percentage", "max-trials", "percentile", "latency-threshold", "binary-search",
        "num-of-sequences", "request-intervals", "request-period", "periodic-concurrency-range",
    }
)  # fmt: skip

# What we decide, because a run depends on it.
PERF_ANALYZER_OWNED = (
    "model-name", "url", "protocol", "service-kind", "triton-server-directory",
    "model-repository", "latency-report-file", "verbose-csv", "profile-export-file",
    "warmup-request-count",
)  # fmt: skip

PERF_ANALYZER_FLAGS = (
    *PERF_ANALYZER_LONG_FLAGS, *PERF_ANALYZER_FURTHER_FLAGS, *PERF_ANALYZER_SHORT_FLAGS,
    *PERF_ANALYZER_VERBOSITY,
)  # fmt: skip

GENAI_PERF_FLAGS = (
    "backend", "endpoint", "service-kind", "url", "expected-output-tokens", "input-dataset",
    "input-tokens-mean", "input-tokens-stddev", "input-type", "num-of-output-prompts",
    "random-seed", "streaming", "tokenizer",
)  # fmt: skip

# Further flags of later versions (0.0.8 to 0.0.16), which Triton Model Analyzer does not know.
GENAI_PERF_FURTHER_FLAGS = (
    "endpoint-type", "extra-inputs", "input-file", "num-dataset-entries", "num-prompts",
    "output-tokens-mean", "output-tokens-mean-deterministic", "output-tokens-stddev",
    "synthetic-input-tokens-mean", "synthetic-input-tokens-stddev", "isl", "osl",
    "tokenizer-revision", "tokenizer-trust-remote-code", "header", "goodput",
)  # fmt: skip

# May be given several times.
GENAI_PERF_REPEATABLE = ("extra-inputs", "header")

# What we decide.
GENAI_PERF_OWNED = (
    "model", "concurrency", "request-rate", "measurement-interval", "artifact-dir",
    "profile-export-file", "request-count",
)  # fmt: skip

TRITON_SERVER_FLAGS = (
    "id", "exit-timeout-secs", "log-verbose", "log-info", "log-warning", "log-error",
    "log-format", "log-file", "model-store", "model-repository", "exit-on-error",
    "disable-auto-complete-config", "strict-readiness", "model-control-mode",
    "repository-poll-secs", "load-model", "model-config-name", "model-load-thread-count",
    "model-load-retry-count", "model-namespacing", "enable-peer-access", "allow-http",
    "http-address", "http-port", "reuse-http-port",
    "http-header-forward-pattern", "http-thread-count", "http-restricted-api", "allow-grpc",
    "grpc-address", "grpc-port", "reuse-grpc-port", "grpc-header-forward-pattern",
    "grpc-infer-allocation-pool-size", "grpc-use-ssl", "grpc-use-ssl-mutual",
    "grpc-server-cert", "grpc-server-key", "grpc-root-cert",
    "grpc-infer-response-compression-level", "grpc-keepalive-time", "grpc-keepalive-timeout",
    "grpc-keepalive-permit-without-calls", "grpc-http2-max-pings-without-data",
    "grpc-http2-min-recv-ping-interval-without-data", "grpc-http2-max-ping-strikes",
    "grpc-max-connection-age", "grpc-max-connection-age-grace", "grpc-restricted-protocol",
    "allow-sagemaker", "sagemaker-port", "sagemaker-safe-port-range", "sagemaker-thread-count",
    "allow-vertex-ai", "vertex-ai-port", "vertex-ai-thread-count", "vertex-ai-default-model",
    "allow-metrics", "allow-gpu-metrics", "allow-cpu-metrics", "metrics-address",
    "metrics-port", "metrics-interval-ms", "metrics-config", "trace-config",
    "backend-directory", "backend-config", "repoagent-directory", "cache-config",
    "cache-directory", "rate-limit", "rate-limit-resource", "pinned-memory-pool-byte-size",
    "cuda-memory-pool-byte-size", "cuda-virtual-address-size",
    "min-supported-compute-capability", "buffer-management-thread-count",
    "buffer-manager-thread-count", "host-policy",
    "model-load-gpu-limit", "strict-model-config", "response-cache-byte-size", "trace-file",
    "allow-client-shm", "trace-level", "trace-rate", "trace-count", "trace-log-frequency",
)  # fmt: skip

# Each of these may be given several times.
TRITON_SERVER_REPEATABLE = (
    "backend-config", "load-model", "host-policy", "cache-config", "trace-config",
    "metrics-config", "rate-limit-resource", "cuda-memory-pool-byte-size",
    "cuda-virtual-address-size", "model-load-gpu-limit", "grpc-restricted-protocol",
    "http-restricted-api",
)  # fmt: skip

# For these flags, "off" is a word and not a boolean.
TRITON_SERVER_WORDS = ("rate-limit", "trace-level")

# Flags that the program sets itself, because a run depends on them.
TRITON_SERVER_OWNED = frozenset(
    {
        "model-repository", "model-store", "model-control-mode", "http-port", "grpc-port",
        "metrics-port",
    }
)  # fmt: skip


def shapes_of(flags: Mapping[str, Flag]) -> Mapping[str, tuple[int, ...]]:
    """The sizes of inputs in the flag `shape`, by input."""
    matches = filter(None, map(SHAPE.fullmatch, shape_texts(flags)))
    return {match[1]: tuple(map(int, match[2].split(","))) for match in matches}


def shape_texts(flags: Mapping[str, Flag]) -> Sequence[str]:
    """The values of the flag `shape`, as they are written."""
    texts = flags.get("shape", ())
    return (texts,) if isinstance(texts, str) else texts


# The flag of tritonserver without which it refuses shared memory of clients, from a version on.
CLIENT_SHM, _NEEDED_FROM = "allow-client-shm", (2, 68)
NEEDS_CLIENT_SHM = (
    f"Triton from 26.04 (2.68) on allows that only if it is started with --{CLIENT_SHM}=true"
)


def shares_memory(flags: Mapping[str, Flag]) -> bool:
    """Whether perf_analyzer with these flags sends tensors through shared memory."""
    return flags.get("shared-memory", "none") != "none"


def needs_client_shm(version: str, *, unknown: bool) -> bool:
    """Whether a server of this version needs the flag; `unknown` if the version is not known."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return unknown if numbers is None else (int(numbers[1]), int(numbers[2])) >= _NEEDED_FROM


def unused_keys(flags: Mapping[str, Flag], addresses: Iterable[str]) -> Mapping[str, str]:
    """The flags that name keys and certificates in vain, each with what would use it. `addresses`
    are those of the servers.
    """
    of_https = any(address.lower().startswith("https://") for address in addresses)
    unused = dict.fromkeys(() if of_https else _OF_HTTPS, "an https:// endpoint")
    for switches, names in _TLS.items():
        if not any(is_on(flags.get(switch)) for switch in switches):
            unused |= dict.fromkeys(names, f"{switches[0]}: true")
    return {name: use for name, use in unused.items() if flags.get(name)}
