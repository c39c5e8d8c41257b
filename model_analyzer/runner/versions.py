# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between versions of Triton and of perf_analyzer. Pure.

What is true of some versions only stands here; `tools/versions.py` makes docs/versions.md of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DEFAULT = "2.51"

_UP_TO_3_11 = ("3.11", "3.10", "3.9", "3.8")
_UP_TO_3_12 = ("3.12", *_UP_TO_3_11)

# The servers that can be installed, and on which everything was tried, each with the Pythons for
# which it has a model process, the preferred one first. (Python 3.13 comes last: numpy 1 must be
# compiled for it.)
PYTHONS: Mapping[str, Sequence[str]] = {
    "2.28": ("3.8",),
    "2.33": ("3.8",),
    "2.36": _UP_TO_3_11,
    "2.39": _UP_TO_3_11,
    "2.41": _UP_TO_3_11,
    "2.44": _UP_TO_3_12,
    "2.48": _UP_TO_3_12,
    "2.50": _UP_TO_3_12,
    DEFAULT: (*_UP_TO_3_12, "3.13"),
}

# Flags of perf_analyzer: a run needs the first (from 2.39 on); without the second (from 2.50 on),
# only the first answers are left out.
EXPORT, WARM_UP = "profile-export-file", "warmup-request-count"

# The first perf_analyzer that measures servers with OpenAI's API, which stands for their version.
OPENAI_FROM, OPENAI_API = "2.44", "OpenAI's API"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What servers have from version `since` on; what happens `without` it; and what shows it."""

    name: str
    since: str
    without: str
    shown_by: str


DECOUPLED = Feature(
    name="decoupled models",
    since="2.36",
    without="perf_analyzer never sees the end of a request: refused before anything is measured",
    shown_by="qa/versions/run decoupled_numbers",
)
GRPC = Feature(
    name="requests over gRPC",
    since="2.36",
    without="2.33 refuses a parameter of perf_analyzer's requests (2.28 ignores it): refused, with"
    " --client-protocol http as the advice",
    shown_by="qa/versions/run plain",
)
PLACED = Feature(
    name="models without instance_group on a machine without GPU",
    since="2.36",
    without="the server refuses to load them: the failure advises cpu_only",
    shown_by="qa/versions/run no_instances",
)
FEATURES = (
    GRPC,
    DECOUPLED,
    PLACED,
    Feature(
        name="pending requests",
        since="2.39",
        without="nv_inference_pending_request_count is not among the metrics, so an autoscaler"
        " cannot use it",
        shown_by="qa/versions/facts.py",
    ),
    Feature(
        name="reasons of failures",
        since="2.48",
        without="nv_inference_request_failure has one series for all reasons",
        shown_by="qa/versions/facts.py",
    ),
)

# What a server says of a backend that it does not have, up to 2.36, 2.39, 2.41 and from 2.44 on.
UNKNOWN_BACKEND = r"unable to find (?:backend library|'libtriton_[^']+\.so'|'[^']+/model\.py')"


def short(version: str) -> str:
    """2.36 of 2.36.0; what is no version stays as it is."""
    match = re.match(r"(\d+\.\d+)(?:\.\d+)?$", version.strip())
    return match[1] if match else version


def is_before(version: str, since: str) -> bool:
    """Whether a server of this version is older; False if it is not a version of Triton."""
    number = _number(version)
    return bool(number) and number < _number(since)


def named(version: str) -> str:
    """The server by its version."""
    return f"a server with {version}" if version == OPENAI_API else f"Triton {version}"


def described(version: str) -> str:
    """The server in one line: whether it was tried, and what it does not have."""
    first, last = next(iter(PYTHONS)), DEFAULT
    tested = f"{first} to {last} are tested"
    if not _number(version):
        return f"Triton of unknown version ({tested})"
    if is_before(version, first) or is_before(last, version):
        state = f"not tested ({tested})"
    else:
        state = f"supported ({tested})"
    lacking = [each.name for each in FEATURES if lacks(version, each)]
    end = f"; not available: {', '.join(lacking)}" if lacking else ""
    return f"Triton {short(version)}: {state}{end}"


def refusal(version: str, *, over_grpc: bool, decoupled: bool) -> tuple[str, str] | None:
    """Why perf_analyzer cannot measure a model on a server of this version, and what to do about
    it; None if it can.
    """
    triton = f"Triton {short(version)}"
    if decoupled and lacks(version, DECOUPLED):
        return (
            f"perf_analyzer cannot measure decoupled models on {triton}",
            f"use Triton {DECOUPLED.since} or newer, or leave the model out",
        )
    if over_grpc and lacks(version, GRPC):
        return f"{triton} refuses perf_analyzer's requests over gRPC", "use --client-protocol http"
    return None


def lacks(version: str, feature: Feature) -> bool:
    """Whether a server of this version does not have the feature."""
    ignores = feature is GRPC and is_before(version, "2.29")
    return is_before(version, feature.since) and not ignores


def _number(version: str) -> tuple[int, ...]:
    match = re.match(r"(\d+)\.(\d+)", version)
    return () if match is None else (int(match[1]), int(match[2]))
