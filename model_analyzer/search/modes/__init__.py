# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The search modes: a file for each, named as the mode, whose `MODE` is its class."""
