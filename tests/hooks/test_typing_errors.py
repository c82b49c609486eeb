from __future__ import annotations

from tests.hooks.conftest import Assistant

LAG = "Ledger reconciliation fails when the replica lags: read from the primary instead."
OTHERS = (
    "Buttons use the size scale of the design system, never pixels.",
    "The invoice footer carries the VAT number of the seller.",
    "Screenshots for the store page are taken with the demo account.",
)


def with_notes(assistant: Assistant) -> None:
    assistant.imports(LAG, *OTHERS)


def test_a_prompt_with_typing_errors_gets_what_it_would_get_without(assistant: Assistant) -> None:
    with_notes(assistant)
    assert LAG in assistant.prompts("why does teh leger reconcilation fial?")


def test_why_tells_how_the_prompt_was_read(assistant: Assistant) -> None:
    with_notes(assistant)
    report = assistant.calls("why", prompt="why does the ledger reconcilation fial?")
    assert report["read_as"]["reconcilation"] == "reconciliation"
    assert assistant.calls("why", prompt="why does the ledger reconciliation fail?")["read_as"] == {}


def test_inject_and_search_read_it_so_too(assistant: Assistant) -> None:
    with_notes(assistant)
    assert LAG in assistant.calls("inject", query="leger reconcilation")["text"]
    typed, meant = (
        assistant.calls("search", query=query)["results"][0]["score"]
        for query in ("leger reconcilation", "ledger reconciliation")
    )
    assert typed == meant
