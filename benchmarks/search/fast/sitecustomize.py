# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""On the PYTHONPATH of a program, it makes its sleeps short: stand-ins need no time.

Python imports a module of this name by itself when it starts.
"""

import time

_sleep = time.sleep


def _nap(seconds: float, /) -> None:
    _sleep(min(seconds, 0.005))


time.sleep = _nap  # type: ignore[assignment]
