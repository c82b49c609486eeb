"""No text, however odd, may raise or stall: every public function of the pure room and of screening takes any text, in
linear time.

A function that is new has to be named in CALLS, or in NO_TEXT when no text reaches it.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain, count, product
from pathlib import Path
from string import ascii_lowercase, printable
from types import ModuleType
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

import memhook.core
import memhook.screening
from memhook.answering import explore, pack
from memhook.core import (
    actions,
    anchor_checks,
    anchor_details,
    anchor_index,
    anchor_keys,
    anchors,
    call_keys,
    commands,
    cues,
    directives,
    error_messages,
    excerpts,
    fencing,
    grading,
    languages,
    manifests,
    memory,
    mentions,
    normal,
    note_requests,
    packing,
    passages,
    pasted,
    phrases,
    ranking,
    receipts,
    rendering,
    scopes,
    sentences,
    small_talk,
    spelling,
    spoken_commands,
    staleness,
    terms,
    tokens,
    tool_calls,
)
from memhook.core.memory import Draft, Memory, Origin
from memhook.core.packing import PartLimit
from memhook.core.rendering import HOOK, INJECT, Level
from memhook.errors import InvalidInput
from memhook.evaluation import metrics
from memhook.files import layout
from memhook.patterns import regex
from memhook.screening import (
    intents,
    poison,
    policy,
    secret_values,
    secrets,
)
from memhook.supply import files, json_files, markdown
from memhook.writing import transfer

NOW = datetime(2026, 3, 1, tzinfo=UTC)

Call = Callable[[str], object]


def remembered(text: str) -> Memory:
    return Memory(
        id="k3v9x2m4p7qa",
        title=memory.derived_title(text),
        content=text,
        summary=memory.derived_summary(text),
        created=NOW,
        updated=NOW,
        namespace=text[:40] or "general",
        tags=(text[:40],),
        source=text[:40],
        origin=Origin.IMPORT,
    )


def rejecting(parse: Call) -> Call:
    """A parser may refuse a text, with the error for that."""

    def call(text: str) -> object:
        with suppress(ValueError, InvalidInput):
            return parse(text)
        return None

    return call


def packed_block(text: str) -> object:
    every = [rendering.rendering(remembered(text), level, HOOK) for level in (Level.FULL, Level.LIGHT)]
    return packing.packed([every, every], 500, rendering.hook_frames(), PartLimit(1000, packing.utf16_units))


def scored(text: str) -> object:
    asked = terms.terms(text)
    candidates = [ranking.Candidate(str(number), 0.5, asked, "2026-03-01T10", asked[:20]) for number in range(3)]
    return ranking.ranked(asked, candidates, {}, 10, 20.0)


def judged(text: str) -> object:
    return metrics.judged(metrics.GoldQuery(text, "direct", (remembered(text),)), (a_block(text),), 1000)


def a_block(text: str) -> str:
    return f"- **t** (general) urn:memhook:k3v9x2m4p7qa\n{fencing.indented(text)}"


def passage_of(text: str) -> object:
    spans = terms.term_spans(text)
    return passages.passage(text, {term: 1.0 for term, _, _ in spans[:10]}, spans, 200)


def asked_around(text: str) -> object:
    """Lines are looked at closely only where something is asked."""
    return [note_requests.asked_in(prompt) for prompt in (text, f"remember: a\n{text}", f"{text}\nremember: a")]


def pasted_from(text: str) -> object:
    lines = text.split("\n")
    return pasted.pasted_from(lines, [False] * len(lines), [False] * len(lines))


def excerpt_of(text: str) -> object:
    weights = {term: 1.0 for term, _, _ in terms.term_spans(text)[:10]}
    return [excerpts.excerpt(text, weights, limit) for limit in (40, 200, 1500)]


def filed(text: str) -> anchor_index.AnchorIndex:
    index = anchor_index.AnchorIndex()
    index.file("a", (text[:200], "make up", "--force", "a/**"), text)
    return index


def removed(text: str) -> object:
    index = filed(text)
    index.remove("a")
    return index


def acted(text: str) -> actions.Action:
    return actions.action_of({"command": text, "file_path": text, "new_string": text}, "/w", "/w", text)


def a_call(text: str) -> tool_calls.ToolCall:
    return tool_calls.ToolCall(acted(text))


def noted(text: str) -> anchor_details.Note:
    return anchor_details.Note(anchors.anchors_of("", text), text, "")


def wholes(text: str) -> Iterator[tuple[str, str]]:
    yield "glob", "*a*a*a*a*a*a*a*a/**/*a*a*a*a*a*a*a*a/b"
    yield from ((kind, text) for kind in ("lit", "member", "msg", "said"))


def held(text: str) -> list[str]:
    """The keys of a call that a memory of the same text has, with an anchor that matches."""
    details, call = anchor_details.details_of(noted(text)), a_call(text)
    named = {key: details.anchors.get(key, {}) for key in call_keys.call_keys(call)}
    return [key for key, ones in named.items() for one in ones if anchor_checks.holds(key, one, details, call)]


def repository_with(text: str) -> staleness.Repository:
    return staleness.Repository(
        frozenset({"a/b.py"}), {text[:50]: [text]}, {text: [1]}, {text: text}, {text[:50]: [text]}
    )


def stale(text: str) -> staleness.Findings:
    return staleness.findings(remembered(text), repository_with(text), lambda path: path == text)


def forgettable(text: str) -> bool:
    known = replace(repository_with(text), elsewhere=frozenset((text,)))
    return staleness.is_forgettable(remembered(text), known, lambda path: path == text)


def anchored(text: str) -> Memory:
    return replace(remembered(""), anchors=(text, f"make {text}"))


def captured(text: str) -> Memory:
    return replace(remembered(""), origin=Origin.CAPTURED, aliases=(text, f"a/{text}#1"))


CALLS: dict[str, Call] = {
    "actions.action_of": acted,
    "actions.both_ends": actions.both_ends,
    "actions.places_of": lambda text: actions.places_of([("cd", text), text.split() or ["make"]]),
    "actions.simple_commands": lambda text: list(actions.simple_commands(text)),
    "anchor_index.AnchorIndex.file": filed,
    "anchor_index.AnchorIndex.matches": lambda text: filed(text).matches(acted(text)),
    "anchor_index.AnchorIndex.remove": removed,
    "anchor_index.named_in_words": lambda text: anchor_index.named_in_words(anchors.anchors_of(text, text), text, text),
    "anchors.anchors_of": lambda text: anchors.anchors_of(text, text),
    "anchors.kind_of": anchors.kind_of,
    "anchors.is_distinctive": anchors.is_distinctive,
    "commands.command_of": lambda text: commands.command_of(text, text),
    "commands.command_words": commands.command_words,
    "commands.flag_name": commands.flag_name,
    "commands.flags_of": lambda text: list(commands.flags_of(text.split())),
    "commands.base": commands.base,
    "commands.has_all": lambda text: commands.has_all(frozenset({"--force"}), text.split()),
    "commands.without_release": commands.without_release,
    "commands.variables": commands.variables,
    "commands.programs": lambda text: list(commands.programs(text.split())),
    "commands.hosts": lambda text: list(commands.hosts(["ssh", *text.split()])),
    "commands.is_run": lambda text: commands.is_run(commands.command_of(text[:200], text), text.split()),
    "commands.is_subcommand": commands.is_subcommand,
    "commands.needed_flags": lambda text: commands.needed_flags("git push --force", text),
    "commands.packages": lambda text: list(commands.packages(["npm", "add", *text.split()])),
    "commands.positional": lambda text: commands.positional(text.split()),
    "commands.readings": lambda text: commands.readings(text.split()),
    "manifests.is_manifest": manifests.is_manifest,
    "manifests.packages_in": manifests.packages_in,
    "mentions.mentions_of": mentions.mentions_of,
    "anchor_checks.has_whole": lambda text: [anchor_checks.has_whole(*one, a_call(text)) for one in wholes(text)],
    "anchor_checks.holds": held,
    "anchor_details.Note.filed_under": lambda text: noted(text).filed_under(),
    "anchor_details.Note.mentions": lambda text: noted(text).mentions(),
    "anchor_details.details_of": lambda text: anchor_details.details_of(noted(text)),
    "anchor_keys.anchor_keys": lambda text: list(anchor_keys.anchor_keys((text,), mentions.mentions_of(text))),
    "anchor_keys.glob_pattern": anchor_keys.glob_pattern,
    "anchors.statuses": lambda text: list(anchors.statuses(text)),
    "call_keys.call_keys": lambda text: call_keys.call_keys(a_call(text)),
    "call_keys.in_camel_case": call_keys.in_camel_case,
    "directives.asked_flags": lambda text: list(directives.asked_flags(text)),
    "directives.decides_on": lambda text: directives.decides_on(text[:50], text),
    "directives.is_directive": directives.is_directive,
    "directives.is_wanted": lambda text: directives.is_wanted(f"{text} make {text}", len(text) + 1, len(text) + 5),
    "directives.refused_names": lambda text: list(directives.refused_names(text)),
    "error_messages.content_words": error_messages.content_words,
    "error_messages.error_words": error_messages.error_words,
    "error_messages.is_reported": lambda text: error_messages.is_reported(text.split() or ["a"], text.split()),
    "error_messages.message_details": lambda text: error_messages.message_details(text[:50], text),
    "error_messages.spoken_messages": lambda text: list(error_messages.spoken_messages(text)),
    "scopes.antecedents_of": lambda text: scopes.antecedents_of(text[:50], text),
    "scopes.is_beside": lambda text: scopes.is_beside(text[:50], (text[:9],), text),
    "scopes.is_subject": lambda text: scopes.is_subject(text[:50], text),
    "scopes.place_before": lambda text: scopes.place_before(text[:50], text),
    "scopes.place_of": lambda text: scopes.place_of(text[:50], (text[50:60],), text),
    "scopes.scope_of": lambda text: scopes.scope_of(text[:50], text),
    "sentences.bare": sentences.bare,
    "sentences.found_command": lambda text: sentences.found_command(text[:50], text),
    "sentences.is_predicate": sentences.is_predicate,
    "sentences.sentences": lambda text: list(sentences.sentences(text)),
    "spoken_commands.spoken_commands": lambda text: list(spoken_commands.spoken_commands(text)),
    "spoken_commands.spoken_tools": lambda text: list(spoken_commands.spoken_tools(text, ("--force",))),
    "spoken_commands.with_joined_flags": spoken_commands.with_joined_flags,
    "tool_calls.ToolCall.complies_with": lambda text: a_call(text).complies_with(frozenset({"--force"})),
    "tool_calls.ToolCall.error": lambda text: a_call(text).error,
    "tool_calls.ToolCall.error_words": lambda text: a_call(text).error_words,
    "tool_calls.ToolCall.hosts": lambda text: a_call(text).hosts,
    "tool_calls.ToolCall.programs": lambda text: a_call(text).programs,
    "tool_calls.ToolCall.words": lambda text: a_call(text).words,
    "tool_calls.ToolCall.has": lambda text: a_call(text).has((text,), frozenset({"--force"})),
    "tool_calls.ToolCall.has_expression": lambda text: a_call(text).has_expression(text[:50]),
    "tool_calls.ToolCall.is_about": lambda text: a_call(text).is_about(text[:50]),
    "tool_calls.ToolCall.names": lambda text: a_call(text).names(text),
    "tool_calls.ToolCall.reports": lambda text: a_call(text).reports(text[:50]),
    "tool_calls.ToolCall.reports_half": lambda text: a_call(text).reports_half(text.split()),
    "tool_calls.ToolCall.reports_names": lambda text: a_call(text).reports_names(text.split()[:5]),
    "tool_calls.ToolCall.runs": lambda text: a_call(text).runs(commands.command_of(text[:50], text)),
    "tool_calls.ToolCall.runs_or_reports": lambda text: a_call(text).runs_or_reports(text[:50]),
    "tool_calls.ToolCall.tools_with": lambda text: a_call(f"make --force {text}").tools_with("--force"),
    "tool_calls.ToolCall.writes": lambda text: a_call(text).writes(text),
    "tool_calls.without_spaces": tool_calls.without_spaces,
    "phrases.order_in": lambda text: [phrases.order_in(text, one) for one in phrases.languages()],
    "staleness.clause": lambda text: staleness.clause(staleness.Findings((text, text), {text: text}, {text: 3}, 2)),
    "staleness.findings": stale,
    "staleness.former_names": lambda text: staleness.former_names(text, staleness.Repository(moves={"old": text})),
    "staleness.is_forgettable": forgettable,
    "staleness.is_target": lambda text: staleness.is_target(text[:50], {text, f"{text}%"}),
    "staleness.targets_of": lambda text: staleness.targets_of(anchored(text)),
    "staleness.read_backwards": staleness.read_backwards,
    "staleness.words_of": lambda text: staleness.words_of(anchored(text)),
    "staleness.symbols_of": lambda text: staleness.symbols_of(anchored(text)),
    "memory.place_of": lambda text: [memory.place_of(text).words, memory.place_of(f"a/{text}#1")],
    "memory.sessions_of": lambda text: memory.sessions_of((text, f"a/{text}#1")),
    "grading.gate_of": lambda text: grading.gate_of(captured(text)),
    "secret_values.may_hold_credentials": secret_values.may_hold_credentials,
    "secret_values.is_password_of_word": secret_values.is_password_of_word,
    "secret_values.is_made_up": secret_values.is_made_up,
    "secret_values.is_mixed": secret_values.is_mixed,
    "receipts.was_used": lambda text: receipts.was_used(remembered(text), (text[:9],), text[::-1], {}, 1),
    "receipts.words_in": receipts.words_in,
    "cues.cue": cues.cue,
    "cues.standing_orders": lambda text: list(cues.standing_orders(text)),
    "note_requests.asked_in": asked_around,
    "note_requests.own_words": note_requests.own_words,
    "fencing.without_entries": lambda text: fencing.without_entries(text, {"k3v9x2m4p7qa"}, "- (removed)"),
    "excerpts.excerpt": excerpt_of,
    "fencing.clean": fencing.clean,
    "fencing.collapsed": fencing.collapsed,
    "fencing.indented": fencing.indented,
    "fencing.label": partial(fencing.label, limit=80),
    "fencing.one_line": partial(fencing.one_line, limit=80),
    "fencing.without_urns": fencing.without_urns,
    "small_talk.gist": small_talk.gist,
    "languages.is_english": languages.is_english,
    "layout.Layout.entry": lambda text: layout.toml_layout("a = 1").entry((text,)),
    "layout.comments_in": layout.comments_in,
    "layout.json_entries": rejecting(layout.json_entries),
    "layout.newline_of": layout.newline_of,
    "layout.plain_json": layout.plain_json,
    "layout.spliced": lambda text: layout.spliced(text, 0, len(text), text),
    "layout.toml_layout": rejecting(layout.toml_layout),
    "layout.without_json_comments": layout.without_json_comments,
    "memory.are_two": lambda text: memory.are_two(Draft(text, title=text[1:]), Draft(text, title=text[2:])),
    "memory.content_hash": memory.content_hash,
    "memory.derived_summary": memory.derived_summary,
    "memory.derived_title": memory.derived_title,
    "memory.id_of": memory.id_of,
    "memory.is_id": memory.is_id,
    "memory.Field.read": lambda text: [one.read(text) for one in memory.FIELDS if one.kind in (str, tuple)],
    "memory.plain": memory.plain,
    "memory.titled": lambda text: memory.titled(text, text),
    "memory.title_key": lambda text: memory.title_key(Draft("x", title=text)),
    "memory.renewed_summary": lambda text: memory.renewed_summary(text, text),
    "memory.shortened": lambda text: memory.shortened(text, 80),
    "metrics.carried": lambda text: metrics.carried(metrics.GoldQuery("", "direct", (), text[:100]), text),
    "metrics.entries": metrics.entries,
    "metrics.judged": judged,
    "metrics.remembered_chars": lambda text: metrics.remembered_chars(
        a_block(text), {"k3v9x2m4p7qa": remembered(text)}
    ),
    "normal.normalized": lambda text: [normal.normalized(form, text) for form in get_args(normal.Form)],
    "packing.packed": packed_block,
    "packing.utf16_units": packing.utf16_units,
    "packing.utf8_bytes": packing.utf8_bytes,
    "passages.front": lambda text: passages.front(text, 200),
    "passages.passage": passage_of,
    "pasted.is_machine": lambda text: [pasted.is_machine(line) for line in text.split("\n")],
    "pasted.pasted_from": pasted_from,
    "poison.decoded": lambda text: list(poison.decoded(text)),
    "poison.readings": lambda text: list(poison.readings(text)),
    "poison.forgery_in": poison.forgery_in,
    "intents.intents_in": intents.intents_in,
    "poison.reason_to_distrust": lambda text: poison.reason_to_distrust(text, Origin.IMPORT),
    "ranking.embedded_prompt": ranking.embedded_prompt,
    "ranking.embedded_text": lambda text: ranking.embedded_text(text, text, text, (text,)),
    "ranking.indexed_text": lambda text: ranking.indexed_text(text, text, text, (text,)),
    "ranking.ranked": scored,
    "ranking.term_weights": lambda text: ranking.term_weights(terms.terms(text), {}, 10),
    "phrases.before": lambda text: phrases.before(text, phrases.all_of("turn")),
    "phrases.closing": phrases.closing,
    "phrases.holds": lambda text: phrases.holds(text, phrases.all_of("always")),
    "phrases.mentions_a_request": phrases.mentions_a_request,
    "phrases.opening": phrases.opening,
    "phrases.plain": phrases.plain,
    "phrases.starts_with": lambda text: phrases.starts_with(text, phrases.all_of("turn")),
    "small_talk.is_small_talk": small_talk.is_small_talk,
    "small_talk.request_in": small_talk.request_in,
    "rendering.Frame.tokens": lambda text: rendering.Frame(text, text).tokens,
    "rendering.framed": lambda text: rendering.framed(text, text),
    "rendering.hook_frames": rendering.hook_frames,
    "rendering.origin_of": lambda text: rendering.origin_of(remembered(text)),
    "rendering.rendering": lambda text: [
        rendering.rendering(remembered(text), *shown) for shown in (*product(Level, [HOOK]), (Level.LIGHT, INJECT))
    ],
    "policy.fingerprint": lambda text: policy.fingerprint(remembered(text)),
    "policy.judged": lambda text: policy.judged(remembered(text), Origin.IMPORT),
    "policy.let_through": lambda text: policy.let_through(remembered(text)),
    "policy.masked_fields": lambda text: policy.masked_fields({"content": text, "tags": (text[:40],)}),
    "policy.shown_as": lambda text: policy.shown_as(remembered(text)),
    "policy.sorted_out": lambda text: policy.sorted_out([remembered(text)]),
    "secret_values.is_example": secret_values.is_example,
    "secret_values.is_password": secret_values.is_password,
    "secret_values.is_placeholder": secret_values.is_placeholder,
    "secret_values.is_random": secret_values.is_random,
    "secret_values.is_secret_name": secret_values.is_secret_name,
    "secret_values.is_url_password": lambda text: secret_values.is_url_password(text, text[:20]),
    "secrets.is_free": secrets.is_free,
    "secrets.masked": secrets.masked,
    "secrets.without": secrets.without,
    "spelling.Vocabulary.doubt": lambda text: spelling.Vocabulary.of(["search"]).doubt(text),
    "spelling.Vocabulary.terms": lambda text: spelling.Vocabulary.of([text, *text.split()]).terms,
    "spelling.Vocabulary.of": lambda text: spelling.Vocabulary.of([text, *text.split()]),
    "spelling.repaired": lambda text: spelling.repaired(text, {"search": 1}, spelling.Vocabulary.of(["search"])),
    "terms.folded": terms.folded,
    "terms.stemmed": terms.stemmed,
    "terms.stems": lambda text: terms.stems([text]),
    "terms.term_spans": terms.term_spans,
    "terms.terms": terms.terms,
    "tokens.estimated_tokens": tokens.estimated_tokens,
}

NO_TEXT = {
    "rendering.Renderings.at": "a step",
    "memory.id_from_bytes": "bytes",
    "memory.names_with": "traits",
    "metrics.mean": "numbers",
    "metrics.percentile": "numbers",
    "metrics.ranking_recall": "ids",
    "metrics.served": "what happened",
    "metrics.summed_up": "numbers",
    "ranking.placed": "numbers",
    "ranking.recency": "numbers",
    "intents.vocabulary": "memhook's own words",
    "phrases.all_of": "the name of a list",
    "phrases.languages": "memhook's own words",
    "ranking.attainable": "numbers",
    "ranking.odds_by_terms": "numbers",
    "grading.Verdict.supported_by": "numbers",
    "grading.Verdict.worth_naming": "numbers",
    "grading.Verdict.worth_showing": "numbers",
    "grading.answer_to": "numbers",
    "grading.grade_of": "numbers",
    "grading.nearness_needed": "numbers",
    "grading.reasons_withheld": "numbers",
}


ROOM = [
    importlib.import_module(f"{room.__name__}.{found.name}")
    for room in (memhook.core, memhook.screening)
    for found in pkgutil.iter_modules(room.__path__)
] + [metrics, layout]


def public_functions() -> Iterator[str]:
    for module in ROOM:
        room = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
                continue
            if inspect.isfunction(inspect.unwrap(value) if callable(value) else value):
                yield f"{room}.{name}"
            elif inspect.isclass(value):
                methods = (key for key, one in vars(value).items() if inspect.isroutine(one) and key[0] != "_")
                yield from (f"{room}.{name}.{key}" for key in methods)


def test_every_public_function_of_the_pure_room_and_of_screening_is_here() -> None:
    assert sorted(public_functions()) == sorted((*CALLS, *NO_TEXT))


ELSEWHERE: dict[str, Call] = {
    "supply.markdown": lambda text: markdown.records(f"---\ntags: {text}\n---\n{text}", "a.md", "/a.md"),
    "supply.markdown, a list": lambda text: markdown.records(f"---\ntags: [{text}]\n---\n# {text}", "a.md", "/a.md"),
    "supply.files": lambda text: files.source_of(text.encode("utf-8", "replace"), "a"),
    "writing.transfer": rejecting(lambda text: transfer.draft_of(json.dumps({"content": text, "id": text}), "")),
    "answering.pack": lambda text: pack.bundle(text, [remembered(text)], 10_000),
    "answering.explore": rejecting(lambda text: explore.place_of(text, "", 1)),
    "supply.json_files": lambda text: json_files.records([(1, text)]),
}
EVERY = CALLS | ELSEWHERE

# The words and lines of a block are looked for in a memory, which takes quadratic time. Only `eval` asks for it.
QUADRATIC = {"metrics.judged", "metrics.remembered_chars"}


# Repeated, each of these has made somebody's expression or loop quadratic, or looks as if it might.
UNITS = (
    *list("aA1éß接한ا﷽İ🙂\u0301\u200b\u202e\ud800\0\x1b\x9e_-./:=?&;%\\`~<>[({|*#@!\"' \n\t"),
    *(
        "\r\n",
        "a ",
        "a b\n",
        "aA",
        "a1",
        "a_",
        "a.",
        "a.b ",
        "a-",
        "./",
        "/a",
        "a\n\n",
        "Aa1_",
        "e\u0301",
        "\u0301\u0316",
        "\\[",
    ),
    *("key=", "key: ", "key is ", "token", "http://a?token=", "://", "://a:", "a:b@", "?a=", "&a=", "password is "),
    *("curl ", "curl -u ", "mysql ", "login a ", "bearer ", "sig=", ":5432:", 'client("', "sess", "eyJ-", "eyJa."),
    *("ghp_", "s.", "SG.", "xoxb-", "pa-", "AKIA", "QUFB", "4142", "a" * 16 + "\n", "Private-Lines: 1\n"),
    *("-----BEGIN PRIVATE KEY-----", "%41", "\\x41", "\\u0041", "&amp;", "&#65;", "\x1b[0m", "\u200b\u200d"),
    *("```\n", "~~~\n", "> ", "# a\n", "- a\n", "1. a\n", "| a ", "<a>", "<!--", "<system>", "</", "[a](", "${"),
    *("system: ", "ignore previous instructions ", "do not ", "send it to ", '"a b" ', "'a b' ", "expir"),
    *("urn:memhook:", "- **a** urn:memhook:k3v9x2m4p7qa\n", "remember: a\n", "remember:\n", "forget that\n", "yes "),
    *('{"a":', "[1,", '"a\\"', "a = 1\n", "[a]\n", "// a\n", "/*", '"""', "2026-03-01 ", "at a(", "Error: ", "… "),
)
SMALL, TIMES = 256, 8
LINEAR = 2.4 * TIMES  # a quadratic one takes TIMES * TIMES as long
TOO_SHORT = 50e-6  # seconds, to be compared with


def shapes(length: int) -> Iterator[tuple[str, str]]:
    for unit in UNITS:
        yield unit, (unit * (length // len(unit) + 1))[:length]
    for opened, closed in ("[]", "()", "{}", "<>"):
        yield opened + closed, opened * (length // 2) + closed * (length // 2)
    for unit in ("a", "=", " ", "a ", "key=", "://a:", "expir"):  # what has to go back notices only at the end
        yield f"{unit} to the end", (unit * length)[: length - 2] + "\n!"
    words = random.Random(0).choices([*UNITS, *_literals(secrets), *_literals(secret_values)], k=SMALL)
    yield "all of it", " ".join(words)[:SMALL] * (length // SMALL)


def _literals(module: ModuleType) -> list[str]:
    """The words that the expressions of a module look for."""
    return sorted({word for pattern in patterns_of(module) for word in re.findall("[a-z]{3,}", pattern.pattern)})


def patterns_of(module: ModuleType) -> list[re.Pattern[str]]:
    """Also those that are compiled when they are first used, which they are not yet here."""
    found = (value for value in vars(module).values() if isinstance(value, re.Pattern | type(regex(""))))
    return [one for one in found if isinstance(one.pattern, str)]


SHAPES = {name: (small, large) for (name, small), (_, large) in zip(shapes(SMALL), shapes(SMALL * TIMES), strict=True)}
HOSTILE = "".join(UNITS)


def seconds(call: Call, text: str, runs: int, fresh: Iterator[int]) -> float:
    """Of the processor, the least of some runs; each time another text, for results are cached."""
    least = float("inf")
    for _ in range(runs):
        asked = f"{next(fresh):06d} {text[7:]}"
        started = time.thread_time()
        call(asked)
        least = min(least, time.thread_time() - started)
    return least


def is_linear(call: Call, small: str, large: str, fresh: Iterator[int]) -> bool:
    """Only what looks quadratic is measured again: a busy machine makes runs slower, never faster."""
    long, short = seconds(call, large, 1, fresh), TOO_SHORT
    for _ in range(6):
        if long <= LINEAR * short:
            return True
        short = max(short, seconds(call, small, 3, fresh))
        long = min(long, seconds(call, large, 2, fresh)) if long > LINEAR * short else long
    return long <= LINEAR * short


@pytest.mark.parametrize("name", [name for name in EVERY if name not in QUADRATIC])
def test_the_time_is_linear_in_the_length_of_the_text(name: str) -> None:
    call, fresh = EVERY[name], count()
    call("warm up " * 20)
    assert [unit for unit, (small, large) in SHAPES.items() if not is_linear(call, small, large, fresh)] == []


@cache
def matches(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    """Of few characters, which is many times as quick; cached, because making the strategy is what takes the time."""
    escaped = (chr(int(code, 16)) for code in re.findall(r"\\[xu]([0-9a-f]{2,4})", pattern.pattern))
    few = {char for char in (*printable, *HOSTILE, *pattern.pattern, *escaped) if not "\ud800" <= char <= "\udfff"}
    compiled = re.compile(pattern.pattern, pattern.flags)
    return st.from_regex(compiled, alphabet="".join(sorted(few))).map(lambda text: next(pattern.finditer(text))[0])


# Where the expressions of a module that has no function for any text are used.
DOORS = {
    "disguises": ["poison"],
    "forgeries": ["poison"],
    "intents": ["poison"],
    "pasted": ["capture"],
    "secret_values": ["secrets"],
}
MODULES = {module.__name__.rpartition(".")[2]: found for module in ROOM if (found := patterns_of(module))}


@pytest.mark.parametrize("module", MODULES)
@given(data=st.data())
@settings(
    max_examples=20, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
def test_the_time_is_linear_for_a_text_of_nothing_but_what_an_expression_looks_for(
    module: str, data: st.DataObject
) -> None:
    """What one of the module's own expressions finds, or its start, repeated."""
    match = data.draw(st.sampled_from(MODULES[module]).flatmap(matches)) or "a"
    unit = match[: data.draw(st.integers(1, len(match)))] if data.draw(st.booleans()) else match
    small, large = ((unit * length)[: length - 1] + "!" for length in (SMALL, SMALL * TIMES))
    calls = [call for name, call in CALLS.items() if name.partition(".")[0] in (module, *DOORS.get(module, ()))]
    assert [call for call in calls if not is_linear(call, small, large, count())] == [], unit


def test_the_expressions_of_nearly_every_module_are_tried() -> None:
    assert len(MODULES) > 20


def test_a_quadratic_function_would_be_found() -> None:
    search = re.compile("<[^>]*>").search

    def quadratic(text: str) -> None:
        for _ in range(20):  # once takes less than TOO_SHORT on a fast machine, where 64 times as long looks linear
            search(text)

    # A busy machine may slow the short run alone, so one look is not enough: the suite asks for many shapes.
    assert not all(is_linear(quadratic, *SHAPES["</"], count()) for _ in range(5))


@pytest.mark.parametrize("name", EVERY)
def test_no_odd_text_raises(name: str) -> None:
    """Nothing, odd shapes of every length, the beginnings of a hostile text, and what nests deeper than Python can."""
    for text in ("", *(HOSTILE[:end] for end in range(0, len(HOSTILE), 7)), *(unit * 3 for unit in UNITS)):
        EVERY[name](text)
    for opened, closed in ("[]", "{}", "()", "<>"):
        EVERY[name](opened * 3_000 + closed * 3_000)
    EVERY[name]('{"a":' * 3_000)


TOGETHER = 1_000


@cache
def short_words() -> list[str]:
    return ["".join(letters) for length in (1, 2, 3) for letters in product(ascii_lowercase, repeat=length)]


@cache
def words() -> list[str]:
    return [*short_words(), *map("".join, product(ascii_lowercase, repeat=4))]


@cache
def known_words() -> list[str]:
    """The longer words that a rule, a pattern or a table of these rooms mentions: all others are alike to them."""
    files = (Path(one).glob("*") for room in (memhook.core, memhook.screening) for one in room.__path__)
    texts = (file.read_text(encoding="utf-8") for file in chain(*files) if file.suffix in (".py", ".toml"))
    return sorted({word for text in texts for word in re.findall("[a-z]{4,}", text.lower())})


ASKED_FOR_WORDS = [name for name in EVERY if name not in QUADRATIC]


@pytest.mark.parametrize("name", ASKED_FOR_WORDS)
def test_no_word_of_up_to_three_letters_and_none_that_a_rule_knows_raises(name: str) -> None:
    """Of the stemmer all of four letters are tested where its other tests are, of every function in `scripts/soak`."""
    read_words(name, [*short_words(), *known_words()])


def read_words(name: str, some: Sequence[str]) -> None:
    together = (" ".join(some[start : start + TOGETHER]) for start in range(26, len(some), TOGETHER))
    for text in (*some[:26], *together):
        EVERY[name](text)


SHORT_WORDS = st.lists(st.text(alphabet=ascii_lowercase, min_size=1, max_size=6), max_size=10).map(" ".join)
ANY_TEXT = st.text(max_size=200) | st.text(alphabet=sorted(set(HOSTILE)), max_size=60) | SHORT_WORDS


@pytest.mark.parametrize("name", EVERY)
@given(text=ANY_TEXT | st.lists(st.sampled_from(UNITS), max_size=12).map("".join))
@settings(max_examples=25, deadline=None)
@example("Ying and yang")
@example("OEDs")
def test_no_text_raises(name: str, text: str) -> None:
    EVERY[name](text)
