# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The limits of a quick search that follow from the settings of a model.

They are checked in two places, and written here only. If the user chose the mode, the settings
are enough: `config` checks them early, without any model, and names the line. If quick is the
default, for ensembles, BLS models and models measured together, only the facts of the models
tell: `search` checks the same limits when it knows the mode.

All other rules are in one of these rooms: about keys that the user must not give at all in
`config/rules.py`, about facts in `search/modes`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from model_analyzer.domain.settings import ModelSettings, SearchMode
from model_analyzer.domain.trials import LoadKind

# Fields of the configuration that a quick search itself varies.
SIZES = ("max_batch_size", "instance_group")

# Supports everything that a quick search does not.
ALTERNATIVE = "--search adaptive"


def unsupported_loads(model: ModelSettings, mode: SearchMode) -> Iterator[tuple[str, str]]:
    """What is not supported, and what to do: a quick search sets the concurrency itself, or uses a
    single listed load.
    """
    if model.load_kind is LoadKind.REQUEST_RATE and not model.loads:
        message = f"search mode {mode.value} searches concurrencies, not request rates"
        yield message, f"remove the request rates, or give {ALTERNATIVE}"
    for kind, values in (("load", model.loads), ("batch size", model.batch_sizes)):
        if len(values) > 1:
            message = f"search mode {mode.value} supports one {kind}, not {len(values)}"
            yield message, f"{ALTERNATIVE} supports several"


def field_with_several_values(
    fields: Mapping[str, Sequence[object]], *, varied: Collection[str] = SIZES
) -> str:
    """The first field that has several values and is not `varied`, or ""."""
    several = (name for name, values in fields.items() if len(values) > 1)
    return next((name for name in several if name not in varied), "")
