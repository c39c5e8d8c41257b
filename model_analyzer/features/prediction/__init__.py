# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`predict`: what checkpoints of similar models say about a model before it is measured."""
