from __future__ import annotations

from typing import Any

import pytest

from memhook.cli.commands.why import REMEDIES
from memhook.cli.output import cells
from memhook.errors import InvalidInput, NotFound
from tests.cli.conftest import Cli, Engine

SHOWN: dict[str, Any] = {
    "urn": "urn:memhook:k3v9x2m4p7qa",
    "title": "Ledger reconciliation must read from the primary: the replica lags far behind it",
    "exists": True,
    "changed_since": False,
    "score": 0.9312,
    "score_parts": {"dense": 0.81, "lexical": 0.63, "companion": 0.0},
    "shown": True,
    "reason": "",
    "level": "preview",
    "is_whole": False,
    "passages": [[120, 310], [400, 520]],
    "tokens": 62,
    "part": 1,
}
NOT_SHOWN = {"shown": False, "level": "", "passages": [], "tokens": 0, "part": 0}
MUTED = SHOWN | NOT_SHOWN | {"urn": "urn:memhook:mmmmmmmmmmmm", "title": "A muted note", "reason": "muted"}
GONE = SHOWN | NOT_SHOWN | {"title": None, "exists": False, "reason": "over budget"}
BELOW = SHOWN | NOT_SHOWN | {"title": "The office cat " * 9, "score": 0.03, "reason": "below relevance"}
TEXT = "## memhook notes\nMaybe outdated.\n- (general) urn:memhook:k3v9x2m4p7qa\n  text\n\n  more\n(end)"
RELEVANCE: dict[str, Any] = {
    "level": "balanced",
    "unsure_from": 0.25,
    "sure_from": 0.6,
    "floor": 0.05,
    "chance": 0.8741,
    "request": 0.62,
    "talk": -0.0,
    "cosine": "dense",
    "nearest": 0.81,
    "nearness_needed": None,
    "speaks_at": None,
    "grade": "sure",
}
FAR = {"grade": "far", "chance": 0.1432, "nearness_needed": 0.6812, "nearest": 0.6549, "speaks_at": "eager"}
REPORT: dict[str, Any] = {
    "recorded": True,
    "at": "2026-02-14T09:30:00+00:00",
    "event": "UserPromptSubmit",
    "client": "claude",
    "session": "0f8c7a52-3d11-4c7e-9a55-1c9d5e6b7f80",
    "agent": "",
    "project": "github.com/a/b",
    "outcome": "shown",
    "relevance": RELEVANCE,
    "budget": 4000,
    "tokens": 1010,
    "milliseconds": {"project": 0.1, "embed": 6.1, "search": 5.25, "total": 14.2},
    "candidates": [SHOWN, MUTED, GONE, BELOW],
    "withheld": {"confidential": 2},
    "session_budget": {"spent": 812, "of": 20000},
    "parts": [TEXT],
    "last_shown": None,
}


def test_why_tells_which_words_were_taken_for_typing_errors(engine: Engine, cli: Cli) -> None:
    engine.answers["why"] = REPORT | {"recorded": False, "read_as": {"reconcilation": "reconciliation"}}
    assert "'reconcilation' as 'reconciliation'" in cli("why", "reconcilation").out
    engine.answers["why"] = REPORT | {"recorded": False, "read_as": {}}
    assert "read " not in cli("why", "reconciliation").out.split("Shown:")[0]


def test_why_shows_each_candidate_with_its_score_and_its_fate(engine: Engine, cli: Cli) -> None:
    engine.answers["why"] = REPORT
    out = cli("why").out
    lines = out.splitlines()
    assert engine.asked[0][1] == {"prompt": None, "session": "", "shown": False, "part_units": 10_000}
    assert "outcome    1 memory shown" in lines
    words = " ".join(out.split())
    assert "relevance sure: the chance that a memory bears on this prompt is 0.87 (unsure from 0.25, sure" in words
    assert "prompt     kind of request +0.62 (log odds)" in lines
    assert "lacking" not in out
    assert "budget     [########----------------------] 1010 of 4000 tokens" in lines
    assert "time       14.2 ms: project 0.1, embed 6.1, search 5.2" in lines
    assert "counted    2 confidential: such memories are never shown, and not named here" in lines
    assert "        urn:memhook:k3v9x2m4p7qa  preview, 2 passages, 62 tokens" in lines
    assert "        dense 0.81, lexical 0.63" in lines
    assert "        urn:memhook:mmmmmmmmmmmm  muted" in lines
    assert "  0.93  (no longer exists)" in lines
    assert "Below relevance (1), with a score under 0.05:" in lines
    below = lines.index("Below relevance (1), with a score under 0.05:")
    assert lines[below + 1].startswith("  0.03  The office cat The office")
    assert lines[below + 2] == "        urn:memhook:k3v9x2m4p7qa  below relevance"
    assert max(map(len, lines)) <= 80
    assert out.endswith(f"\nThe text:\n{TEXT}\n")
    assert cli("why", "--json").json == REPORT


def test_both_parts_are_shown(engine: Engine, cli: Cli) -> None:
    engine.answers["why"] = REPORT | {
        "parts": [TEXT, TEXT],
        "candidates": [SHOWN, SHOWN | {"part": 2, "is_whole": True}],
    }
    out = cli("why").out
    assert "2 memories shown in 2 parts" in out
    assert "preview, 2 passages, 62 tokens" in out
    assert "whole, 62 tokens" in out
    assert "lexical 0.63, part 2 of 2\n" in out
    assert f"The text, part 1 of 2:\n{TEXT}\n\nThe text, part 2 of 2:\n{TEXT}\n" in out


def test_silence_is_explained_in_a_few_lines(engine: Engine, cli: Cli) -> None:
    silent = {"outcome": "small talk", "parts": [], "candidates": [], "withheld": {}, "tokens": 0}
    unjudged = {"relevance": RELEVANCE | {"chance": None, "grade": None}, "last_shown": "2026-02-14T09:00:00+00:00"}
    engine.answers["why"] = REPORT | silent | unjudged
    out = cli("why").out
    assert "outcome    nothing was added: small talk\n" in out
    assert "[------------------------------] 0 of 4000 tokens" in out
    assert "relevance" not in out
    assert out.endswith(": memhook why --shown\n")


def test_of_silence_it_says_what_would_have_had_to_be_different(engine: Engine, cli: Cli) -> None:
    silent = {"outcome": "nothing relevant", "parts": [], "candidates": [BELOW], "tokens": 0}

    def lacking(**relevance: Any) -> str:
        engine.answers["why"] = REPORT | silent | {"relevance": RELEVANCE | FAR | relevance}
        result = cli("why")
        assert max(map(len, result.out.splitlines())) <= 80
        assert "Below relevance (1): nothing is shown, whatever its score, while the chance is" in result.out
        return " ".join(result.out.partition("lacking")[2].partition("budget")[0].split())

    nearer = "a memory as near as 0.68, where the nearest has 0.65 (dense)"
    assert lacking() == f"{nearer}, or hooks.relevance = eager"
    unknown = lacking(nearness_needed=None, speaks_at=None, request=-1.4)
    assert unknown.startswith("a memory nearer than 0.65 (dense), or another kind of request")
    assert lacking(talk=-3.1, speaks_at=None) == f"{nearer}, or a prompt that reads less like small talk"
    assert lacking(nearest=None, nearness_needed=None, speaks_at=None) == "a memory with more of the prompt's words"


def test_a_prompt_is_asked_about_as_it_was_typed(engine: Engine, cli: Cli) -> None:
    engine.answers["why"] = REPORT | {"recorded": False, "session": ""}
    assert cli("why", "how do", "we deploy?").out.startswith("What this prompt would get now in a new session\n")
    assert engine.asked[0][1]["prompt"] == "how do we deploy?"
    cli("why", "", "--session", "s1", "--shown")
    assert engine.asked[1][1] == {"prompt": "", "session": "s1", "shown": True, "part_units": 10_000}


def test_no_record_says_what_to_do(engine: Engine, cli: Cli) -> None:
    engine.answers["why"] = NotFound("Nothing is recorded in this project yet.", 'memhook why "x"')
    result = cli("why")
    assert (result.code, result.out) == (1, "")
    assert "Nothing is recorded" in result.err


def test_a_session_that_has_had_enough_is_explained(engine: Engine, cli: Cli) -> None:
    spent = {"session_budget": {"spent": 20000, "of": 20000}, "outcome": "session budget used up"}
    engine.answers["why"] = REPORT | spent | {"parts": [], "candidates": [], "tokens": 0}
    out = " ".join(cli("why").out.split())
    assert "nothing was added: session budget used up" in out
    assert "20000 of 20000 tokens (session_max_tokens): silent until the context is compacted or cleared" in out


def test_what_an_earlier_setting_left_out_is_not_called_below_todays_bound(engine: Engine, cli: Cli) -> None:
    near = BELOW | {"score": 0.82, "title": "Deploys need the VPN"}
    engine.answers["why"] = REPORT | {"candidates": [near, BELOW], "parts": []}
    lines = cli("why").out.splitlines()
    earlier = lines.index("Left out by an earlier hooks.relevance (1), which is balanced now:")
    assert lines[earlier + 1] == "  0.82  Deploys need the VPN"
    below = lines.index("Below relevance (1), with a score under 0.05:")
    assert [line[:8] for line in lines[below:] if "0.82" in line] == []


def test_of_many_below_relevance_the_best_are_listed(engine: Engine, cli: Cli) -> None:
    engine.answers["why"] = REPORT | {"candidates": [BELOW] * 12}
    assert "  and 2 more: memhook why --json\n" in cli("why").out


def test_a_wide_title_is_cut_by_the_columns_it_takes(engine: Engine, cli: Cli) -> None:
    engine.answers["why"] = REPORT | {"candidates": [SHOWN | {"title": "台帳の照合は主系から読むこと。" * 6}]}
    title = next(line for line in cli("why").out.splitlines() if "台帳" in line)
    assert title.endswith("…")
    assert 70 < cells(title) <= 80


PROMPTED = {"event": "UserPromptSubmit", "score_parts": {"dense": 0.8}}
EXPLAINED: dict[str, Any] = {
    "urn": "urn:memhook:k3v9x2m4p7qa",
    "title": "Replica lag",
    "withheld_because": [],
    "anchors": ["replica.toml"],
    "anchors_in_words": [],
    "times_shown": 2,
    "times_used": 1,
    "superseded_by": None,
    "history": [
        {**PROMPTED, "at": "2026-02-14T09:30:00+00:00", "client": "claude", "left_out": "", "used": 1},
        {**PROMPTED, "at": "2026-02-13T09:30:00+00:00", "client": "codex", "left_out": "over budget", "used": 0},
    ],
}


def test_a_memory_of_a_file_that_an_assistant_reads_is_explained(engine: Engine, cli: Cli) -> None:
    engine.answers["explain"] = EXPLAINED | {"loaded_by": ["claude"]}
    assert "not shown to claude: it reads the file of this memory by itself" in cli("why", EXPLAINED["urn"]).out


def test_a_urn_is_explained_and_not_taken_for_a_prompt(engine: Engine, cli: Cli) -> None:
    engine.answers["explain"] = EXPLAINED
    for name in ("urn:memhook:k3v9x2m4p7qa", "urn:memhook:k3v", "k3v9x2m4p7qa", "k3v9"):
        shown = cli("why", name)
        assert engine.asked[-1] == ("explain", {"reference": name})
        assert shown.out.startswith("Replica lag\nurn:memhook:k3v9x2m4p7qa\nmay be shown here")
        assert "and when a tool touches: replica.toml\nshown 2 times so far, used once\n" in shown.out
        assert "UserPromptSubmit by claude: shown and used\n" in shown.out
        assert "UserPromptSubmit by codex: left out (over budget)\n" in shown.out
    assert cli("why", "k3v9x2m4p7qa", "--json").json == EXPLAINED


def test_a_word_that_looks_like_an_id_is_a_prompt_unless_it_is_one(engine: Engine, cli: Cli) -> None:
    engine.answers |= {"explain": NotFound("No memory is called deployments1."), "why": REPORT}
    assert cli("why", "deployments1").code == 0
    assert engine.asked[-1][1]["prompt"] == "deployments1"
    cli("why", "deploy")
    assert engine.asked[-1][1]["prompt"] == "deploy"
    engine.answers["explain"] = InvalidInput("k3v9 is the start of 2 URNs.")
    cli("why", "k3v9")
    assert engine.asked[-1][1]["prompt"] == "k3v9"
    engine.answers["explain"] = EXPLAINED  # by its alias
    cli("why", "replica")
    assert engine.asked[-1][1]["prompt"] == "replica"


def test_a_superseded_memory_is_explained_by_its_successor(engine: Engine, cli: Cli) -> None:
    newer = {"urn": "urn:memhook:x2m4p7qak3v9", "title": "Replica lag is over"}
    by = {"withheld_because": ["superseded"], "superseded_by": newer}
    engine.answers["explain"] = EXPLAINED | by | {"times_shown": 1, "times_used": 0}
    out = cli("why", EXPLAINED["urn"]).out
    assert f"superseded by Replica lag is over  {newer['urn']}. To change that: memhook edit {newer['urn']}" in out
    assert "shown once so far, not used\n" in out


def test_what_is_too_short_or_several_words_is_a_prompt_without_a_look_at_the_memories(
    engine: Engine, cli: Cli
) -> None:
    engine.answers["why"] = REPORT
    for prompt in ("k3v", "k3v9 x2m4", "K3V9"):
        cli("why", prompt)
    assert [method for method, _ in engine.asked] == ["why"] * 3


@pytest.mark.parametrize("reason", [*REMEDIES, "quarantined: gives orders", "another project (github.com/a/b)"])
def test_what_keeps_a_memory_back_comes_with_the_way_to_change_it(engine: Engine, cli: Cli, reason: str) -> None:
    engine.answers["explain"] = EXPLAINED | {"withheld_because": [reason], "times_shown": 0, "history": []}
    out = cli("why", "urn:memhook:k3v9x2m4p7qa").out
    assert f"never shown here: {reason}. To change that: " in out
    assert "not shown so far" in out


def test_what_a_tool_call_has_to_touch_is_listed_and_what_earlier_calls_touched(engine: Engine, cli: Cli) -> None:
    called = {**EXPLAINED["history"][0], "event": "PreToolUse", "score_parts": {"fly deploy": 0.6}}
    engine.answers["explain"] = EXPLAINED | {"anchors_in_words": ["fly deploy"], "history": [called]}
    shown = cli("why", EXPLAINED["urn"]).out
    assert "and when a tool call has these words: fly deploy\n" in shown
    assert "PreToolUse by claude: shown and used, for fly deploy\n" in shown
