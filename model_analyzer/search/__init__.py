# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Decides what to measure next. Pure: outcomes go in, trials come out."""
