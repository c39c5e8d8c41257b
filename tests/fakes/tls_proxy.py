# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A proxy that speaks TLS with clients that have a certificate, and passes everything on.

Arguments: the port behind it, and the directory with ca.pem, server.pem and server.key. Its own
port, a free one, is the line that it prints.
"""

from __future__ import annotations

import socket
import ssl
import sys
import threading


def serve(client: socket.socket, context: ssl.SSLContext, port: int) -> None:
    try:
        with (
            context.wrap_socket(client, server_side=True) as outer,
            socket.create_connection(("127.0.0.1", port)) as inner,
        ):
            back = threading.Thread(target=copy, args=(inner, outer), daemon=True)
            back.start()
            copy(outer, inner)
            back.join()
    except OSError:
        pass  # no certificate, or gone


def copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def main() -> None:
    port, directory = int(sys.argv[1]), sys.argv[2]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{directory}/server.pem", f"{directory}/server.key")
    context.load_verify_locations(f"{directory}/ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, context, port), daemon=True).start()


if __name__ == "__main__":
    main()
