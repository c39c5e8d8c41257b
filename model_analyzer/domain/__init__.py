# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The nouns that every room speaks: frozen values and pure rules, standard library only."""
