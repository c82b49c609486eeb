from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.errors import InvalidInput, MemhookError, NotFound, StoreError
from memhook.paths import user_paths
from memhook.screening.secrets import masked
from memhook.store.access_tokens import PREFIX, Tokens

NOW = datetime(2026, 2, 14, 9, 30, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
READ = ["memory:read"]


@pytest.fixture
def tokens(home: Path) -> Tokens:
    return Tokens(user_paths())


def created(tokens: Tokens, name: str = "", *, expires: datetime | None = None) -> str:
    return tokens.create(name, READ, [], expires, NOW)[1]


def test_a_token_is_known_again_and_its_file_is_private_and_has_only_a_hash(tokens: Tokens) -> None:
    made, secret = tokens.create("laptop", ["memory:write", "memory:read"], ["a", "b"], LATER, NOW)
    assert Tokens(user_paths()).of(secret, NOW) == made == tokens.all()[0]
    assert (made.scopes, made.namespaces) == (("memory:read", "memory:write"), ("a", "b"))
    file = user_paths().tokens
    text = file.read_text()
    assert secret not in text
    assert secret.removeprefix(PREFIX) not in text
    assert hashlib.sha256(secret.encode()).hexdigest() in text
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_tokens_are_long_random_and_recognised_as_secrets(tokens: Tokens) -> None:
    secrets = {created(tokens) for _ in range(20)}
    assert len(secrets) == 20
    for secret in secrets:
        assert len(bytes.fromhex(secret.removeprefix(PREFIX))) == 32
        assert masked(f"export TOKEN={secret}").text == "export TOKEN=[masked:memhook-token]"


def test_nothing_but_the_token_itself_counts_as_it(tokens: Tokens) -> None:
    made, secret = tokens.create("laptop", READ, [], None, NOW)
    wrong = ["", " ", PREFIX, secret[:-1], secret + "0", secret.upper(), secret.removeprefix(PREFIX), made.digest]
    assert [tokens.of(one, NOW) for one in [*wrong, made.id, made.name, "\xff\udcff"]] == [None] * (len(wrong) + 3)


def test_a_token_ends_at_its_moment_and_one_without_an_end_never(tokens: Tokens) -> None:
    short, endless = created(tokens, expires=LATER), created(tokens)
    assert tokens.of(short, LATER - timedelta(microseconds=1)) is not None
    assert tokens.of(short, LATER) is None
    assert tokens.of(endless, NOW + timedelta(days=36500)) is not None


@pytest.mark.parametrize("by", ["name", "id", "token"])
def test_a_revoked_token_no_longer_counts_for_anybody_who_has_the_file_open(tokens: Tokens, by: str) -> None:
    made, secret = tokens.create("laptop", READ, [], None, NOW)
    other = created(tokens, "other")
    reader = Tokens(user_paths())
    assert reader.of(secret, NOW) is not None
    ended = tokens.revoke({"name": "laptop", "id": made.id, "token": secret}[by], LATER)
    assert (ended.id, ended.revoked) == (made.id, LATER)
    assert reader.of(secret, NOW) is None
    assert reader.of(other, NOW) is not None
    assert tokens.revoke(made.id, LATER + timedelta(days=1)).revoked == LATER


def test_a_name_is_free_again_when_its_token_no_longer_counts(tokens: Tokens) -> None:
    created(tokens, "laptop")
    with pytest.raises(InvalidInput, match="already"):
        created(tokens, "laptop")
    tokens.revoke("laptop", NOW)
    secret = created(tokens, "laptop")
    tokens.revoke("laptop", NOW)  # the one that is valid, not the one that was revoked
    assert tokens.of(secret, NOW) is None


def test_what_is_no_name_is_refused_and_a_token_given_as_one_is_not_repeated(tokens: Tokens) -> None:
    secret = created(tokens)
    for name in ("a b", "-x", "x" * 65, "a\nb", "\x1b[31m", secret):
        with pytest.raises(InvalidInput) as refused:
            created(tokens, name)
        assert secret not in str(refused.value)
    strange = PREFIX + "0123456789abcdef" * 4
    with pytest.raises(NotFound) as unknown:
        tokens.revoke(strange[:-2] + "77", NOW)
    assert strange[:-2] not in str(unknown.value)


def test_many_who_make_tokens_at_once_lose_none(tokens: Tokens) -> None:
    with ThreadPoolExecutor(8) as pool:
        secrets = list(pool.map(lambda number: created(Tokens(user_paths()), f"t{number}"), range(24)))
    assert sorted(token.name for token in tokens.all()) == sorted(f"t{number}" for number in range(24))
    assert all(tokens.of(secret, NOW) for secret in secrets)
    assert not list(user_paths().state.glob("*.lock"))


BROKEN = ["", "[]", "{}", '{"tokens": [{}]}', '{"tokens": 1}', "null", "\0"]


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_that_cannot_be_read_lets_nobody_in_and_is_not_overwritten(tokens: Tokens, text: str) -> None:
    secret = created(tokens)
    user_paths().tokens.write_text(text)
    for attempt in (lambda: tokens.of(secret, NOW), lambda: created(tokens), lambda: tokens.revoke("x", NOW)):
        with pytest.raises(StoreError, match="cannot be read"):
            attempt()
    assert user_paths().tokens.read_text() == text


@pytest.mark.parametrize("field", ["namespaces", "scopes", "expires", "revoked", "digest"])
def test_a_field_that_went_missing_does_not_widen_a_token(tokens: Tokens, field: str) -> None:
    secret = created(tokens)
    file = user_paths().tokens
    changes: list[Callable[[dict[str, Any]], object]] = [lambda one: one.pop(field), lambda one: one.update({field: 0})]
    for change in changes:
        record = json.loads(file.read_text())
        change(record["tokens"][0])
        file.write_text(json.dumps(record))
        with pytest.raises(MemhookError):
            tokens.of(secret, NOW)


def test_the_last_use_is_kept_to_the_minute_and_apart_from_the_tokens(tokens: Tokens) -> None:
    made, _ = tokens.create("laptop", READ, [], None, NOW)
    before = user_paths().tokens.stat()
    for seconds in (0, 59, 60, 61):
        tokens.note_use(made, NOW + timedelta(seconds=seconds))
        expected = NOW + timedelta(seconds=60 if seconds >= 60 else 0)
        assert Tokens(user_paths()).uses() == {made.id: expected}
    after = user_paths().tokens.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert (user_paths().state / "token-uses.json").stat().st_mode & 0o777 == 0o600


def test_a_use_that_cannot_be_noted_is_no_error(tokens: Tokens) -> None:
    made, _ = tokens.create("laptop", READ, [], None, NOW)
    (user_paths().state / "token-uses.json").mkdir()
    tokens.note_use(made, NOW)
    assert tokens.uses() == {}


NAMES = st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}\Z").filter(lambda name: not name.startswith(PREFIX))
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


@given(
    names=st.lists(NAMES, max_size=4, unique=True),
    scopes=st.lists(st.sampled_from(["memory:read", "memory:write", "memory:restricted"]), min_size=1, unique=True),
    namespaces=st.lists(st.text(min_size=1, max_size=20)),
    expires=st.none() | MOMENTS,
    now=MOMENTS,
)
def test_what_was_written_is_what_is_read(
    names: list[str], scopes: list[str], namespaces: list[str], expires: datetime | None, now: datetime
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tokens = Tokens(user_paths({"HOME": folder}))
        made = [tokens.create(name, scopes, namespaces, expires, NOW) for name in names]
        assert tokens.all() == [token for token, _ in made]
        for token, secret in made:
            assert tokens.of(secret, now) == (token if expires is None or now < expires else None)
