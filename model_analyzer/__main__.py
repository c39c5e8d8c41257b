# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Lets `python -m model_analyzer` do what the command `model-analyzer` does."""

from model_analyzer.cli.main import main

if __name__ == "__main__":
    main()
