"""What `scripts/evaluate` writes: ranking beside the baselines, silence, ways to spend a budget, and cost."""

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

from memhook.cli.evaluate import ended_in_order, progress_bar
from memhook.context.evaluation import Plan, evaluated
from memhook.context.evaluation_set import EvaluationSet, read_set, sampled
from memhook.hooks.adapters.claude import PART_LIMIT
from memhook.paths import user_paths
from memhook.settings import load_settings

README = Path(__file__).resolve().parents[1] / "README.md"
COMPARED = 200  # prompts of a set that ways to spend a budget are compared on
BUDGETS = (500, 1000, 2000, 4000)
METHODS = {"bm25": "BM25", "vectors": "vectors", "rrf": "BM25 + vectors"}

Report = Mapping[str, Any]


def main() -> int:
    args = arguments()
    started = time.monotonic()
    reports = [report for folder in args.folders for report in reports_of(Path(folder), args)]
    machine = f"{datetime.now(UTC):%F}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    text = "\n\n".join([machine, ranking(reports), silence(reports), budgets(reports), cost(reports)])
    print(text)
    if args.readme:
        write_into_readme(text)
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return 0


def write_into_readme(text: str) -> None:
    section = re.compile(r"(<!-- evaluation -->\n).*?(<!-- end -->)", re.DOTALL)
    written = section.sub(lambda found: f"{found[1]}{text}\n{found[2]}", README.read_text(encoding="utf-8"))
    README.write_text(written, encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="evaluate", description=__doc__)
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a folder with memories.jsonl and queries.jsonl")
    parser.add_argument("--sample", type=int, metavar="N", help="only N prompts of each set")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which ones (0)")
    parser.add_argument("--across", action="store_true", help="sets of several namespaces also across all of them")
    parser.add_argument("--readme", action="store_true", help="put the tables into README.md too")
    return parser.parse_args()


def reports_of(folder: Path, args: argparse.Namespace) -> Iterator[Report]:
    """One, or two: prompts of different namespaces are asked each within its own, and if wanted across all too."""
    found = read_set(folder)
    queries = sampled(found.queries, args.sample, args.seed) if args.sample else found.queries
    settings = load_settings(user_paths().config_file, None, os.environ).settings
    for within in (True, False)[: 1 + args.across] if has_projects(found) else (False,):
        every = max(1, len(queries) // COMPARED)
        plan = Plan(
            settings, POLICIES, BUDGETS, PART_LIMIT, within_namespace=within, baseline=True, compared_every=every
        )
        with ended_in_order(), progress_bar() as progress:
            report = evaluated([replace(found, queries=queries)], plan, user_paths(), progress)
        yield {**report, "name": f"{found.name}, within the namespace" if within else found.name}


def has_projects(found: EvaluationSet) -> bool:
    return len({query.namespace for query in found.queries if query.namespace}) > 1


def ranking(reports: Sequence[Report]) -> str:
    head = ["recall@5 / @10 / @20", "memories", "prompts", "memhook", *METHODS.values()]
    rows = [
        [
            one["name"],
            f"{one['memories']:,}",
            f"{one['answerable']:,}",
            triple(one["recall"].values()),
            *(triple(one["baselines"][name]["recall"].values()) for name in METHODS if name in one["baselines"]),
        ]
        for one in reports
    ]
    return markdown(head, rows)


def silence(reports: Sequence[Report]) -> str:
    head = ["a block or none", "kept, of the answerable", "silent, of the others", "silent by kind"]
    rows = []
    for one in reports:
        kinds = one["silent_by_kind"]
        told = ", ".join(f"{kind} {share(value)}" for kind, value in kinds.items()) if len(kinds) <= 4 else ""
        rows.append([one["name"], share(one["kept"]), share(one["silent"]), told])
    return markdown(head, rows)


def budgets(reports: Sequence[Report]) -> str:
    """For each set and budget the gold memories named, their characters carried and the prompt's words shown."""
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
        numbers = [f"{spent[name]:.0f}" for name in ("mean_tokens", "max_tokens", "tokens_per_prompt")]
        times = [f"{one['latency_ms'][name]:.0f}" for name in ("p50", "p95")]
        rows.append([one["name"], *numbers, str(over), share(spent["precision"]), *times])
    return markdown(head, rows)


def recalls(values: Mapping[str, float | None]) -> str:
    return triple([values["gold_recall"], values["text_recall"], values["passage_recall"]])


def triple(values: Sequence[float | None]) -> str:
    return " / ".join(share(value) for value in values)


def share(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}".removeprefix("0") if value < 1 else "1"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *(list(row) + [""] * (len(head) - len(row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
