"""Secrets as providers make them, made up when a test runs: nothing in this file is one, or looks like one.

samples(seed, rounds)   each provider's secret in a few places where people leave them
harmless(seed, rounds)  what looks alike and is to be left alone
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

LETTERS = string.ascii_letters
DIGITS = string.digits
BASE62 = LETTERS + DIGITS
UPPER = string.ascii_uppercase + DIGITS
BASE32 = string.ascii_uppercase + "234567"
LOWER = string.ascii_lowercase + DIGITS
HEX = "0123456789abcdef"
URL_SAFE = BASE62 + "_-"
BASE64 = BASE62 + "+/"

Make = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Sample:
    provider: str
    secret: str
    text: str


def _of(alphabet: str, count: int, start: str = "", end: str = "") -> Make:
    return lambda dice: start + "".join(dice.choices(alphabet, k=count)) + end


def _parts(*makes: Make | str) -> Make:
    return lambda dice: "".join(make if isinstance(make, str) else make(dice) for make in makes)


def _uuid(dice: random.Random) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128), version=4))


def _segment(dice: random.Random, value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _jwt(dice: random.Random) -> str:
    head = _segment(dice, {"alg": "HS256", "typ": "JWT"})
    body = _segment(dice, {"sub": str(dice.randrange(10**9)), "name": "Ada", "iat": 1_700_000_000})
    return f"{head}.{body}.{_of(URL_SAFE, 43)(dice)}"


def _pypi(dice: random.Random) -> str:
    # Every one begins alike: the index it is for is named first, in base64.
    return "pypi-AgEIcHlwaS5vcmc" + _of(URL_SAFE, 120)(dice)


# Those that are known by how they look, wherever they stand.
TOKENS: Mapping[str, Make] = {
    "memhook": _of(HEX, 64, "memhook_"),
    "aws": _of(BASE32, 16, "AKIA"),
    "aws temporary": _of(BASE32, 16, "ASIA"),
    "google": _of(URL_SAFE, 35, "AIza"),
    "google oauth": _of(URL_SAFE, 28, "GOCSPX-"),
    "google access": _of(URL_SAFE, 120, "ya29."),
    "azure client": _parts(_of(BASE62, 3), "8Q~", _of(BASE62 + "_.~-", 34)),
    "azure devops": _parts(_of(BASE62, 76), "AZDO", _of(BASE62, 4)),
    "alibaba": _of(BASE62, 20, "LTAI5t"),
    "tencent": _of(BASE62, 32, "AKID"),
    "digitalocean": _of(HEX, 64, "dop_v1_"),
    "heroku": _parts("HRKU-", _uuid),
    "cloudflare origin": _parts("v1.0-", _of(HEX, 24), "-", _of(HEX, 146)),
    "netlify": _of(BASE62, 36, "nfp_"),
    "render": _of(BASE62, 32, "rnd_"),
    "supabase": _of(HEX, 40, "sbp_"),
    "planetscale": _of(URL_SAFE, 43, "pscale_tkn_"),
    "databricks": _of(HEX, 32, "dapi"),
    "pulumi": _of(HEX, 40, "pul-"),
    "vault": _of(URL_SAFE, 90, "hvs."),
    "terraform": _parts(_of(BASE62, 14), ".atlasv1.", _of(URL_SAFE, 67)),
    "doppler": _of(BASE62, 43, "dp.pt."),
    "tailscale": _parts("tskey-auth-", _of(BASE62, 12), "CNTRL-", _of(BASE62, 32)),
    "age": _of(UPPER, 58, "AGE-SECRET-KEY-1"),
    "github": _of(BASE62, 36, "ghp_"),
    "github app": _of(BASE62, 36, "ghs_"),
    "github fine-grained": _parts("github_pat_", _of(BASE62, 22), "_", _of(BASE62, 59)),
    "gitlab": _of(URL_SAFE, 20, "glpat-"),
    "gitlab runner": _of(URL_SAFE, 20, "glrt-"),
    "bitbucket": _of(BASE62, 32, "ATBB"),
    "atlassian": _of(URL_SAFE, 180, "ATATT3xFfGF0", "=1A2B3C4D"),
    "sonar": _of(HEX, 40, "sqp_"),
    "buildkite": _of(HEX, 40, "bkua_"),
    "npm": _of(BASE62, 36, "npm_"),
    "pypi": _pypi,
    "rubygems": _of(HEX, 48, "rubygems_"),
    "nuget": _of(LOWER, 43, "oy2"),
    "crates": _of(BASE62, 32, "cio"),
    "docker": _of(URL_SAFE, 27, "dckr_pat_"),
    "artifactory": _of(BASE62, 69, "AKCp"),
    "clojars": _of(LOWER, 60, "CLOJARS_"),
    "slack bot": _parts("xoxb-", _of(DIGITS, 12), "-", _of(DIGITS, 13), "-", _of(BASE62, 24)),
    "slack user": _parts("xoxp-", _of(DIGITS, 12), "-", _of(DIGITS, 12), "-", _of(DIGITS, 12), "-", _of(HEX, 32)),
    "slack app": _parts("xapp-1-A", _of(UPPER, 10), "-", _of(DIGITS, 13), "-", _of(HEX, 64)),
    "discord": _parts("M", _of(BASE62, 25), ".", _of(BASE62, 6), ".", _of(URL_SAFE, 38)),
    "telegram": _parts(_of("123456789", 10), ":AA", _of(URL_SAFE, 33)),
    "sendgrid": _parts("SG.", _of(URL_SAFE, 22), ".", _of(URL_SAFE, 43)),
    "mailgun": _of(HEX, 32, "key-"),
    "mailgun new": _parts(_of(HEX, 32), "-", _of(HEX, 8), "-", _of(HEX, 8)),
    "mailchimp": _parts(_of(HEX, 32), "-us", _of("12", 2)),
    "brevo": _parts("xkeysib-", _of(HEX, 64), "-", _of(BASE62, 16)),
    "resend": _parts("re_", _of(BASE62, 8), "_", _of(BASE62, 24)),
    "twilio": _of(HEX, 32, "SK"),
    "stripe": _of(BASE62, 24, "sk_live_"),
    "stripe restricted": _of(BASE62, 99, "rk_live_"),
    "stripe webhook": _of(BASE62, 32, "whsec_"),
    "square": _of(URL_SAFE, 43, "sq0csp-"),
    "braintree": _parts("access_token$production$", _of(LOWER, 16), "$", _of(HEX, 32)),
    "shopify": _of(HEX, 32, "shpat_"),
    "razorpay": _of(BASE62, 14, "rzp_live_"),
    "plaid": _parts("access-production-", _uuid),
    "flutterwave": _of(LOWER, 32, "FLWSECK-", "-X"),
    "openai": _of(BASE62, 48, "sk-"),
    "openai project": _of(URL_SAFE, 156, "sk-proj-"),
    "anthropic": _of(URL_SAFE, 93, "sk-ant-api03-", "AA"),
    "huggingface": _of(BASE62, 34, "hf_"),
    "replicate": _of(BASE62, 37, "r8_"),
    "groq": _of(BASE62, 52, "gsk_"),
    "perplexity": _of(BASE62, 48, "pplx-"),
    "openrouter": _of(HEX, 64, "sk-or-v1-"),
    "xai": _of(BASE62, 80, "xai-"),
    "nvidia": _of(URL_SAFE, 64, "nvapi-"),
    "langsmith": _parts("lsv2_pt_", _of(HEX, 32), "_", _of(HEX, 10)),
    "pinecone": _parts("pcsk_", _of(BASE62, 5), "_", _of(BASE62, 63)),
    "new relic": _of(UPPER, 27, "NRAK-"),
    "sentry": _of(HEX, 64, "sntryu_"),
    "grafana": _parts("glsa_", _of(BASE62, 32), "_", _of(HEX, 8)),
    "dynatrace": _parts("dt0c01.", _of(BASE32, 24), ".", _of(BASE32, 64)),
    "linear": _of(BASE62, 40, "lin_api_"),
    "notion": _of(BASE62, 46, "ntn_"),
    "airtable": _parts("pat", _of(BASE62, 14), ".", _of(HEX, 64)),
    "figma": _of(URL_SAFE, 40, "figd_"),
    "postman": _parts("PMAK-", _of(HEX, 24), "-", _of(HEX, 34)),
    "hubspot": _parts("pat-na1-", _uuid),
    "jwt": _jwt,
}
# Those that only their name tells.
NAMED: Mapping[str, tuple[str, Make]] = {
    "aws secret": ("aws_secret_access_key", _of(BASE64, 40)),
    "azure storage": ("AccountKey", _of(BASE64, 86, end="==")),
    "cloudflare": ("CLOUDFLARE_API_TOKEN", _of(URL_SAFE, 40)),
    "datadog": ("DD_API_KEY", _of(HEX, 32)),
    "heroku named": ("HEROKU_API_KEY", _uuid),
    "twilio named": ("TWILIO_AUTH_TOKEN", _of(HEX, 32)),
    "cohere": ("COHERE_API_KEY", _of(BASE62, 40)),
    "mistral": ("MISTRAL_API_KEY", _of(BASE62, 32)),
    "algolia": ("algolia_admin_key", _of(HEX, 32)),
    "okta": ("okta_api_token", _of(URL_SAFE, 42, "00")),
    "pagerduty": ("pagerduty_token", _of(URL_SAFE, 20)),
    "django": ("SECRET_KEY", _of(LOWER + "!@#$%^&*(-_=+)", 50)),
    "rails": ("secret_key_base", _of(HEX, 128)),
    "oauth client": ("client_secret", _of(URL_SAFE, 32)),
    "database": ("DB_PASSWORD", _of(BASE62 + "!#%*+-_", 16)),
    "smtp": ("smtp_password", _of(BASE62, 14)),
    "session": ("session_secret", _of(BASE62, 32)),
    "webhook": ("webhook_secret", _of(HEX, 40)),
}


def samples(seed: int, rounds: int) -> Iterator[Sample]:
    dice = random.Random(seed)
    for _ in range(rounds):
        for provider, make in TOKENS.items():
            secret = make(dice)
            yield Sample(provider, secret, dice.choice(_PLACES)(secret))
        for provider, (name, make) in NAMED.items():
            secret = make(dice)
            yield Sample(provider, secret, dice.choice(_ASSIGNMENTS)(name, secret))
        for provider, build in _CONTEXTS.items():
            secret, text = build(dice)
            yield Sample(provider, secret, text)


_PLACES: tuple[Callable[[str], str], ...] = (
    lambda it: it,
    lambda it: f"The deploy job uses {it} until Friday.",
    lambda it: f"Use `{it}` for staging, not production.",
    lambda it: f"key: **{it}**",
    lambda it: f'export SERVICE_VALUE="{it}"',
    lambda it: f"set it in the settings ({it}), then restart",
    lambda it: json.dumps({"service": {"value": it}}, indent=2),
    lambda it: json.dumps(json.dumps({"value": it})),
    lambda it: f"see https://api.example.org/v1/things?key={it}&page=2",
    lambda it: f"curl -H 'Authorization: Bearer {it}' https://api.example.org/v1",
    lambda it: f"- first\n- {it}\n- last",
    lambda it: f"it ends with the sentence {it}.",
    lambda it: it.replace("_", "\\_"),
    lambda it: f"https://example.org/login?next=%2Fhome%3Fkey%3D{quote(it, safe='')}",
)
_ASSIGNMENTS: tuple[Callable[[str, str], str], ...] = (
    lambda name, it: f"{name}={it}",
    lambda name, it: f'export {name}="{it}"',
    lambda name, it: f"{name}: {it}",
    lambda name, it: f"{name} = '{it}'",
    lambda name, it: json.dumps({name: it}),
    lambda name, it: f"the {name} is {it}",
    lambda name, it: f"- {name}: `{it}` (rotated in May)",
    lambda name, it: f"env:\n  - name: {name}\n    value: {it}",
    lambda name, it: f'os.environ["{name}"] = "{it}"',
)


def _password(dice: random.Random) -> str:
    return "".join(dice.sample(LETTERS, 6) + dice.sample(DIGITS, 3) + dice.sample("!*+_.~-", 2))


def _address(scheme: str, host: str) -> Callable[[random.Random], tuple[str, str]]:
    def build(dice: random.Random) -> tuple[str, str]:
        secret = _password(dice)
        return secret, f"connects to {scheme}://svc_app:{secret}@{host} at night"

    return build


def _bearer(dice: random.Random) -> tuple[str, str]:
    secret = _of(URL_SAFE, 40)(dice)
    return secret, f"Authorization: Bearer {secret}"


def _basic(dice: random.Random) -> tuple[str, str]:
    secret = base64.b64encode(f"ada:{_password(dice)}".encode()).decode()
    return secret, f"Authorization: Basic {secret}"


def _private_key(name: str, lines: int, ended: bool) -> Callable[[random.Random], tuple[str, str]]:
    def build(dice: random.Random) -> tuple[str, str]:
        body = [_of(BASE64, 64)(dice) for _ in range(lines)]
        edge = "-" * 5
        words = f"{name} {'PRIVATE'} KEY".strip()
        end = f"\n{edge}END {words}{edge}" if ended else ""
        return body[0], f"The key of the host:\n{edge}BEGIN {words}{edge}\n" + "\n".join(body) + f"{end}\n\nKeep it."

    return build


def _sas(dice: random.Random) -> tuple[str, str]:
    secret = quote(base64.b64encode(dice.randbytes(32)).decode(), safe="")
    return secret, f"https://acct.blob.example.net/c/f?sv=2024-01-01&se=2027-01-01&sr=b&sp=r&sig={secret}"


def _slack_webhook(dice: random.Random) -> tuple[str, str]:
    secret = f"T{_of(UPPER, 8)(dice)}/B{_of(UPPER, 10)(dice)}/{_of(BASE62, 24)(dice)}"
    return secret, f"posts to https://hooks.slack.com/services/{secret} when it fails"


def _discord_webhook(dice: random.Random) -> tuple[str, str]:
    secret = _of(URL_SAFE, 68)(dice)
    return secret, f"https://discord.com/api/webhooks/{_of(DIGITS, 18)(dice)}/{secret}"


_CONTEXTS: Mapping[str, Callable[[random.Random], tuple[str, str]]] = {
    "postgres": _address("postgresql", "db.internal:5432/app"),
    "mysql": _address("mysql+pymysql", "10.0.0.7/app"),
    "mongodb": _address("mongodb+srv", "cluster0.example.net/app"),
    "redis": _address("rediss", "cache.internal:6380/0"),
    "rabbitmq": _address("amqps", "mq.internal/vhost"),
    "basic-auth address": _address("https", "artifacts.example.org/simple"),
    "bearer header": _bearer,
    "basic header": _basic,
    "azure signature": _sas,
    "slack webhook": _slack_webhook,
    "discord webhook": _discord_webhook,
    "rsa key": _private_key("RSA", 25, ended=True),
    "openssh key": _private_key("OPENSSH", 8, ended=True),
    "ec key": _private_key("EC", 3, ended=True),
    "pkcs8 key": _private_key("", 26, ended=True),
    "cut off key": _private_key("RSA", 4, ended=False),
}


def harmless(seed: int, rounds: int) -> Iterator[str]:
    """Names, places for secrets, hashes and addresses."""
    dice = random.Random(seed)
    for _ in range(rounds):
        sha1, sha256 = _of(HEX, 40)(dice), _of(HEX, 64)(dice)
        image = base64.b64encode(b"\x89PNG\r\n\x1a\n" + dice.randbytes(60)).decode()
        yield f"The bug came in with commit {sha1} and went with {sha1[:8]}."
        yield f"sha256:{sha256}  model.onnx"
        yield f"request {_uuid(dice)} failed; see run {dice.randrange(10**9)}"
        yield f"![dot](data:image/png;base64,{image})"
        yield f'integrity="sha512-{_of(BASE64, 86)(dice)}=="'
        yield f"urn:memhook:{_of(LOWER, 12)(dice)}"
        yield f"etag {_of(HEX, 32)(dice)}, version {dice.randrange(9)}.{dice.randrange(99)}.0"
        yield f"token_count: {dice.randrange(10**6)}, max_tokens = 4000, cache_key: user:{dice.randrange(999)}:profile"


PLACEHOLDERS = (
    "API_KEY=YOUR_API_KEY",
    "export TOKEN=xxxxxxxxxxxxxxxxxxxxxxxx",
    "password: ${DB_PASSWORD}",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "token = os.environ['GITHUB_TOKEN']",
    "secret: {{ vault_secret }}",
    "postgresql://user:password@localhost:5432/db",
    "postgres://postgres:postgres@localhost/test",
    "https://user:<password>@example.org",
    "password = getpass.getpass()",
    "api_key: process.env.API_KEY",
    "token: string | undefined",
    "the secret is to listen",
    "passwords must have 12 characters and a digit",
    "client_secret = settings.oauth.client_secret",
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx is what a token looks like",
    "sk-... and AKIA... are the prefixes",
    "password=changeme",
    "primary key: (tenant_id, created_at)",
    "the private key is in ~/.ssh/id_ed25519",
    "token: [masked:github-token]",
    "auth: OAuth2PasswordBearer(tokenUrl='/login')",
    "key = f'{user.id}:{version}'",
    "session: AsyncSession = Depends(get_session)",
    "PASSWORD_HASHERS = ['django.contrib.auth.hashers.Argon2PasswordHasher']",
)
