# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Find the best configuration of a Triton model by measuring it.

For programs: `Checkpoint`, `list_checkpoints` and `Checkpointer`, see docs/python.md.
"""

TYPE_CHECKING = False  # type checkers treat it as True; importing typing would double the start

if TYPE_CHECKING:
    from typing import Any

    from model_analyzer.state.api import Checkpoint, list_checkpoints
    from model_analyzer.state.stores import Checkpointer

__version__ = "0.1.0"

__all__ = ["Checkpoint", "Checkpointer", "__version__", "list_checkpoints"]

_PLACES = {
    "Checkpoint": "model_analyzer.state.api",
    "Checkpointer": "model_analyzer.state.stores",
    "list_checkpoints": "model_analyzer.state.api",
}


def __getattr__(name: str) -> "Any":
    """Imports a name at its first use, so that `import model_analyzer` is instant."""
    from importlib import import_module

    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
