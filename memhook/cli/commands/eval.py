"""eval: measure how well the prompt hook answers a set of prompts."""

import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from memhook.assistants.claude import PART_LIMIT
from memhook.cli.output import said_json, say, say_title, warn
from memhook.cli.parser import Commands, command, number_of
from memhook.cli.place import Place

BUDGETS = (500, 1000, 2000, 4000)
COLUMNS = {
    "gold_recall": "gold",
    "text_recall": "text",
    "passage_recall": "passage",
    "precision": "precision",
    "mean_tokens": "tokens",
    "max_tokens": "largest",
    "over_budget": "over",
}
ANSWERED = {name: name for name in ("prompts", "spoken", "found", "carried", "precision", "tokens")}
UNANSWERED = {name: name for name in ("prompts", "silent", "tokens")}
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


def add_parser(commands: Commands) -> None:
    evaluation = command(commands, run, "eval", "memhook eval my-set --baselines")
    evaluation.add_argument("folders", metavar="DIR", nargs="+")
    evaluation.option("--budgets", "N,N", "in tokens (500,1000,2000,4000)", type=_numbers_of("tokens"), default=BUDGETS)
    evaluation.add_argument(
        "--detail", choices=("preview", "cascade", "full", "pack"), help="how much is shown (setting hooks.detail)"
    )
    evaluation.flag("--baselines", "also measure BM25, vectors and other simple methods", "--baseline")
    evaluation.option(
        "--session-prompts", "N,N", "also measure sessions of N prompts", type=_numbers_of("prompts"), default=()
    )
    evaluation.flag("--within-namespace", "ask each query in a project named as its namespace")
    evaluation.option("--sample", "N", "only N of the prompts", type=number_of("prompts"))
    evaluation.option("--seed", "S", "the seed of the sample (0)", type=int, default=0)


def _numbers_of(what: str) -> Callable[[str], tuple[int, ...]]:
    number = number_of(what)
    return lambda text: tuple(dict.fromkeys(number(part.strip()) for part in text.split(",")))


def run(args: Namespace, place: Place) -> None:
    """Measure what the prompt hook finds, on your own memories and prompts.

    DIR has memories.jsonl, lines {id, text, title?, created?, namespace?}, and
    queries.jsonl, lines {prompt, gold: [ids], kind?, namespace?, needs?}; an empty
    gold means that nothing answers the prompt, needs is the part of a gold memory
    that has to reach the model. A line {tool, input, gold, error?} is a tool call
    instead of a prompt. A folder of such folders is evaluated set by set.
    Each set gets a temporary store; nothing is recorded.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the daemon, before numpy is imported
    # These import lancedb and the model, which other commands leave to the daemon.
    from memhook.evaluation.policies import Plan, policy_of  # noqa: PLC0415  see above
    from memhook.evaluation.report import evaluated  # noqa: PLC0415  see above
    from memhook.evaluation.sets import sampled, sets_in  # noqa: PLC0415  see above

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
    if not said_json(args, report):
        _say(report)


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Delete the temporary store also on SIGTERM."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
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
    baselines = report.get("baselines", {})
    recalls = {"memhook": report["recall"]}
    recalls |= {name: one["recall"] for name, one in baselines.items() if "recall" in one}
    depths = {depth: f"@{depth}" for depth in report["recall"]}
    say("", *_table("recall of the ranking", depths, {NAMES[name]: one for name, one in recalls.items()}))
    budgets = {f"{budget} tokens": one for budget, one in report["budgets"].items()}
    say("", *_table(f"within (detail {report['detail']})", COLUMNS, budgets))
    say("", *_table(f"to answer ({report['relevance']})", ANSWERED, _served_rows(report, ANSWERED)))
    say("", *_table("not to answer", UNANSWERED, _served_rows(report, UNANSWERED)))
    if baselines:
        methods = {NAMES[name]: one for name, one in baselines.items() if "found" in one}
        say("", *_table("beside simple methods", BESIDE, {"memhook": report, **methods}))
    if "sessions" in report:
        sessions = {f"{length} prompts": one for length, one in report["sessions"].items()}
        say("", *_table("start and prompts", SESSION, sessions))
    times = report["latency_ms"]
    if report["framing_share"] is not None:
        say("", f"framing: {report['framing_share']:.0%} of the characters of all blocks")
    say("", f"time for a prompt: {times['p50']:.0f} ms (p50), {times['p95']:.0f} ms (p95)")


def _served_rows(report: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return a row for all prompts that have these measures, then rows by kind and by set."""
    kinds = {f"  {kind}": one for kind, one in report["by_kind"].items() if list(columns)[1] in one}
    sets = {f"set {one['set']}": _served(one, columns) for one in report.get("sets", ())}
    return {"all": _served(report, columns), **kinds, **sets}


def _served(report: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    is_answerable = columns is ANSWERED
    prompts = report["answerable"] if is_answerable else report["prompts"] - report["answerable"]
    tokens = report["tokens_answerable" if is_answerable else "tokens_unanswerable"]
    return {**report, "prompts": prompts, "tokens": tokens}


def _cell(measure: str, value: float | None) -> str:
    if value is None:
        return "-"
    if measure.startswith("carried_per"):
        return f"{value:.2f}"
    return f"{value:.0f}" if isinstance(value, int) or "tokens" in measure else f"{value:.3f}"


def _table(title: str, columns: Mapping[str, str], named: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the lines of a table: a row for each name, with the measures that `columns` has headings for."""
    rows = [[name, *(_cell(column, one[column]) for column in columns)] for name, one in named.items()]
    cells = [[title, *columns.values()], *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    ]
