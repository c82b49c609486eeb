"""What a memory is anchored to, and what each anchor is."""

from __future__ import annotations

import pytest

from memhook.core.anchors import MOST_ANCHORS, Kind, anchors_of, is_distinctive, kind_of


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("Any change in settings.prod.toml needs a second reviewer.", ("settings.prod.toml",)),
        ("E1207 means db-reset was forgotten.", ("E1207", "db-reset")),
        ("The billing-worker in eu-central-1 reads clients/*.", ("clients/*", "billing-worker")),
        ("Never edit `src/gen/`; run `npm run gen:api` instead.", ("src/gen/", "npm run gen:api")),
        ("Run make test-fast, and use git push --force never.", ("make test-fast", "git push --force")),
        ("Only by hand in infra/buckets, and/or by CI/CD in apps/.", ("infra/buckets", "apps/")),
        ("Files *.po and .env.edge are read by Billing.Export.", (".env.edge", "*.po", "Billing.Export")),
        ("Never run alembic downgrade, lineItemTotal breaks.", ("lineItemTotal", "alembic downgrade")),
        ('`flags.is_on("new-cart", user)` replaced waffle.', ("flags.is_on()",)),
        ('It says "could not find the lease" when all places are taken.', ("could not find the lease",)),
        ("Le fichier CHANGELOG est généré ; erreur 250001 au login.", ("250001", "CHANGELOG")),
        ("Broken since 4f2a91c by order_total().", ("order_total()", "4f2a91c")),
        ("```\nmake seed\n$ just up\n```\nthen wait", ("make seed", "just up")),
        ("npm run gen:icons writes maps/*.svg.json.", ("maps/*.svg.json", "npm run gen:icons")),
        ("npm run docs builds the site.", ("npm run docs",)),  # what stands behind run is a name, whatever its ending
        ("Before a merge, pnpm run stories: it takes a minute.", ("pnpm run stories",)),
        ("uv run seeded needs a running Redis.", ("uv run seeded",)),
        ("cargo run sim needs a GPU.", ("cargo run sim",)),
        ("npm run needs Node 22 here, and cargo run prints a warning.", ("npm run", "cargo run")),
        ("SQLSTATE[40001] in Planner::reserve: set PLAN_RETRIES.", ("PLAN_RETRIES", "Planner::reserve", "40001")),
        ("The log 'stale occupancy for section' is harmless.", ("stale occupancy for section",)),
        (
            "`E_NVS_FULL (-28)` or E_I2C_NACK: collect.",
            ("E_NVS_FULL (-28)", "E_NVS_FULL", "E_I2C_NACK"),
        ),
        (
            "RuntimeError: NCCL error unhandled system error -> set NCCL_P2P. TypeError: sometimes.",
            ("NCCL_P2P", "RuntimeError: NCCL error unhandled system error", "TypeError: sometimes"),
        ),
        ("A usage fault with CFSR 0x00020000, or exit status 137.", ("0x00020000", "exit code 137")),
        ("airflow db reset wipes it; never docker compose down with -v.", ("docker compose down -v",)),
        (
            "HTTP 422 from /v2/handover, see proguard-rules.pro and Log.d.",
            ("proguard-rules.pro", "/v2/handover", "Log.d", "HTTP 422"),
        ),
        (
            "manage.py flush is safe, the seed.py script and the nightly build are not.",
            ("manage.py", "seed.py"),
        ),
        (
            "A follow-up of the roll-out: `__stack_chk_fail` and __stack_chk_guard.",
            ("__stack_chk_fail", "__stack_chk_guard"),
        ),
        ("SQLSTATE 40001 in the planner is expected.", ("40001",)),
        ("E-FISK-31 means that the card is full.", ("E-FISK-31",)),
        ("We make sure that the tests go well, e.g. in CI.", ()),
        ("", ()),
    ],
)
def test_the_anchors_of_a_text(text: str, anchors: tuple[str, ...]) -> None:
    assert anchors_of("", text) == anchors


def test_the_title_counts_too() -> None:
    assert anchors_of("E4017", "The reservation expired.") == ("E4017",)


def test_a_list_of_everything_has_only_so_many_anchors() -> None:
    assert len(anchors_of("", " ".join(f"`name_{number}`" for number in range(200)))) == MOST_ANCHORS


@pytest.mark.parametrize(
    ("anchor", "kind"),
    [
        ("catalog/search.py", Kind.PATH),
        ("Makefile", Kind.PATH),
        (".env.local", Kind.PATH),
        ("packages/kit", Kind.PATH),
        ("api/schemas/", Kind.FOLDER),
        ("tokens/*.json", Kind.GLOB),
        ("env/<name>.yaml", Kind.GLOB),
        ("make test-fast", Kind.COMMAND),
        ("dbt run --full-refresh", Kind.COMMAND),
        ("--full-refresh", Kind.FLAG),
        ("TS2742", Kind.CODE),
        ("EAI_AGAIN", Kind.CODE),
        ("4f2a91c", Kind.COMMIT),
        ("relation does not exist", Kind.MESSAGE),
        ("TypeError: x is not a function", Kind.MESSAGE),
        ("restart: unless-stopped", Kind.LITERAL),
        ('panic = "abort"', Kind.LITERAL),
        ("CONN_MAX_AGE=0", Kind.LITERAL),
        ("accounts.services.erase_customer()", Kind.IDENTIFIER),
        ("trk-ingest", Kind.IDENTIFIER),
        ("401", None),
        ("…", None),
        ("", None),
    ],
)
def test_the_kind_of_an_anchor_is_its_form(anchor: str, kind: Kind | None) -> None:
    assert kind_of(anchor) is kind


def test_a_name_in_parts_is_distinctive_and_a_word_is_not() -> None:
    assert all(map(is_distinctive, ("InvoiceCounter", "fct_clicks", "trk-ingest", "time.Now", "gp3retain9")))
    assert not any(map(is_distinctive, ("default", "error", "Session", "a_b", "")))
