# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What of a checkpoint a command uses: models, goals, circumstances."""
