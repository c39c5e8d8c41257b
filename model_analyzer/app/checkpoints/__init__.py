# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The use cases of `model-analyzer checkpoint`: whole checkpoints, and what is in them."""
