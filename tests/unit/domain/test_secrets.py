# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Secrets are neither shown nor stored."""

from __future__ import annotations

import shlex

import pytest

from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.secrets import (
    MASK,
    masked,
    masked_command,
    masked_text,
    masked_url,
    masked_values,
    without_secrets_of,
)


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN", "DB_PASSWORD", "db_passwd", "PASSPHRASE", "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID", "NGC_API_KEY", "api-key", "GOOGLE_APPLICATION_CREDENTIALS",
        "AUTHORIZATION", "REGISTRY_AUTH", "client_secret",
    ],
)  # fmt: skip
def test_the_value_of_a_secret_is_masked(name: str) -> None:
    assert masked(name, "s3cr3t") == MASK


@pytest.mark.parametrize(
    "name",
    ["PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "AUTHOR", "LD_PRELOAD", "KEYBOARD", "url"],
)
def test_any_other_value_is_shown(name: str) -> None:
    assert masked(name, "value") == "value"


def test_the_name_of_a_header_is_shown() -> None:
    assert masked("http-header", "X-Trace: 1") == f"X-Trace: {MASK}"
    assert masked("http-header", "no colon at all") == MASK


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("http-restricted-api", "metadata:key=s3cr3t", f"metadata:key={MASK}"),
        ("grpc-restricted-protocol", "health,infer:key=s3cr3t", f"health,infer:key={MASK}"),
        ("http-restricted-api", "s3cr3t", MASK),
        ("cache-config", "redis,password=s3cr3t,port=1", f"redis,password={MASK},port=1"),
        ("OPTIONS", "--api-key=s3cr3t --port=1", f"--api-key={MASK} --port=1"),
        ("backend-config", "x,token=s3cr3t,a=b", f"x,token={MASK},a=b"),
        ("cache-config", "local,size=1048576", "local,size=1048576"),
    ],
)
def test_a_secret_inside_a_value_is_masked_and_the_rest_is_shown(
    name: str, value: str, shown: str
) -> None:
    assert masked(name, value) == shown


def test_values_of_all_kinds_are_masked() -> None:
    values = {
        "HF_TOKEN": "s3cr3t",
        "cache-config": ("local,size=1", "redis,password=s3cr3t"),
        "shape": ("A:1",),
        "count": 3,
    }
    assert masked_values(values) == {
        "HF_TOKEN": MASK,
        "cache-config": ["local,size=1", f"redis,password={MASK}"],
        "shape": ["A:1"],
        "count": 3,
    }


def test_a_command_is_shown_with_odd_words_quoted_and_headers_masked() -> None:
    command = ["perf_analyzer", "-m", "my model", "-H", "Authorization: abc", "--shape=IN:1,2", ""]
    shown = masked_command(command)
    assert shown == (f"perf_analyzer -m 'my model' -H 'Authorization: {MASK}' --shape=IN:1,2 ''")
    assert "abc" not in shown


def test_a_quote_in_a_command_survives_a_shell() -> None:
    command = ["tool", "it's", 'say "no"', "$HOME", "a;b", "new\nline"]
    assert shlex.split(masked_command(command)) == command


@pytest.mark.parametrize(
    "name", ["TOKENIZERS_PARALLELISM", "max_tokens", "BYPASS_CACHE", "COMPASS", "AUTHOR"]
)
def test_words_that_only_look_like_secrets_are_shown(name: str) -> None:
    assert masked(name, "true") == "true"


def test_a_secret_with_equal_signs_is_masked_as_a_whole() -> None:
    shown = masked("http-restricted-api", "model-repository:admin-key=c2VjcmV0==")
    assert shown == f"model-repository:admin-key={MASK}"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://me:s3cr3t@host:8000/v2", f"https://me:{MASK}@host:8000/v2"),
        ("s3://:s3cr3t@bucket", f"s3://:{MASK}@bucket"),
        ("http://host:8000/a@b", "http://host:8000/a@b"),
        ("localhost:8001", "localhost:8001"),
    ],
)
def test_a_password_in_a_url_is_masked(value: str, shown: str) -> None:
    assert masked("STORAGE", value) == shown


def test_flags_of_a_command_are_masked_by_their_names() -> None:
    command = [
        "tritonserver", "--cache-config=redis,password=s3cr3t", "--http-restricted-api=a:k=s3cr3t",
        "--api-key", "s3cr3t", "--grpc-server-key=certificates/server.key",
        "--ssl-grpc-private-key-file", "client.key", "-H", "Authorization: s3cr3t",
    ]  # fmt: skip

    shown = masked_command(command)

    assert "s3cr3t" not in shown
    # a path is no secret, and needed to see what went wrong
    assert "--grpc-server-key=certificates/server.key" in shown
    assert "--ssl-grpc-private-key-file client.key" in shown
    assert shlex.split(shown)[1] == f"--cache-config=redis,password={MASK}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket/folder", "s3://bucket/folder"),
        ("/a/path", "/a/path"),
        ("s3://me:s3cr3t@bucket/folder", f"s3://{MASK}@bucket/folder"),
        ("ftp://me:s3/cr3t@host/folder", f"ftp://{MASK}@host/folder"),
        ("github://s3cr3t@host", f"github://{MASK}@host"),
        ("simplecache::s3://me:s3cr3t@bucket", f"simplecache::s3://{MASK}@bucket"),
        ("abfs://bucket/folder?sig=s3cr3t&x=s3cr3t", f"abfs://bucket/folder?{MASK}"),
    ],
)
def test_the_host_and_path_of_an_address_are_shown(url: str, shown: str) -> None:
    assert masked_url(url) == shown


@pytest.mark.parametrize(
    ("url", "text", "shown"),
    [
        (
            "s3://me:pass@b",
            "no s3://me:pass@b: passage denied",
            f"no s3://{MASK}@b: passage denied",
        ),
        ("s3://me:pass@b", "login of me with pass failed", f"login of me with {MASK} failed"),
        ("s3://b?sig=abc&key=def", "403 for /b?sig=abc, def", f"403 for /b?sig={MASK}, {MASK}"),
        ("s3://b", "no such bucket", "no such bucket"),
    ],
)
def test_messages_of_other_code_have_no_secrets_of_the_address(
    url: str, text: str, shown: str
) -> None:
    assert without_secrets_of(url, text) == shown


@pytest.mark.parametrize(
    "name",
    [
        "PGPASSWORD", "MYSQL_PWD", "HFTOKEN", "JWT", "BEARER", "SESSION_COOKIE", "SSH_PRIVATE_KEY",
        "SIGNING_KEY", "AZURE_STORAGE_KEY", "DATABASE_DSN", "clientSecret", "AccountKey", "sig",
        "KEY", "OAUTH2", "dbPassword", "SECRETS",
    ],
)  # fmt: skip
def test_names_with_prefixes_and_suffixes_are_secret_names(name: str) -> None:
    assert masked(name, "s3cr3t") == MASK


@pytest.mark.parametrize(
    "name", ["eos_token_id", "private-key-file", "password_path", "keyboard", "monkey", "design"]
)
def test_files_of_secrets_and_tokens_of_a_language_are_shown(name: str) -> None:
    assert masked(name, "value") == "value"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("eyJhbGciOiJI.eyJzdWIi.c2lnbmF0", MASK),
        ("with Bearer abc.def-ghi=", f"with Bearer {MASK}"),
        ("Authorization: Basic dXNlcjpwdw==", f"Authorization: {MASK}"),
        ("AccountName=me;AccountKey=s3cr3t==;X=y", f"AccountName=me;AccountKey={MASK};X=y"),
        ("https://x/c?sv=1&sig=s3%2Fcr3t&se=2", f"https://x/c?sv=1&sig={MASK}&se=2"),
        ("host=db password='s3 cr3t' user=me", f"host=db password='{MASK}' user=me"),
        ('{"user": "me", "password": "s3\\"cr3t"}', f'{{"user": "me", "password": "{MASK}"}}'),
        (r"{\"apiKey\":\"s3cr3t\"}", rf"{{\"apiKey\":\"{MASK}\"}}"),
        ("Driver=x;Pwd={s3;cr3t};Y=z", f"Driver=x;Pwd={MASK};Y=z"),
        ("me:s3cr3t@db.example:5432/x", f"me:{MASK}@db.example:5432/x"),
        ("postgres://me:p@s@db/x", f"postgres://me:{MASK}@db/x"),
        ("key AKIAABCDEFGHIJKLMNOP in use", f"key {MASK} in use"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", MASK),
        ("-----BEGIN PRIVATE KEY-----\ncut off", MASK),
        ("password: s3cr3t", f"password: {MASK}"),
    ],
)
def test_values_of_these_shapes_are_masked_whatever_their_name(text: str, shown: str) -> None:
    assert masked_text(text) == shown
    assert masked_text(shown) == shown, "again, nothing changes"


@pytest.mark.parametrize(
    "text",
    [
        "m_config_0: concurrency=4, p99 20.0 ms",
        "nvcr.io/nvidia/tritonserver:26.09-py3@sha256:0123456789ab",
        "mine:7@sha256:0123456789ab",
        "--backend-config=python,shm-region-prefix-name=ma_1_2_",
        "error: token: expected a value, basic information follows",
        "max_tokens=7 tokenizer=/models/t config.pbtxt:3:4: no field named 'x'",
        "http://localhost:8000/v2 and localhost:8001",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert masked_text(text) == text


def test_a_text_made_to_take_long_does_not() -> None:
    for piece in ("a-", "a:", '"a":"', "eyJ", "password=", "x-a-key: ", "://a:", "'", '\\"', "-"):
        masked_text(piece * 20_000)


def test_a_parameter_of_a_model_is_masked_by_its_name() -> None:
    config = {
        "name": "m",
        "parameters": {
            "password": {"string_value": "s3cr3t"},
            "store": {"string_value": "s3://me:s3cr3t@b"},
            "mode": {"string_value": "fast"},
        },
    }
    shown = masked_values(config)["parameters"]
    assert shown["password"] == {"string_value": MASK}
    assert "s3cr3t" not in str(shown)
    assert shown["mode"] == {"string_value": "fast"}


def test_the_path_of_a_key_file_is_no_secret() -> None:
    text = "perf_analyzer flag ssl-grpc-private-key-file: /etc/tls/client.key does not begin so"
    assert masked_text(text) == text
    assert "hidden" not in masked_text("the private_key: hidden")


OWN_TEXTS = [
    text
    for metric in METRICS.values()
    for text in (metric.tag, metric.name, metric.header, str(metric.unit), metric.unit.short)
]
# what a sentence, a table, a goal, a row or a document makes of them
SENTENCES = (
    "{} and 31.8 ms", "{} 1274.31", "{}: 31.8 ms", "{}=31.8", '"{}": "31.8"', "{}<200", "{}:2,{}:1",
    "{} vs. {}", "No regression: {} 31.80 -> 29.75 (p99)", "best {} is that of m_config_12",
)  # fmt: skip


@pytest.mark.parametrize("sentence", ["{}", *SENTENCES])
def test_our_own_metrics_are_no_secrets(sentence: str) -> None:
    for own in OWN_TEXTS:
        text = sentence.replace("{}", own)
        assert masked_text(text) == text


def test_ends_of_intervals_are_no_secrets() -> None:
    for tag in METRICS:
        assert masked_text(f"{tag}_low=3.25 {tag}_ms=31.8") == f"{tag}_low=3.25 {tag}_ms=31.8"


def test_values_by_the_names_of_metrics_are_no_secrets() -> None:
    values = {name: "31.8" for each in METRICS.values() for name in (each.tag, each.header)}

    assert masked_values(values) == values


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Token c0ffee42", f"Token {MASK}"),
        ("Authorization: Token c0ffee42", f"Authorization: {MASK}"),
        ("Output Token c0ffee42", f"Output Token {MASK}"),
        ("OUTPUT_TOKEN=c0ffee42", f"OUTPUT_TOKEN={MASK}"),
        ("output_token_throughput_key=c0ffee42", f"output_token_throughput_key={MASK}"),
        ("my_inter_token_latency_token=c0ffee42", f"my_inter_token_latency_token={MASK}"),
        (
            "Inter Token Latency 3 ms, HF_TOKEN=c0ffee42",
            f"Inter Token Latency 3 ms, HF_TOKEN={MASK}",
        ),
    ],
)
def test_secrets_beside_our_own_words_are_masked(text: str, shown: str) -> None:
    assert masked_text(text) == shown
