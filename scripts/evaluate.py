"""Write the published tables: results per prompt, simple methods, sessions, ranking, silence, budgets, cost.

A folder of sets is one row, over all their prompts. Sets that memhook was developed on are marked; those given with
--held-out were not used in development and have a row of their own.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from budget_policies import POLICIES

from memhook.assistants.claude import PART_LIMIT
from memhook.cli.commands.eval import NAMES, ended_in_order, progress_bar
from memhook.evaluation.policies import Plan
from memhook.evaluation.report import evaluated
from memhook.evaluation.sets import EvaluationSet, sampled, sets_in
from memhook.paths import user_paths
from memhook.settings import load_settings

PUBLISHED = Path(__file__).resolve().parents[1] / "memhook" / "guide" / "measurements.md"
COMPARED = 200  # prompts of a row, on which ways to spend a budget are compared
BUDGETS = (500, 1000, 2000, 4000)
SESSIONS = (1, 5, 10, 20)
METHODS = ("bm25", "vectors", "rrf")
BESIDE = ("two_nearest", "vectors_top_5", "rrf_top_5", "everything_once")
MOST_KINDS = 12  # in a row

Report = Mapping[str, Any]


def main() -> int:
    args = arguments()
    started = time.monotonic()
    reports = [report for folder in args.folders for report in reports_of(Path(folder), args)]
    machine = f"{datetime.now(UTC):%F}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    tables = (served, by_kind, silence, beside, sessions, ranking, budgets, cost)
    text = "\n\n".join([machine, *(table(reports) for table in tables)])
    print(text)
    if args.readme:
        write_into_guide(text)
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return 0


def write_into_guide(text: str) -> None:
    section = re.compile(r"(<!-- evaluation -->\n).*?(<!-- end -->)", re.DOTALL)
    written = section.sub(lambda found: f"{found[1]}{text}\n{found[2]}", PUBLISHED.read_text(encoding="utf-8"))
    PUBLISHED.write_text(written, encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="evaluate", description=__doc__)
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a set, or a folder of sets")
    parser.add_argument("--held-out", metavar="SET,SET", default="", help="sets that memhook was not developed on")
    parser.add_argument("--sample", type=int, metavar="N", help="only N prompts of each set")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the seed of the sample (0)")
    parser.add_argument("--across", action="store_true", help="sets of several namespaces also across all of them")
    parser.add_argument("--readme", action="store_true", help="put the tables into the guide's measurements.md too")
    return parser.parse_args()


def reports_of(folder: Path, args: argparse.Namespace) -> Iterator[Report]:
    """Return the rows of the development sets and of the held-out ones.

    Prompts of several namespaces are asked within their own, and with --across also in all of them.
    """
    found = sets_in([folder])
    if args.sample:
        found = [replace(one, queries=sampled(one.queries, args.sample, args.seed)) for one in found]
    held_out = set(args.held_out.split(","))
    for is_held_out in (False, True):
        group = [one for one in found if (one.name in held_out) == is_held_out]
        for within in (True, False)[: 1 + args.across] if any(map(has_projects, group)) else (False,):
            if group:
                name = folder.resolve().name + (f", {len(group)} sets" if len(group) > 1 else "")
                name += f": {', '.join(one.name for one in group)}" if is_held_out and len(found) > 1 else ""
                name += ", within the namespace" if within else ""
                yield {**report_of(group, within), "name": f"{name} ({'held out' if is_held_out else 'development'})"}


def report_of(group: Sequence[EvaluationSet], within_namespace: bool) -> Report:
    settings = load_settings(user_paths().config_file, None, os.environ).settings
    plan = Plan(
        settings,
        POLICIES,
        BUDGETS,
        PART_LIMIT,
        within_namespace=within_namespace,
        has_baselines=True,
        compared_every=max(1, sum(len(one.queries) for one in group) // COMPARED),
        session_prompts=SESSIONS if any(query.needs for one in group for query in one.queries) else (),
    )
    with ended_in_order(), progress_bar() as progress:
        return evaluated(group, plan, user_paths(), progress)


def has_projects(found: EvaluationSet) -> bool:
    return len({query.namespace for query in found.queries if query.namespace}) > 1


def served(reports: Sequence[Report]) -> str:
    head = ["what prompts get", "memories", "to answer", "spoken", "found", "carried", "precision", "tokens"]
    head += ["not to answer", "silent", "tokens", "framing"]
    rows = [
        [
            one["name"],
            f"{one['memories']:,}",
            f"{one['answerable']:,}",
            *(share(one[name]) for name in ("spoken", "found", "carried", "precision")),
            whole(one["tokens_answerable"]),
            f"{one['prompts'] - one['answerable']:,}",
            share(one["silent"]),
            whole(one["tokens_unanswerable"]),
            share(one["framing_share"]),
        ]
        for one in reports
    ]
    return markdown(head, rows)


def by_kind(reports: Sequence[Report]) -> str:
    """Return rows by kind of prompt, for sets that have kinds."""
    head = ["to answer, by kind", "kind", "prompts", "spoken", "found", "carried", "tokens"]
    rows = [
        [one["name"], kind, str(values["prompts"])]
        + [share(values[name]) for name in ("spoken", "found", "carried")]
        + [whole(values["tokens"])]
        for one in reports
        for kind, values in listed_kinds(one, "spoken").items()
    ]
    return markdown(head, rows)


def silence(reports: Sequence[Report]) -> str:
    head = ["not to answer, by kind", "kind", "prompts", "silent", "tokens"]
    rows = [
        [one["name"], kind, str(values["prompts"]), share(values["silent"]), whole(values["tokens"])]
        for one in reports
        for kind, values in listed_kinds(one, "silent").items()
    ]
    return markdown(head, rows)


def listed_kinds(report: Report, measure: str) -> dict[str, Mapping[str, Any]]:
    kinds = {kind: values for kind, values in report["by_kind"].items() if measure in values}
    return kinds if len(kinds) <= MOST_KINDS else {}


def beside(reports: Sequence[Report]) -> str:
    head = ["found / carried, tokens / tokens where nothing is needed", "memhook", *(NAMES[name] for name in BESIDE)]
    rows = [
        [one["name"], costs(one), *(costs(one["baselines"][name]) for name in BESIDE if name in one["baselines"])]
        for one in reports
    ]
    return markdown(head, rows)


def costs(values: Mapping[str, float | None]) -> str:
    tokens = " / ".join(whole(values[name]) for name in ("tokens_answerable", "tokens_unanswerable"))
    return f"{share(values['found'])} / {share(values['carried'])}, {tokens}"


def sessions(reports: Sequence[Report]) -> str:
    head = ["start and prompts together: found / carried, tokens", *(f"{length} prompts" for length in SESSIONS)]
    rows = [
        [one["name"], *(session(one["sessions"][str(length)]) for length in SESSIONS)]
        for one in reports
        if "sessions" in one
    ]
    return markdown(head, rows)


def session(values: Mapping[str, float | None]) -> str:
    return f"{share(values['found'])} / {share(values['carried'])}, {whole(values['tokens'])}"


def ranking(reports: Sequence[Report]) -> str:
    head = ["recall@5 / @10 / @20", "memhook", *(NAMES[name] for name in METHODS)]
    rows = [
        [
            one["name"],
            triple(one["recall"].values()),
            *(triple(one["baselines"][name]["recall"].values()) for name in METHODS if name in one["baselines"]),
        ]
        for one in reports
    ]
    return markdown(head, rows)


def budgets(reports: Sequence[Report]) -> str:
    """Return for each set and budget the gold memories named, their characters and the prompt's words shown."""
    head = ["gold / text / passage", "prompts", "tokens", *POLICIES]
    rows = [
        [
            one["name"],
            str(one["compared"]),
            str(budget),
            *(recalls(one["policies"][policy][str(budget)]) for policy in POLICIES),
        ]
        for one in reports
        for budget in BUDGETS
    ]
    return markdown(head, rows)


def cost(reports: Sequence[Report]) -> str:
    head = ["previews within 4000 tokens", "tokens a block", "largest", "tokens a prompt", "over budget", "precision"]
    head += ["ms p50", "ms p95"]
    rows = []
    for one in reports:
        spent = one["budgets"]["4000"]
        over = spent["over_budget"] + sum(
            values["over_budget"] for policy in one["policies"].values() for values in policy.values()
        )
        numbers = [whole(spent[name]) for name in ("mean_tokens", "max_tokens", "tokens_per_prompt")]
        times = [f"{one['latency_ms'][name]:.0f}" for name in ("p50", "p95")]
        rows.append([one["name"], *numbers, str(over), share(spent["precision"]), *times])
    return markdown(head, rows)


def recalls(values: Mapping[str, float | None]) -> str:
    return triple([values["gold_recall"], values["text_recall"], values["passage_recall"]])


def triple(values: Sequence[float | None]) -> str:
    return " / ".join(share(value) for value in values)


def whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def share(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}".removeprefix("0") if value < 1 else "1"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *(list(row) + [""] * (len(head) - len(row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
