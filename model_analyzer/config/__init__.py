# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""From command line and YAML to frozen settings: the option table, its value kinds and rules."""
