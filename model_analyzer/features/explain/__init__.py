# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`explain`: why a variant is slow, and whether the advice helps.

The rules are in `results/explain`: report pages have them, too.
"""
