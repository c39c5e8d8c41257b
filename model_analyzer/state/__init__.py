# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stores outcomes: durable after every trial, in a journal and in numbered checkpoints."""
