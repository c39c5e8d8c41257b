# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps what was measured: durable after every trial, numbered checkpoints, exact on reload."""
