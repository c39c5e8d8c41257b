# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer: its command line and its output (both pure), and how to run it."""
