#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0, tritonserver 2.51.0 of nvidia-pytriton 0.7.0) refuses
# input data of several shapes with a batch size above 1, even if the steps of each batch that it
# would send have one shape: it also checks batches that begin between these.
#
# Seen: four steps with the sizes 2, 2, 1, 1. With -b 1, all are sent. With -b 2, the requests would
# be (2, 2) and (1, 1), and it ends with status 99 before it sends one: "can not batch tensors with
# different shapes together (input 'X' expected shape [2] and received [1]".
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.8 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet 'numpy==1.26.4'
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" \
    nvidia-pytriton==0.7.0 tritonclient==2.51.0
triton=$work/rt/pytriton/tritonserver libs=$work/rt/nvidia_pytriton.libs
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cp "$triton/python_backend_stubs/$version/triton_python_backend_stub" "$triton/backends/python/"
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
chmod +x "$triton/bin/tritonserver" "$triton/backends/python/triton_python_backend_stub" \
    "$work/rt/bin/perf_analyzer"
export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
export PATH=$work/env/bin:$PATH

mkdir -p "$work/models/free/1"
cat > "$work/models/free/config.pbtxt" <<'CONFIG'
name: "free"
backend: "python"
max_batch_size: 8
input [ { name: "X" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
CONFIG
cat > "$work/models/free/1/model.py" <<'MODEL'
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        batches = [request.inputs()[0].shape()[0] for request in requests]
        return [
            pb.InferenceResponse([pb.Tensor("Y", np.ones((batch, 1), np.float32))])
            for batch in batches
        ]
MODEL
cat > "$work/steps.json" <<'DATA'
{"data": [
  {"X": {"content": [0.5, 0.5], "shape": [2]}}, {"X": {"content": [0.5, 0.5], "shape": [2]}},
  {"X": {"content": [0.5], "shape": [1]}}, {"X": {"content": [0.5], "shape": [1]}}
]}
DATA

read -r http grpc metrics < <(python3 - <<'PORTS'
import socket
sockets = [socket.socket() for _ in range(3)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
PORTS
)
"$triton/bin/tritonserver" --model-repository "$work/models" \
    --backend-directory "$triton/backends" --disable-auto-complete-config \
    --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
    --metrics-port "$metrics" > "$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$grpc") 2> /dev/null && break
    sleep 0.2
done
sleep 2

cd "$work"
measure() {
    timeout 60 "$work/rt/bin/perf_analyzer" -m free -u "127.0.0.1:$grpc" -i grpc \
        --input-data steps.json --request-count 4 -b "$1" > "output-$1.txt" 2>&1
}
measure 1
status=0
measure 2 || status=$?
echo "-b 1: status 0, -b 2: status $status"
grep "can not batch" output-2.txt || { echo "changed: 2.51.0 refused to batch"; exit 1; }
[ "$status" = 99 ] || { echo "changed: it ended with status 99 in 2.51.0"; exit 1; }
