#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0, tritonserver 2.51.0 of nvidia-pytriton 0.7.0) with
# --trace-level changes the trace settings of the whole server, and does not put them back: after the
# run, the server goes on to trace requests to all of its models, at the rate of the flags.
#
# Guess before: only the model that is measured is traced, and only while it is measured.
#
# Seen: a server with a trace file and the level OFF. After a run on the model "one" with --trace-level
# TIMESTAMPS --trace-rate 1, the model "two", too, has the level TIMESTAMPS and the rate 1.
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

for name in one two; do
    mkdir -p "$work/models/$name/1"
    cat > "$work/models/$name/config.pbtxt" <<'CONFIG'
backend: "python"
input [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
CONFIG
    cat > "$work/models/$name/1/model.py" <<'MODEL'
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("Y", np.ones(1, np.float32))]) for _ in requests]
MODEL
done

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
    --trace-config "triton,file=$work/trace.json" --trace-config mode=triton \
    --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
    --metrics-port "$metrics" > "$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$grpc") 2> /dev/null && break
    sleep 0.2
done
sleep 2

setting() { curl --silent --max-time 5 "http://127.0.0.1:$http/v2/models/two/trace/setting"; }
before=$(setting)
timeout 60 "$work/rt/bin/perf_analyzer" -m one -i grpc -u "127.0.0.1:$grpc" --request-count 20 \
    --trace-level TIMESTAMPS --trace-rate 1 > "$work/output.txt" 2>&1 || { cat "$work/output.txt"; exit 1; }
after=$(setting)
echo "before: $before"
echo "after: $after"
[[ $before == *'"OFF"'* ]] || { echo "the server traces from the start" >&2; exit 1; }
[[ $after == *'"TIMESTAMPS"'*'"trace_rate":"1"'* ]] ||
    { echo "changed: the settings were put back" >&2; exit 1; }
