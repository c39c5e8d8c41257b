# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The user's key for fingerprints of masked values: random, and in no checkpoint.

All runs of a user share the key, so equal values have equal fingerprints. Without the key, nobody
can find a value in a checkpoint by trying.
"""

from __future__ import annotations

import logging
import os
import secrets
import stat
from functools import lru_cache
from pathlib import Path

from model_analyzer.domain.secrets import cache_directory

log = logging.getLogger(__name__)

NAME = "fingerprint.key"
_BYTES = 32


def own_key() -> bytes:
    """The key in the user's cache directory, created at first use."""
    return _key_in(cache_directory(os.environ))


@lru_cache(maxsize=16)
def _key_in(directory: Path) -> bytes:
    path = directory / NAME
    try:
        _create(path)
        return _read(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        log.warning(
            "%s: %s: later runs measure again what depends on masked variables; fix it, set"
            " XDG_CACHE_HOME, or name the variables in show_environment",
            path,
            reason,
        )
        return secrets.token_bytes(_BYTES)


def _create(path: Path) -> None:
    """Creates the key if it does not exist. Safe if several processes do this at once."""
    if os.path.lexists(path):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{NAME}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_BYTES))
            file.flush()
            os.fsync(descriptor)
        os.link(draft, path)
    except FileExistsError:
        pass  # another process was first
    finally:
        os.unlink(draft)


def _read(path: Path) -> bytes:
    """Reads the key. Raises ValueError or OSError if others can read it or could write it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise ValueError("is not a file of the current user")
        if status.st_mode & 0o077:
            raise ValueError("others have access to it (chmod 600, or remove it)")
        key = file.read(_BYTES + 1)
    if len(key) != _BYTES:
        raise ValueError(f"does not hold {_BYTES} bytes (remove it: a new one is created)")
    return key
