#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer of tritonclient 2.49.0 and 2.50.0 does not know its version: "--version" prints an
# empty number and an unknown commit, with status 0, so a program that asks for it before it relies
# on a flag learns nothing. Those of 2.48.0 and 2.51.0 print their numbers.
#
# Guess before: every release prints its own number.
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.8 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" nvidia-pytriton==0.7.0
libs=$work/rt/nvidia_pytriton.libs
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')

for version in 2.48.0 2.49.0 2.50.0 2.51.0; do
    "$work/env/bin/pip" install --quiet --no-deps --target "$work/$version" "tritonclient==$version"
    chmod +x "$work/$version/bin/perf_analyzer"
    said=$("$work/$version/bin/perf_analyzer" --version 2>&1)
    echo "tritonclient $version: $said"
    case $version in
        2.49.0 | 2.50.0) expected="Perf Analyzer Version  (commit " ;;
        *) expected="Perf Analyzer Version $version (commit " ;;
    esac
    [[ $said == "$expected"* ]] || { echo "changed: expected \"$expected...\""; exit 1; }
done
