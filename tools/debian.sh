#!/bin/sh
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
# Sees to it that one of some programs is there: installs Debian's package if it may, else says how.
#
#     sh tools/debian.sh PACKAGE TESTS PROGRAM...
#
# TESTS are skipped without any of the programs.
set -eu
package=$1 tests=$2
shift 2
for program; do
    if command -v "$program" >/dev/null; then
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    if { apt-get update -q && apt-get install -q -y --no-install-recommends "$package"; } >/dev/null; then
        exit 0
    fi
fi
echo "$tests will be skipped: no $package; install it by: sudo apt-get install $package" >&2
