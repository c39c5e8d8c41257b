# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`compare`: what changed between two checkpoints, and whether that is allowed."""
