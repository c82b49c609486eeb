"""stats: count prompts and tokens, and name the memories shown most and never."""

from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import Any

from memhook.cli.output import counted, said_json, say, say_title
from memhook.cli.parser import Commands, command, number_of
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
from memhook.core.memory import shortened

TITLE_CHARS = 44


def add_parser(commands: Commands) -> None:
    stats = command(commands, run, "stats", "memhook stats --days 7")
    stats.option("--days", "N", "the last N days; without it, all that is recorded", type=number_of("days"))
    stats.flag("--project", "only this project")


def run(args: Namespace, place: Place) -> None:
    """Show prompts, tokens, and the memories shown most and never."""
    if args.project:
        place.project_asked_for()
    report = place.call("stats", days=args.days, here=args.project)
    if said_json(args, report):
        return
    if not report["since"]:
        say("Nothing is recorded yet. Use an assistant with memhook for a while.")
        return
    where = "this project" if args.project else "all projects"
    say_title(f"Since {report['since'][:10]}, {where}")
    say(*_spending(report), *_by_origin(report), *_of_memories(report))


def _spending(report: Mapping[str, Any]) -> Iterable[str]:
    prompts, spoken = report["prompts"], report["with_injection"]
    yield f"prompts       {prompts}"
    yield f"with memories {spoken} ({report['share']:.0%})"
    for outcome, count in report["silent"].items():
        yield f"  {count:>6}  {outcome}"
    yield f"tokens        {'p50':>6} {'p95':>6}"
    for name, key in (
        ("a prompt", "tokens_per_prompt"),
        ("a prompt with memories", "tokens_per_injection"),
        (f"a session, of {report['sessions']}", "tokens_per_session"),
    ):
        values = report[key]
        yield f"              {values['p50']:>6} {values['p95']:>6}  {name}"
    if used_up := report["sessions_used_up"]:
        yield f"sessions that used up their budget (session_max_tokens): {used_up}"


def _by_origin(report: Mapping[str, Any]) -> Iterable[str]:
    yield f"memories by   {'all':>6} {'shown':>6} {'used':>6}"
    for origin, counts in report["by_origin"].items():
        yield f"  {origin:<12}{counts['memories']:>6} {counts['shown']:>6} {counts['used']:>6}"


def _of_memories(report: Mapping[str, Any]) -> Iterable[str]:
    never, examples = report["never_surfaced"], report["never_examples"]
    more = f", {len(examples)} of them" if never > len(examples) else ""
    most, best = report["surfaced_most"], report["best_of_week"]
    yield from _listed(f"surfaced most, of {report['surfaced']}", len(most), most)
    yield from _listed(f"never surfaced: {counted(never)}{more}", never, examples)
    yield f"shown {report['shown']}, used {report['used']}"
    yield from _listed("used most, of those used in the last 7 days", len(best), best)
    often = f"shown often, never used: {counted(report['never_used'])} (memhook tidy)"
    yield from _listed(often, report["never_used"], report["never_used_examples"])


def _listed(heading: str, count: int, memories: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Yield the heading if `count` is not 0, then the memories that may be named."""
    yield from [heading] if count else []
    for one in memories:
        yield f"  {one.get('times', ''):>6}  {one['urn']}  {shortened(collapsed(one['title']), TITLE_CHARS)}"
