# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q18: a remote server behind a proxy that speaks HTTPS, on a port of its own rather than 443."""

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("is_good", [True, False], ids=["good key", "corrupted key"])
def test_https(scenario, remote, tls_proxy, certificates, short_windows, is_good: bool) -> None:
    key = certificates["client.key"] if is_good else certificates.corrupt("client.key", 0.15)
    server = remote("explicit")

    run = scenario.profile(
        run_config_search_disable=True,
        profile_models={"add_sub": {"cpu_only": scenario.cpu_only}},
        **server.reached("http", triton_http_endpoint=tls_proxy(server.http)),
        perf_analyzer_flags={
            **short_windows,
            "ssl-https-verify-peer": 1,
            "ssl-https-verify-host": 2,
            "ssl-https-ca-certificates-file": certificates["ca.pem"],
            "ssl-https-client-certificate-file": certificates["client.pem"],
            "ssl-https-client-certificate-type": "PEM",
            "ssl-https-private-key-file": key,
            "ssl-https-private-key-type": "PEM",
        },
    )

    assert (run.status == 0) == is_good, run.output
    assert "Traceback" not in run.output
