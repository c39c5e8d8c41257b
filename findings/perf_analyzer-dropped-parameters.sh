#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0, tritonserver 2.51.0 of nvidia-pytriton 0.7.0) takes any
# type in --request-parameter NAME:VALUE:TYPE, but sends parameters of the types int, bool and string
# only. One of the type double, float or uint is left out of all requests, without a word and with
# status 0. Values are not checked either: "yes" as bool is sent as false, and 1.7 as int as 1.
#
# Guess before: a type that it does not know is refused; protocol and server know double, too.
#
# Seen: what a model receives: {} for t:0.7:double and t:1:uint, {"t":false} for t:yes:bool and
# t:1:bool, {"t":1} for t:1.7:int.
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

mkdir -p "$work/models/m/1"
cat > "$work/models/m/config.pbtxt" <<'CONFIG'
backend: "python"
input [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
CONFIG
cat > "$work/models/m/1/model.py" <<MODEL
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        with open("$work/seen", "w") as file:
            file.write(requests[0].parameters())
        return [pb.InferenceResponse([pb.Tensor("Y", np.ones(1, np.float32))]) for _ in requests]
MODEL

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

check() {
    local status=0
    timeout 60 "$work/rt/bin/perf_analyzer" -m m -i grpc -u "127.0.0.1:$grpc" --request-count 5 \
        --request-parameter "$1" > "$work/output.txt" 2>&1 || status=$?
    echo "$1: status $status, the model receives $(cat "$work/seen")"
    [[ $status == 0 && $(cat "$work/seen") == "$2" ]] ||
        { echo "changed: expected status 0 and $2" >&2; exit 1; }
}
check t:7:int '{"t":7}'
check t:0.7:double '{}'
check t:1:uint '{}'
check t:yes:bool '{"t":false}'
check t:1:bool '{"t":false}'
check t:1.7:int '{"t":1}'
