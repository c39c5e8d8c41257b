# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q17: gRPC with mutual TLS, for perf_analyzer and for the program's own requests."""

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("is_good", [True, False], ids=["good key", "corrupted key"])
def test_mutual_tls(scenario, certificates, short_windows, is_good: bool) -> None:
    key = certificates["client.key"] if is_good else certificates.corrupt("client.key", 0.15)

    run = scenario.profile(
        run_config_search_disable=True,
        profile_models=["add_sub"],
        triton_server_flags={
            "grpc-use-ssl": True,
            "grpc-use-ssl-mutual": True,
            "grpc-root-cert": certificates["ca.pem"],
            "grpc-server-cert": certificates["server.pem"],
            "grpc-server-key": certificates["server.key"],
        },
        perf_analyzer_flags={
            **short_windows,
            "ssl-grpc-use-ssl": True,
            "ssl-grpc-root-certifications-file": certificates["ca.pem"],
            "ssl-grpc-private-key-file": key,
            "ssl-grpc-certificate-chain-file": certificates["client.pem"],
        },
    )

    assert (run.status == 0) == is_good, run.output
    assert "Traceback" not in run.output
