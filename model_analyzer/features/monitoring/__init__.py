# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an answer services, for the eyes of production: alert rules and dashboards."""
