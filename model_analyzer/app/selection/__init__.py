# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Selects parts of a checkpoint for a command: models, goals, conditions."""
