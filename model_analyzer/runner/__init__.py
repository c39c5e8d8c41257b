# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Touches the world: processes, servers, load generators, monitors, model repositories."""
