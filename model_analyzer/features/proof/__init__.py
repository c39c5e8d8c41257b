# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs about what is recommended: its outputs are right, and it is true when deployed."""
