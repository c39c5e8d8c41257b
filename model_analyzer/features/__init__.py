# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What stands beside the core: a folder for each feature, with its logic, its text and its command.

The core imports none of them. It finds their commands by the list in `cli/program.py`.
"""
