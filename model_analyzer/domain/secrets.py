# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Masks secrets in flags, URLs, headers, parameters and texts before they are shown or stored, and
the variables of a server, except known harmless ones.

The masked value of a variable has fingerprints made with a key of the user: a change of the
value is visible, and without the key nobody can find the value by trying.

    ****** 5f0c2d8e91ab               a setting: another value is another server setup
    ******~77ab01c3d4e5               a secret: another value is reported, and changes nothing
    ****** 5f0c2d8e91ab~77ab01c3d4e5  a setting with a secret in it, such as a URL
    ******                            unknown: there was no key

One variable says where the user's cache is, which all runs share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from model_analyzer.domain.metrics import METRICS

if TYPE_CHECKING:
    from pathlib import Path

MASK = "******"

_URL_USER = re.compile(r"(?<=://)(?:[^/?#]*|[^?#]*:[^?#]*)(?=@)")
_URL_QUERY = re.compile(r"(?<=\?).+")

# Their values end with a secret: APIS,KEY=VALUE.
_RESTRICTIONS = ("http-restricted-api", "grpc-restricted-protocol")

# Their values are NAME:VALUE; NAME decides whether VALUE is a secret.
_NAMED_VALUES = ("extra-inputs",)

# -- our own words -----------------------------------------------------------------------------

# Tags and names of metrics, which speak of the tokens of a language model, without the statistic.
_STATISTIC = re.compile(r"_(?:avg|min|max|p\d+)$|^(?:Avg|Min|Max|p\d+) ")
_OWN_TAGS = {_STATISTIC.sub("", tag) for tag in METRICS if "token" in tag}
_OWN_NAMES = {_STATISTIC.sub("", each.name) for each in METRICS.values() if "Token" in each.name}
_OWN_TAG = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(sorted(_OWN_TAGS, key=len, reverse=True))})")
# also from their word Token on, as in titles of charts
_OWN_PHRASES = _OWN_NAMES | {
    name[name.index("Token") :] for name in _OWN_NAMES if not name.endswith("Token")
}
_OWN = rf"\b(?:{'|'.join(map(re.escape, sorted(_OWN_PHRASES, key=len, reverse=True)))})\b"
_OWN_AT_END, _LONGEST_OWN = re.compile(rf"{_OWN}$"), max(map(len, _OWN_PHRASES)) + 1

# -- names -------------------------------------------------------------------------------------

# Anywhere in a name, for example PGPASSWORD.
_INSIDE = r"passw(?:or)?d|passphrase|secret(?![a-rt-z])"
# At the end of a word, for example HFTOKEN. A plural is a number: MAX_TOKENS.
_ENDS = r"token|apikey|accesskey"
# Only as a whole word.
_WORDS = (
    r"pass|pwd|pw|credentials?|o?auth2?|authorization|bearer|jwt|cookies?|sessions?|sas|sig"
    r"|signature|dsn|connection_string|otp|salt|webhook"
)
_SECRET_NAME = re.compile(
    rf"{_INSIDE}|(?:{_ENDS})(?![a-z])|(?<![a-z])(?:{_WORDS})(?![a-z])"
    r"|(?:private|api|access|account)_key|(?<![a-z])keys?$"
)
# Names of files and of kinds of secrets, and tokens of a language model.
_NO_SECRET_NAME = re.compile(
    r"_(?:file|path|dir|type)$|^grpc_server_key$"
    r"|(?<![a-z])(?:eos|bos|pad|sep|cls|unk|mask|start|end|stop|image)_token(?:_ids?)?$"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

# Masks of versions before 2026-11: their trial keys depend on it, so this never changes.
_FORMER_WORDS = r"pass(?:word|wd|phrase)?|secret|token|credentials?|api[-_]?key|access[-_]?key"
_FORMER_NAME = re.compile(
    rf"(?<![a-z])(?:{_FORMER_WORDS}|auth|authorization)(?![a-z])", re.IGNORECASE
)
_FORMER_VALUE = re.compile(rf"(?<![a-z])((?:{_FORMER_WORDS})=)[^,;\s]+", re.IGNORECASE)
_FORMER_URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):[^/\s@]+(?=@)")


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether the name of a variable, flag, header or parameter says that its value is a secret."""
    words = _OWN_TAG.sub("", re.sub(r"[-. ]", "_", _CAMEL.sub("_", name)).lower())
    return bool(_SECRET_NAME.search(words)) and not _NO_SECRET_NAME.search(words)


# -- values ------------------------------------------------------------------------------------

_PEM = r"-----BEGIN [^-]{1,60}-----.*?(?:-----END [^-]{1,60}-----|\Z)"
_JSON_WEB_TOKEN = r"(?<![\w-])eyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)*"
_TOKENS = (
    r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}"
    r"|hf_\w{16,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}|sk-[\w-]{16,}|[rs]k_live_\w{10,}"
    r"|nvapi-[\w-]{16,}|glpat-[\w-]{16,}|npm_\w{30,})"
)
_SHAPES = re.compile(rf"{_PEM}|{_JSON_WEB_TOKEN}|{_TOKENS}", re.DOTALL)

_SCHEMES = re.compile(
    rf"({_OWN})|"
    r"((?i:\bbearer)\s+|\b(?:Basic|Digest|Token|ApiKey|Negotiate)\s+(?=\S*[A-Z0-9=]))"
    r"[\w.~+/=-]{4,}"
)
_HEADERS = re.compile(
    r"((?<![\w-])(?:(?:proxy-)?authorization|x-[\w-]{0,60}(?:key|token|auth|secret)"
    r"|(?:set-)?cookie)\\*[\"']?\s*[:=]\s*\\*[\"']?)[^\r\n\"'\\]+",
    re.IGNORECASE,
)
# NAME=VALUE, "NAME": VALUE and, if the name is unambiguous, NAME: VALUE
_ASSIGNMENTS = re.compile(
    r"(?<![\w.])(?P<name>[A-Za-z_][\w.-]{0,80})(?P<quote>\\*[\"'])?(?P<sign>\s?[=:]\s*)"
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"|\\+\"[^\"]*\"|'[^']*'|\{[^}]*\}|[^\s,;&\"']+|\\*[\"'].*)"
)
_NO_DOUBT = re.compile(r"passw(or)?d|passphrase|secret|(api|access|account|private)[-_]?key", re.I)

_URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):[^/\s]+(?=@)")
_USER_PASSWORD = re.compile(r"(?<![\w/:.@%+-])([\w.%+-]{1,80}):([^\s:@/]+)(?=@(?!sha256:)[\w\[])")


# Most values of flags: too short for a key, and without a name before them.
_PLAIN = re.compile(r"[\w%+-]{0,15}|[\d.:,]*")


def masked_text(text: str) -> str:
    """`text` with everything masked that looks like a secret."""
    if _PLAIN.fullmatch(text):
        return text
    text = _SHAPES.sub(MASK, text)
    text = _HEADERS.sub(rf"\g<1>{MASK}", text)
    text = _SCHEMES.sub(lambda match: match[1] or match[2] + MASK, text)
    text = _ASSIGNMENTS.sub(_masked_assignment, text)
    text = _URL_PASSWORD.sub(rf"\g<1>:{MASK}", text)
    return _USER_PASSWORD.sub(rf"\g<1>:{MASK}", text)


def _masked_assignment(match: re.Match[str]) -> str:
    name = match["name"]
    is_prose = ":" in match["sign"] and match["quote"] is None
    is_secret = is_secret_name(name) and (not is_prose or _NO_DOUBT.search(name))
    if not is_secret or match["value"].startswith(MASK):
        return match[0]
    end = match.end("name")
    if _OWN_AT_END.search(match.string, max(0, end - _LONGEST_OWN), end):
        return match[0]
    opening = re.match(r"\\*[\"']", match["value"])
    quote = opening[0] if opening else ""
    closing = quote if match["value"].endswith(quote) else ""
    return f"{name}{match['quote'] or ''}{match['sign']}{quote}{MASK}{closing}"


def without_values(text: str, secrets: Iterable[str]) -> str:
    """`text` with these secrets masked, and everything that looks like one."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return masked_text(text)


# -- by name -----------------------------------------------------------------------------------


@lru_cache(maxsize=1024)  # the same few flags are part of the key of each trial
def masked(name: str, value: str) -> str:
    """`value`, unless `name` (of a variable or flag) or a part of it says that it is a secret.

    The name of an HTTP header stays readable.
    """
    if name in _RESTRICTIONS:
        readable, equals, _ = value.partition("=")
        return readable + equals + MASK if equals else MASK
    if name == "http-header":
        header, colon, _ = value.partition(":")
        return f"{header}{colon} {MASK}" if colon else MASK
    if name in _NAMED_VALUES:
        parameter, colon, _ = value.partition(":")
        return parameter + colon + MASK if is_secret_name(parameter) else masked_text(value)
    return MASK if is_secret_name(name) else masked_text(value)


def masked_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of flags, variables or a model configuration with secrets masked, also inside
    mappings and lists.
    """
    return {name: _masked_value(name, value) for name, value in values.items()}


def _masked_value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        # the value of a parameter is one level down: {"password": {"string_value": …}}
        return {
            inner: _masked_value(name if is_secret_name(name) else inner, item)
            for inner, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_masked_value(name, item) for item in value]
    return masked(name, value) if isinstance(value, str) else value


# -- addresses and commands --------------------------------------------------------------------


def masked_url(url: str) -> str:
    """The address of a store for people: without user, password and query (signatures, keys)."""
    return _URL_QUERY.sub(MASK, _URL_USER.sub(MASK, url))


def without_secrets_of(url: str, text: str) -> str:
    """A message of other code about a store: `text` with the secrets of `url` masked."""
    text = text.replace(url, masked_url(url))
    users = [user.partition(":")[2] or user for user in _URL_USER.findall(url)]
    queries = [
        value for query in _URL_QUERY.findall(url) for value in re.split("[&=]", query)[1::2]
    ]
    for secret in filter(None, users + queries):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return masked_text(text)


def masked_command(command: Sequence[str]) -> str:
    """A command line for people: secrets masked, odd arguments quoted."""
    shown = []
    for before, word in zip(("", *command), command, strict=False):
        text = _masked_word(before, word)
        shown.append(
            text
            if re.fullmatch(r"[\w@%+=:,./-]+", text)
            else "'" + text.replace("'", "'\\''") + "'"
        )
    return " ".join(shown)


def _masked_word(before: str, word: str) -> str:
    """A word of a command line: `--name=value`, the value of `--name` before it, or neither."""
    if before == "-H":
        return masked("http-header", word)
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name + equals + masked(name[2:], value) if equals else word
    is_value = before.startswith("--") and "=" not in before
    return masked(before[2:], word) if is_value else masked_text(word)


def formerly_masked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of flags or variables as they counted in a server setup before 2026-11."""
    return {
        name: [_formerly_masked(name, item) for item in value]
        if isinstance(value, tuple)
        else _formerly_masked(name, value)
        for name, value in values.items()
    }


def _formerly_masked(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if name in ("http-restricted-api", "grpc-restricted-protocol"):
        readable, equals, _ = value.partition("=")
        return readable + equals + MASK if equals else MASK
    if name == "http-header":
        header, colon, _ = value.partition(":")
        return f"{header}{colon} {MASK}" if colon else MASK
    if _FORMER_NAME.search(name):
        return MASK
    return _FORMER_URL_PASSWORD.sub(rf"\g<1>:{MASK}", _FORMER_VALUE.sub(rf"\g<1>{MASK}", value))


# Variables that say how a server computes; none of them gives access to anything.
_HARMLESS = re.compile(
    r"(?:OMP|KMP|GOMP|MKL|OPENBLAS|BLIS|NUMEXPR|VECLIB|TF|XLA|ORT|TRT|TENSORRT|TRITON|TORCH|PYTORCH"
    r"|NCCL|CUDA|CUBLAS|CUDNN|NVIDIA|TBB|DNNL|ONEDNN|MALLOC|TCMALLOC|OPENVINO|OV)_\w+"
    r"|LD_(?:LIBRARY_PATH|PRELOAD|BIND_NOW)|PATH|PYTHON(?:PATH|HOME|UNBUFFERED|HASHSEED)"
    r"|LANG|LC_\w+|TZ|HOME|TMPDIR|TOKENIZERS_PARALLELISM|(?:HF|TRANSFORMERS)_(?:HOME|CACHE|OFFLINE)"
    r"|HF_(?:HUB|DATASETS)_OFFLINE"
)
_DIGITS = 12
_MASKED = re.compile(
    re.escape(MASK)
    + rf"(?: (?P<setting>[0-9a-f]{{{_DIGITS}}}))?(?:~(?P<secret>[0-9a-f]{{{_DIGITS}}}))?"
)


@dataclass(frozen=True, slots=True)
class Veil:
    """Masks values of variables, except harmless ones and those `shown` by the user.

    Without a `key`, masked values have no fingerprints.
    """

    key: bytes | None = field(default=None, repr=False)
    shown: frozenset[str] = frozenset()

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """`variables` as they are stored and shown; masked values stay as they are."""
        return {name: self._kept(name, value) for name, value in variables.items()}

    def container(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a container as they are stored and shown; variables are NAME=VALUE."""
        kept = masked_values(arguments)
        given: Sequence[str] = arguments.get("environment", ())
        if "environment" in arguments:
            kept["environment"] = [self._pair(str(text)) for text in given]
        return kept

    def hides(self, name: str) -> bool:
        """Whether every value of this variable is masked."""
        return name not in self.shown and not is_harmless(name)

    def _pair(self, text: str) -> str:
        name, equals, value = text.partition("=")
        return f"{name}={self._kept(name, value)}" if equals else text

    def _kept(self, name: str, value: str) -> str:
        if not self.hides(name):
            return masked_text(value)
        if _MASKED.fullmatch(value):
            return value
        rest = masked(name, value)
        setting = "" if rest == MASK else self._fingerprint(" ", name, rest)
        secret = "" if rest == value else self._fingerprint("~", name, value)
        return MASK + setting + secret

    def _fingerprint(self, sign: str, name: str, value: str) -> str:
        if self.key is None:
            return ""
        import hashlib
        import hmac

        text = f"{sign}{name}\0{value}".encode(errors="surrogatepass")
        return sign + hmac.new(self.key, text, hashlib.sha256).hexdigest()[:_DIGITS]


def is_harmless(name: str) -> bool:
    """Whether a variable of this name never holds a secret."""
    return bool(_HARMLESS.fullmatch(name)) and not is_secret_name(name)


def is_masked(stored: str) -> bool:
    """Whether a stored value is masked as a whole."""
    return bool(_MASKED.fullmatch(stored))


def setting_of(stored: str) -> str:
    """The part of a stored value that belongs to the server setup: all except the secret in it."""
    match = _MASKED.fullmatch(stored)
    if match is None:
        return stored
    return f"{MASK} {match['setting']}" if match["setting"] else MASK


def settings_of(stored: Mapping[str, str]) -> dict[str, str]:
    """The parts of stored variables that belong to the server setup."""
    return {name: setting_of(value) for name, value in stored.items()}


def container_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The same for the stored arguments of a container."""
    if "environment" not in stored:
        return dict(stored)
    pairs = [text.partition("=") for text in stored["environment"]]
    texts = [name + equals + setting_of(value) for name, equals, value in pairs]
    return {**stored, "environment": texts}


# -- texts of programs --------------------------------------------------------------------------

# Shorter values would be found in every text.
_SHORTEST = 6
_SHORTEST_LINE = 16
_PATH = re.compile(r"(?:[~.]{0,2}/[\w.+-]*)+")


def hidden_values(veil: Veil, variables: Mapping[str, str]) -> Iterator[str]:
    """The values of variables that must not be shown: a server or perf_analyzer may repeat them in
    its messages. Paths are left out, unless the name says that the value is a secret.
    """
    for name, value in variables.items():
        if not veil.hides(name) or (_PATH.fullmatch(value) and not is_secret_name(name)):
            continue
        if len(value) >= _SHORTEST:
            yield value
        lines = value.splitlines()
        if len(lines) > 1:
            yield from (line for line in lines if len(line) >= _SHORTEST_LINE)


def cache_directory(environment: Mapping[str, str]) -> Path:
    """The directory for files that can be fetched or made again."""
    from pathlib import Path

    base = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "model-analyzer"
