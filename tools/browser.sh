#!/bin/sh
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
# Sees to it that there is a Chromium for tests/browser: installs Debian's if it may, else says how.
set -eu
for program in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$program" >/dev/null; then
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    if { apt-get update -q && apt-get install -q -y --no-install-recommends chromium; } >/dev/null; then
        exit 0
    fi
fi
echo "tests/browser will be skipped: no Chromium; install it by: sudo apt-get install chromium" >&2
