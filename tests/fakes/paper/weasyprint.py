# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A pretend WeasyPrint, whose documents are the pages that it is given."""

from __future__ import annotations

from collections.abc import Callable


class HTML:
    def __init__(self, *, string: str, url_fetcher: Callable[[str], object]) -> None:
        self._page = string

    def write_pdf(self) -> bytes:
        return self._page.encode()
