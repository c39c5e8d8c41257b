# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts about a configuration, from what was observed of it. Pure."""
