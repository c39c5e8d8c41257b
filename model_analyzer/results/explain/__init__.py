# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Why a variant is slow: causes with their evidence and advice, from its measurements. Pure."""
