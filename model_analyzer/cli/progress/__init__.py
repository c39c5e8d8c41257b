# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How a run shows itself: what happens as events, and sinks that show them, each in its way."""
