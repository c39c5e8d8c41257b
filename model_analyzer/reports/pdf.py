# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports as PDF, made from their HTML."""

from __future__ import annotations

from model_analyzer.errors import OutputError


def render_pdf(html: str) -> bytes:
    """The page as a PDF document. Raises OutputError where the extra `pdf` is not installed."""
    try:
        import weasyprint  # at the moment of use: it is an extra, and heavy
    except (ImportError, OSError) as error:
        raise OutputError(
            "output format pdf needs the extra of that name:"
            f" pip install 'model-analyzer[pdf]' ({error})"
        ) from error
    document: bytes = weasyprint.HTML(string=html).write_pdf()
    return document
