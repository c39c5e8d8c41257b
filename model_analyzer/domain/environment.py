# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Masks the variables of a server before they are stored or shown, except known harmless ones.

A masked value has fingerprints made with a key of the user: a change of the value is visible, and
without the key nobody can find the value by trying.

    ****** 5f0c2d8e91ab               a setting: another value is another server setup
    ******~77ab01c3d4e5               a secret: another value is reported, and changes nothing
    ****** 5f0c2d8e91ab~77ab01c3d4e5  a setting with a secret in it, such as a URL
    ******                            unknown: there was no key

One variable says where the user's cache is, which all runs share.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model_analyzer.domain.secrets import MASK, is_secret_name, masked, masked_text, masked_values

# Variables that say how a server computes; none of them gives access to anything.
_HARMLESS = re.compile(
    r"(?:OMP|KMP|GOMP|MKL|OPENBLAS|BLIS|NUMEXPR|VECLIB|TF|XLA|ORT|TRT|TENSORRT|TRITON|TORCH|PYTORCH"
    r"|NCCL|CUDA|CUBLAS|CUDNN|NVIDIA|TBB|DNNL|ONEDNN|MALLOC|TCMALLOC|OPENVINO|OV)_\w+"
    r"|LD_(?:LIBRARY_PATH|PRELOAD|BIND_NOW)|PATH|PYTHON(?:PATH|HOME|UNBUFFERED|HASHSEED)"
    r"|LANG|LC_\w+|TZ|HOME|TMPDIR|TOKENIZERS_PARALLELISM|(?:HF|TRANSFORMERS)_(?:HOME|CACHE|OFFLINE)"
    r"|HF_(?:HUB|DATASETS)_OFFLINE"
)
_DIGITS = 12
_MASKED = re.compile(
    re.escape(MASK)
    + rf"(?: (?P<setting>[0-9a-f]{{{_DIGITS}}}))?(?:~(?P<secret>[0-9a-f]{{{_DIGITS}}}))?"
)


@dataclass(frozen=True, slots=True)
class Veil:
    """Masks values of variables, except harmless ones and those `shown` by the user.

    Without a `key`, masked values have no fingerprints.
    """

    key: bytes | None = field(default=None, repr=False)
    shown: frozenset[str] = frozenset()

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """`variables` as they are stored and shown; masked values stay as they are."""
        return {name: self._kept(name, value) for name, value in variables.items()}

    def container(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a container as they are stored and shown; variables are NAME=VALUE."""
        kept = masked_values(arguments)
        given: Sequence[str] = arguments.get("environment", ())
        if "environment" in arguments:
            kept["environment"] = [self._pair(str(text)) for text in given]
        return kept

    def hides(self, name: str) -> bool:
        """Whether every value of this variable is masked."""
        return name not in self.shown and not is_harmless(name)

    def _pair(self, text: str) -> str:
        name, equals, value = text.partition("=")
        return f"{name}={self._kept(name, value)}" if equals else text

    def _kept(self, name: str, value: str) -> str:
        if not self.hides(name):
            return masked_text(value)
        if _MASKED.fullmatch(value):
            return value
        rest = masked(name, value)
        setting = "" if rest == MASK else self._fingerprint(" ", name, rest)
        secret = "" if rest == value else self._fingerprint("~", name, value)
        return MASK + setting + secret

    def _fingerprint(self, sign: str, name: str, value: str) -> str:
        if self.key is None:
            return ""
        text = f"{sign}{name}\0{value}".encode(errors="surrogatepass")
        return sign + hmac.new(self.key, text, hashlib.sha256).hexdigest()[:_DIGITS]


def is_harmless(name: str) -> bool:
    """Whether a variable of this name never holds a secret."""
    return bool(_HARMLESS.fullmatch(name)) and not is_secret_name(name)


def is_masked(stored: str) -> bool:
    """Whether a stored value is masked as a whole."""
    return bool(_MASKED.fullmatch(stored))


def setting_of(stored: str) -> str:
    """The part of a stored value that belongs to the server setup: all except the secret in it."""
    match = _MASKED.fullmatch(stored)
    if match is None:
        return stored
    return f"{MASK} {match['setting']}" if match["setting"] else MASK


def settings_of(stored: Mapping[str, str]) -> dict[str, str]:
    """The parts of stored variables that belong to the server setup."""
    return {name: setting_of(value) for name, value in stored.items()}


def container_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The same for the stored arguments of a container."""
    if "environment" not in stored:
        return dict(stored)
    pairs = [text.partition("=") for text in stored["environment"]]
    texts = [name + equals + setting_of(value) for name, equals, value in pairs]
    return {**stored, "environment": texts}


# -- texts of programs --------------------------------------------------------------------------

# Shorter values would be found in every text.
_SHORTEST = 6
_SHORTEST_LINE = 16
_PATH = re.compile(r"(?:[~.]{0,2}/[\w.+-]*)+")


def hidden_values(veil: Veil, variables: Mapping[str, str]) -> Iterator[str]:
    """The values of variables that must not be shown: a server or perf_analyzer may repeat them in
    its messages. Paths are left out, unless the name says that the value is a secret.
    """
    for name, value in variables.items():
        if not veil.hides(name) or (_PATH.fullmatch(value) and not is_secret_name(name)):
            continue
        if len(value) >= _SHORTEST:
            yield value
        lines = value.splitlines()
        if len(lines) > 1:
            yield from (line for line in lines if len(line) >= _SHORTEST_LINE)


def cache_directory(environment: Mapping[str, str]) -> Path:
    """The directory for files that can be fetched or made again."""
    base = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "model-analyzer"
