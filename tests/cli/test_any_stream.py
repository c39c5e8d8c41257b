# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever the standard streams are: every command ends well.

`make fuzz` tries the same for much longer.

Whatever stands at a path that a command takes: it is used, or refused in a line.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import Phase, given, settings

from tests.cli.paths import PATHS, is_used_or_refused
from tests.cli.streams import STREAMS, ends_well
from tests.sizes import costly


@settings(costly(3), phases=[Phase.generate])
@given(STREAMS)
def test_commands_end_well_with_any_streams(example: Mapping[str, str]) -> None:
    ends_well(example)


@settings(costly(3), phases=[Phase.generate])
@given(PATHS)
def test_anything_at_a_path_is_used_or_refused(example: Mapping[str, str]) -> None:
    is_used_or_refused(example)
