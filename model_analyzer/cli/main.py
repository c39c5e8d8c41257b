# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the program begins and ends.

Hardly anything is imported here: until `main` runs, an interrupt is answered by a traceback.
"""

import sys

from model_analyzer.cli.uninterrupted import hear_interrupts, uninterrupted


def main() -> None:
    """Runs the program, and exits."""
    try:
        hear_interrupts()
        with uninterrupted():
            from model_analyzer.cli.program import run
        status = run()
    except KeyboardInterrupt:  # before click was there, or after it
        sys.stderr.write("model-analyzer: interrupted\n")
        status = 1
    sys.exit(status)
