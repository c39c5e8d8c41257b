# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the configuration of a Triton model worth deploying, by measuring."""

__version__ = "0.1.0"
