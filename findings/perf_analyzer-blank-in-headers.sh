#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0, tritonserver 2.51.0 of nvidia-pytriton 0.7.0) sends the
# headers of -H over gRPC, too, although its help says that they are ignored there. But a blank
# after the colon, as in "Name: value", is a part of the value that it sends.
#
# Guess before: as with curl, the blank does not count; by its help, no header is sent.
#
# Seen: a server whose statistics need a header: with "key:value" a measurement, with "key: value"
# status 99 and "This protocol is restricted, expecting header".
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
cat > "$work/models/m/1/model.py" <<'MODEL'
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
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
    --grpc-restricted-protocol=statistics:key=value \
    --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
    --metrics-port "$metrics" > "$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$grpc") 2> /dev/null && break
    sleep 0.2
done
sleep 2

ask() {
    timeout 60 "$work/rt/bin/perf_analyzer" -m m -i grpc -u "127.0.0.1:$grpc" --request-count 20 \
        -H "$1" > "$work/output.txt" 2>&1
}
status=0
ask "triton-grpc-protocol-key:value" || status=$?
echo "without a blank: status $status"
blank=0
ask "triton-grpc-protocol-key: value" || blank=$?
echo "with a blank: status $blank: $(grep -m 1 restricted "$work/output.txt" || true)"
if [ "$status" != 0 ] || [ "$blank" != 99 ]; then
    echo "changed: in 2.51.0, the first had status 0, and the second 99" >&2
    exit 1
fi
