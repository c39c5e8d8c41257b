# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of Triton Model Analyzer, read and written.

`state/contents.py` imports the reader for a file that looks like one, and `checkpoint export
--format upstream` the writer.
"""
