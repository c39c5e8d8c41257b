# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where numbered checkpoints are copied to: directories, object stores, stores of the user's."""
