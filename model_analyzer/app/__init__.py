# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The use cases, without a terminal: settings in, values and files out.

Each file here is a use case and imports no other use case. Code that several of them need is in the
packages.
"""
