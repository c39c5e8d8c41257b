# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept and shown of a server's environment: no value whose name is not known as harmless.

A masked value has fingerprints made with a key of the user, so that a change is noticed and
nobody without the key can find out a value by trying:

    ****** 5f0c2d8e91ab               a setting: another value is another server setup
    ******~77ab01c3d4e5               a secret: another value is noticed, and changes nothing
    ****** 5f0c2d8e91ab~77ab01c3d4e5  a setting with a secret in it, such as a URL
    ******                            unknown: there was no key
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from model_analyzer.domain.secrets import MASK, is_secret_name, masked, masked_text, masked_values

# Variables that say how a server computes, not who may do what.
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
    """Masks values of variables, but for harmless ones and for those `shown` by the user.

    Without a `key` masked values have no fingerprints.
    """

    key: bytes | None = field(default=None, repr=False)
    shown: frozenset[str] = frozenset()

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """What is kept and shown of `variables`; what is masked already stays as it is."""
        return {name: self._kept(name, value) for name, value in variables.items()}

    def container(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The same of the arguments of a container, which may hold variables as NAME=VALUE."""
        kept = masked_values(arguments)
        given: Sequence[str] = arguments.get("environment", ())
        if "environment" in arguments:
            kept["environment"] = [self._pair(str(text)) for text in given]
        return kept

    def hides(self, name: str) -> bool:
        """Whether the value of this variable is masked whatever it is."""
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


def is_masked(kept: str) -> bool:
    """Whether a value as it is kept is all masked."""
    return bool(_MASKED.fullmatch(kept))


def setting_of(kept: str) -> str:
    """Of a value as it is kept, what makes a server setup: all but the secret in it."""
    match = _MASKED.fullmatch(kept)
    if match is None:
        return kept
    return f"{MASK} {match['setting']}" if match["setting"] else MASK


def settings_of(kept: Mapping[str, str]) -> dict[str, str]:
    """Of variables as they are kept, what makes a server setup."""
    return {name: setting_of(value) for name, value in kept.items()}


def container_settings(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a container's arguments."""
    if "environment" not in kept:
        return dict(kept)
    pairs = [text.partition("=") for text in kept["environment"]]
    texts = [name + equals + setting_of(value) for name, equals, value in pairs]
    return {**kept, "environment": texts}


# -- texts of others ---------------------------------------------------------------------------

# Shorter ones would be found everywhere.
_SHORTEST = 6
_SHORTEST_LINE = 16
_PATH = re.compile(r"(?:[~.]{0,2}/[\w.+-]*)+")


def hidden_values(veil: Veil, variables: Mapping[str, str]) -> Iterator[str]:
    """The values of variables that nobody may see, as a server or perf_analyzer may repeat them
    in what it says. Paths are left out, unless a name says that the value is a secret.
    """
    for name, value in variables.items():
        if not veil.hides(name) or (_PATH.fullmatch(value) and not is_secret_name(name)):
            continue
        if len(value) >= _SHORTEST:
            yield value
        lines = value.splitlines()
        if len(lines) > 1:
            yield from (line for line in lines if len(line) >= _SHORTEST_LINE)
