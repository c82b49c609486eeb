"""eval: what the prompt hook is worth on a set of memories and prompts."""

from __future__ import annotations

import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from memhook.assistants.claude import PART_LIMIT
from memhook.cli.output import say, say_json, say_title, warn
from memhook.cli.place import Place

COLUMNS = {
    "gold_recall": "gold",
    "text_recall": "text",
    "passage_recall": "passage",
    "precision": "precision",
    "mean_tokens": "tokens",
    "max_tokens": "largest",
    "over_budget": "over",
}
ANSWERED = ("prompts", "spoken", "found", "carried", "precision", "tokens")
UNANSWERED = ("prompts", "silent", "tokens")
NAMES = {
    "memhook": "memhook",
    "bm25": "BM25",
    "vectors": "vectors",
    "rrf": "BM25 + vectors",
    "vectors_top_5": "vectors, top 5, whole",
    "rrf_top_5": "BM25 + vectors, top 5, whole",
    "two_nearest": "two nearest, whole",
    "everything_once": "all memories, once",
}
BESIDE = {
    "found": "found",
    "carried": "carried",
    "tokens_answerable": "tokens",
    "silent": "silent",
    "tokens_unanswerable": "tokens",
}
SESSION = {
    "sessions": "sessions",
    "found": "found",
    "carried": "carried",
    "start_tokens": "at start",
    "tokens": "tokens",
    "carried_per_1000_tokens": "carried/1000",
}


def eval_(args: Namespace, place: Place) -> int:
    # Here, for they bring lancedb and the model along: what other commands leave to the daemon.
    from memhook.evaluation.policies import Plan, policy_of  # noqa: PLC0415  lancedb takes seconds to import
    from memhook.evaluation.report import evaluated  # noqa: PLC0415  as above
    from memhook.evaluation.sets import sampled, sets_in  # noqa: PLC0415  as above

    sets = sets_in([Path(folder) for folder in args.folders])
    if args.sample:
        sets = [replace(one, queries=sampled(one.queries, args.sample, args.seed)) for one in sets]
    settings = place.settings().usable()
    detail = args.detail or settings.hooks.detail
    plan = Plan(
        settings,
        {detail: policy_of(detail)},
        args.budgets,
        PART_LIMIT,
        within_namespace=args.within_namespace,
        has_baselines=args.baselines,
        session_prompts=args.session_prompts,
    )
    with ended_in_order(), progress_bar() as progress:
        report = evaluated(sets, plan, place.paths, progress)
    if not report["model"]:
        warn("Without the embedding model, by words alone. See: memhook doctor")
    if args.json:
        say_json(report)
    else:
        _say(report)
    return 0


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Also when it is told to end: the throw-away store goes either way."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """On stderr, in a terminal."""
    stage = ""
    with tqdm(leave=False, disable=not sys.stderr.isatty(), file=sys.stderr) as bar:

        def show(what: str, done: int, total: int) -> None:
            nonlocal stage
            if what != stage:
                stage = what
                bar.reset(total)
                bar.set_description(what)
            bar.update(done - bar.n)

        yield show


def _say(report: Mapping[str, Any]) -> None:
    rest = report["prompts"] - report["answerable"]
    say_title(f"{report['set']}: {report['memories']} memories, {report['answerable']} prompts to answer, {rest} not")
    say("", *_table(["recall of the ranking", "@5", "@10", "@20"], _recall_rows(report)))
    say("", *_table([f"within (detail {report['detail']})", *COLUMNS.values()], _budget_rows(report)))
    say("", *_table([f"to answer ({report['relevance']})", *ANSWERED], _served_rows(report, ANSWERED)))
    say("", *_table(["not to answer", *UNANSWERED], _served_rows(report, UNANSWERED)))
    if "baselines" in report:
        say("", *_table(["beside simple methods", *BESIDE.values()], _beside_rows(report)))
    if "sessions" in report:
        say("", *_table(["start and prompts", *SESSION.values()], _session_rows(report)))
    times = report["latency_ms"]
    if report["framing_share"] is not None:
        say("", f"framing: {report['framing_share']:.0%} of the characters of all blocks")
    say("", f"time for a prompt: {times['p50']:.0f} ms (p50), {times['p95']:.0f} ms (p95)")


def _recall_rows(report: Mapping[str, Any]) -> Iterator[list[str]]:
    recalls = {"memhook": report["recall"]}
    recalls |= {name: one["recall"] for name, one in report.get("baselines", {}).items() if "recall" in one}
    for name, recall in recalls.items():
        yield [NAMES[name], *(_cell("recall", value) for value in recall.values())]


def _budget_rows(report: Mapping[str, Any]) -> Iterator[list[str]]:
    for budget, values in report["budgets"].items():
        yield [f"{budget} tokens", *(_cell(name, values[name]) for name in COLUMNS)]


def _served_rows(report: Mapping[str, Any], columns: Sequence[str]) -> Iterator[list[str]]:
    """All prompts that have these measures, then by kind, then by set."""
    kinds = {f"  {kind}": one for kind, one in report["by_kind"].items() if columns[1] in one}
    sets = {f"set {one['set']}": _served(one, columns) for one in report.get("sets", ())}
    for name, one in {"all": _served(report, columns), **kinds, **sets}.items():
        yield [name, *(_cell(column, one[column]) for column in columns)]


def _served(report: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    is_answerable = columns is ANSWERED
    prompts = report["answerable"] if is_answerable else report["prompts"] - report["answerable"]
    tokens = report["tokens_answerable" if is_answerable else "tokens_unanswerable"]
    return {**report, "prompts": prompts, "tokens": tokens}


def _beside_rows(report: Mapping[str, Any]) -> Iterator[list[str]]:
    methods = {name: one for name, one in report["baselines"].items() if "found" in one}
    for name, one in {"memhook": report, **methods}.items():
        yield [NAMES[name], *(_cell(column, one[column]) for column in BESIDE)]


def _session_rows(report: Mapping[str, Any]) -> Iterator[list[str]]:
    for length, one in report["sessions"].items():
        yield [f"{length} prompts", *(_cell(column, one[column]) for column in SESSION)]


def _cell(measure: str, value: float | None) -> str:
    if value is None:
        return "-"
    if measure.startswith("carried_per"):
        return f"{value:.2f}"
    return f"{value:.0f}" if isinstance(value, int) or "tokens" in measure else f"{value:.3f}"


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> list[str]:
    cells = [list(head), *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    ]
