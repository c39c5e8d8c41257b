#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# tritonserver 2.51.0 (of nvidia-pytriton 0.7.0) says that its gRPC port is in use if the file of
# --grpc-server-cert is missing: "failed to start GRPC service: Unavailable - Socket '127.0.0.1:PORT'
# already in use". No line names the file, and nothing else listens there: the same command without
# TLS starts.
#
# Guess before: it names the file that it cannot read.
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.8 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" nvidia-pytriton==0.7.0
triton=$work/rt/pytriton/tritonserver libs=$work/rt/nvidia_pytriton.libs
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
chmod +x "$triton/bin/tritonserver"
export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')

mkdir "$work/models"
read -r http grpc < <(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(each.getsockname()[1] for each in sockets))')

started() {
    timeout 20 "$triton/bin/tritonserver" --model-repository "$work/models" --allow-metrics false \
        --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
        "$@" > "$work/log" 2>&1 || true
    grep -oE "Started GRPCInferenceService|failed to start GRPC service.*" "$work/log"
}

plain=$(started)
tls=$(started --grpc-use-ssl true --grpc-server-cert "$work/none.pem" --grpc-server-key "$work/none.key")
echo "without TLS: $plain"
echo "with a missing certificate: $tls"
[[ $plain == Started* ]] || { echo "changed: it does not start without TLS"; exit 1; }
[[ $tls == *"already in use"* ]] || { echo "changed: another message"; exit 1; }
