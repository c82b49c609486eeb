from __future__ import annotations

import json
import re
from functools import cache
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.screening.secrets import is_free, masked, without
from tests.core.secret_samples import PLACEHOLDERS, TOKENS, Sample, harmless, samples

SEEDS = (1, 2, 3)


@cache
def drawn(seed: int, rounds: int) -> tuple[Sample, ...]:
    """Once for all providers: drawing takes longer than masking."""
    return tuple(samples(seed, rounds))


def leaks(sample: Sample) -> bool:
    """Whether a part of the secret that says which it is was left."""
    left = masked(sample.text).text.replace("\\_", "_")
    middle = len(sample.secret) // 2
    return sample.secret[middle : middle + 12] in left or quote(sample.secret, safe="") in left


def test_nearly_every_secret_of_many_providers_is_masked() -> None:
    every = [sample for seed in SEEDS for sample in samples(seed, 5)]
    assert len({sample.provider for sample in every}) >= 100
    missed = [sample.provider for sample in every if leaks(sample)]
    assert len(missed) <= 0.02 * len(every), missed


@pytest.mark.parametrize("provider", TOKENS)
def test_a_token_that_looks_like_its_provider_is_masked_wherever_it_stands(provider: str) -> None:
    some = [sample for seed in SEEDS for sample in drawn(seed, 4) if sample.provider == provider]
    assert [sample.text for sample in some if leaks(sample)] == []


def test_texts_read_together_hide_no_secret_of_one_of_them() -> None:
    around = ("curl the api key:", "password", "see https://x.example/", "-----", "login bob")
    for sample in (sample for seed in SEEDS for sample in samples(seed, 1) if masked(sample.text).kinds):
        for before, after in zip(around, around[1:] + around[:1], strict=True):
            assert not is_free(before, sample.text, after), sample.text
    assert is_free("Ledger", "Read from the primary.", "", "src/ledger.py")


def test_what_only_looks_like_a_secret_is_left_alone() -> None:
    for text in (*harmless(7, 30), *PLACEHOLDERS):
        assert masked(text).text == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("aws_session_token=", ""),
        ("machine api.example.org login bob password ", ""),
        ("mysql -h db -u root -p", " prod < dump.sql"),
        ('variable "db_password" {\n  type    = string\n  default = "', '"\n}'),
        ("access_token$production$", ""),
        ("sshpass -p '", "' ssh deploy@db.example.org"),
        ("db.example.org:5432:catalog:etl:", "   # in ~/.pgpass"),
        ('sql.Open("mysql", "web:', '@tcp(db.example.org:3306)/ledger")'),
        ("npm config set //registry.example.org/:_authToken ", ""),
        ("co = cohere.Client('", "')"),
        ("AZURE_DEVOPS_EXT_PAT=", " az repos list"),
        ("spring.datasource.password=x.", ""),
    ],
)
def test_a_secret_is_masked_where_a_reviewer_left_it(before: str, after: str) -> None:
    github = next(sample.secret for sample in samples(1, 1) if sample.provider == "github")
    secret = f"{github[-16:]}${'0a1b2c3d' * 4}" if before.endswith("$") else github.removeprefix("ghp_")
    assert secret not in masked(before + secret + after).text


def test_a_token_that_always_starts_alike_is_no_example_for_that() -> None:
    token = "A" * 21 + "tSAnoFlUVx8rrs4tSA9kZe%3DZn2NefbUxhLW6JzQhCapU5D1EkzWCMcEo8Iz58m86JTLYx4HOp"
    assert masked(f"Authorization: {token}").text == "Authorization: [masked:twitter-bearer]"


def test_words_where_a_secret_could_stand_are_left_alone() -> None:
    for text in (
        "The login page password prompts come from the theme.",
        "mysql -u root -prompt is no option.",
        "mysql reads /etc/my.cnf; use -p to be asked.",
        'variable "db_password" { default = "changeme" }',
        "session_token = request.cookies.get('session')",
        "password = settings.database.password",
        "client('TheNameOfAServiceThatIsVeryLongIndeed')",
    ):
        assert masked(text).text == text


def test_a_password_is_masked_however_the_sentence_goes() -> None:
    value = "Xk29" + "pQz7w"
    sentences = (
        *("the root password for kaze is {}", "Das Passwort für kaze ist {}.", "la contraseña de kaze es {}"),
        *("パスワードは{}です", "密码是 {}", "пароль для базы {}", "het wachtwoord van kaze is {}", "db pw: {}"),
        *("docker login -u bob -p {} quay.io", "redis-cli -a {} ping", "use password {} for the demo user"),
        *("le mot de passe de kaze est {}", "Password (staging): `{}`"),
    )
    for sentence in sentences:
        assert masked(sentence.format(value)).text == sentence.format("[masked:password]")


@pytest.mark.parametrize("value", ["Rotor2024", "Summer24!", "mill1987x"])
def test_a_word_with_a_year_or_a_mark_is_masked_where_it_is_said_to_be_the_password(value: str) -> None:
    sentences = (
        *("the password of the wifi in room 3 is {}, ask Bo", "user admin, password {}", "pw={}", "set the pw to {}"),
        *("das Passwort für den Windpark ist {}", "le mot de passe du serveur est {}", "la contraseña del NAS es {}"),
        *("пароль от сервера: {}", "パスワードは {} です", "şifre: {}"),
    )
    for sentence in sentences:
        assert value not in masked(sentence.format(value)).text


def test_a_sentence_about_passwords_keeps_its_names_versions_and_paths() -> None:
    for text in (
        "password policy for staging is NIST-800-63B, checked by zxcvbn3",
        "the password for kaze is in 1Password, see wiki/Access2024",
        "password reset for a user is POST /v1/reset2",
        "パスワードは 8 文字以上です",
        "The password is checked. Release v2026.11.18-rc1 follows.",
        "the password hash is sha256, before it was md5crypt",
        "the password for staging is in vault2024",
        "The password reset ticket is PROJ-1234",
        "passwords are hashed with bcrypt12 and rotated every 90days",
    ):
        assert masked(text).text == text


def test_masking_what_is_masked_changes_nothing() -> None:
    for sample in samples(4, 4):
        once = masked(sample.text).text
        assert masked(once).text == once


@given(st.text() | st.text(alphabet='aK9_-:/@."= ?&%20\\n[]masked'))
def test_masking_any_text_twice_is_masking_it_once(text: str) -> None:
    once = masked(text).text
    assert masked(once).text == once


def test_the_kind_is_named_and_the_rest_of_the_text_stays() -> None:
    secret = next(sample.secret for sample in samples(1, 1) if sample.provider == "aws")
    result = masked(f"The deploy role is {secret}, see the wiki.")
    assert result.text == "The deploy role is [masked:aws-access-key], see the wiki."
    assert result.kinds == ("aws-access-key",)


@pytest.mark.parametrize("provider", TOKENS)
def test_the_full_stop_behind_a_token_stays(provider: str) -> None:
    for seed in SEEDS:
        secret = next(sample.secret for sample in drawn(seed, 1) if sample.provider == provider)
        text = masked(f"The old one was {secret}. The new one is in the vault.").text
        assert re.fullmatch(r"The old one was \[masked:[a-z0-9-]+\]\. The new one is in the vault\.", text)


def test_each_kind_is_named_once_in_the_order_of_the_text() -> None:
    by_provider = {sample.provider: sample.secret for sample in samples(2, 1)}
    text = f"{by_provider['github']} {by_provider['npm']} {by_provider['github app']}"
    assert masked(text).kinds == ("github-token", "npm-token")


def test_of_a_key_that_was_cut_off_nothing_is_left_but_what_follows_it() -> None:
    text = next(sample.text for sample in samples(3, 1) if sample.provider == "cut off key")
    assert masked(text).text == "The key of the host:\n[masked:private-key]\n\nKeep it."


def test_the_armour_of_a_key_without_a_key_is_no_secret() -> None:
    text = f"The file starts with {'-' * 5}BEGIN RSA {'PRIVATE'} KEY{'-' * 5} and is read by sshd."
    assert masked(text).text == text


def test_a_secret_is_found_behind_what_hides_or_escapes_it() -> None:
    token = next(sample.secret for sample in samples(5, 1) if sample.provider == "github")
    for text in (
        token[:10] + "\u200b" + token[10:],
        token.replace("_", "%5F"),
        json.dumps(f'"token": "{token}"'),
        token.replace("_", "\\_"),
        f"**{token}**",
    ):
        assert token[-12:] not in masked(text).text


def test_a_long_text_is_masked_like_a_short_one() -> None:
    secret = next(sample.secret for sample in samples(6, 1) if sample.provider == "stripe")
    assert secret not in without("plain words " * 5_000 + secret)
