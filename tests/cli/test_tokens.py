from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memhook.paths import user_paths
from memhook.store.access_tokens import Tokens
from tests.cli.conftest import Cli


def test_the_token_is_alone_on_stdout_and_what_to_know_beside_it(cli: Cli) -> None:
    made = cli("token", "create", "laptop", "--scopes", "memory:read,memory:write", "--namespaces", "frontend,shared")
    assert made.code == 0
    found = Tokens(user_paths()).of(made.out.strip(), datetime.now(UTC))
    assert found is not None
    assert (found.name, found.namespaces) == ("laptop", ("frontend", "shared"))
    for told in ("shown only now", "memory:read memory:write in frontend, shared", found.id, "Bearer"):
        assert told in made.err
    assert made.out.strip() not in made.err


def test_without_options_it_may_only_read_and_ends_after_ninety_days(cli: Cli) -> None:
    record = cli("token", "create", "--json").json
    assert (record["scopes"], record["namespaces"], record["name"]) == (["memory:read"], [], record["id"])
    span = datetime.fromisoformat(record["expires"]) - datetime.fromisoformat(record["created"])
    assert span == timedelta(days=90)
    assert cli("token", "create", "--expires", "never", "--json").json["expires"] is None
    assert cli("token", "create", "--expires", "2150-01-31", "--json").json["expires"].startswith("2150-01-31")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--expires", "2020-01-01"], "past"),
        (["--expires", "0d"], "past"),
        (["--expires", "soon"], "not a date or a duration"),
        (["--scopes", "memory:admin"], "memory:confidential"),
        (["--scopes", ""], "no name"),
        (["--namespaces", " , "], "no name"),
        (["two words"], "not a name"),
    ],
)
def test_what_would_make_no_sensible_token_makes_none(cli: Cli, options: list[str], told: str) -> None:
    refused = cli("token", "create", *options)
    assert refused.code in (1, 2)
    assert told in refused.err
    assert refused.out == ""
    assert Tokens(user_paths()).all() == []


def test_the_list_has_everything_about_each_but_the_token(cli: Cli) -> None:
    assert "memhook token create" in cli("token", "list").err
    secrets = [cli("token", "create", name).out.strip() for name in ("laptop", "ci", "old")]
    tokens = Tokens(user_paths())
    tokens.note_use(tokens.all()[0], datetime(2026, 2, 14, tzinfo=UTC))
    cli("token", "revoke", "ci")
    tokens.create("past", ["memory:read"], [], datetime(2020, 1, 1, tzinfo=UTC), datetime(2019, 1, 1, tzinfo=UTC))
    shown, records = cli("token", "list").out, cli("token", "list", "--json")
    states = {one["name"]: one["state"] for one in records.json["tokens"]}
    assert states == {"laptop": "valid", "ci": "revoked", "old": "valid", "past": "expired"}
    assert records.json["tokens"][0]["last_used"] == "2026-02-14T00:00:00+00:00"
    assert records.json["tokens"][1]["revoked"] is not None
    fields = {"id", "name", "scopes", "namespaces", "created", "expires", "last_used", "revoked", "state"}
    assert set(records.json["tokens"][0]) == fields
    for told in ("laptop", "valid until", "revoked 20", "expired 2020-01-01", "last used 2026-02-1", "never used"):
        assert told in shown
    for secret in [*secrets, *(token.digest for token in tokens.all())]:
        assert secret not in shown + records.out


def test_revoking_says_what_it_did(cli: Cli) -> None:
    secret = cli("token", "create", "laptop").out.strip()
    assert "laptop" in cli("token", "revoke", "laptop").out
    assert "before" in cli("token", "revoke", "laptop").out
    assert cli("token", "revoke", "laptop", "--json").json["state"] == "revoked"
    assert Tokens(user_paths()).of(secret, datetime.now(UTC)) is None
    unknown = cli("token", "revoke", "tablet")
    assert (unknown.code, "memhook token list" in unknown.err) == (1, True)


def test_a_token_is_masked_when_somebody_remembers_it(cli: Cli) -> None:
    secret = cli("token", "create").out.strip()
    stored = cli("remember", f"The server wants {secret} in the header.", "--no-daemon", "--json")
    assert secret not in stored.out + stored.err
    assert "[masked:memhook-token]" in stored.out
