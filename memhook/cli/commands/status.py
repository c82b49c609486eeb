"""status, and the overview that `memhook` without a command prints."""

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memhook import __version__
from memhook.assistants.switching import presences
from memhook.cli.commands.daemon import daemon_state, summary
from memhook.cli.commands.install import where_of
from memhook.cli.commands.pause import current_pause, described
from memhook.cli.output import counted, said_json, say, say_rows, say_title, span, wrapped
from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.cli.views import left_behind
from memhook.core.fencing import collapsed

OTHER_PROJECTS = 5
LABEL = 10  # columns
NONE_YET = "none yet"
REFUSED = 1
REPAIR = "Until that is repaired, nothing is stored, changed or shown: memhook config edit"

INSTALL = "memhook install                            switch it on in your assistants"
IMPORT = "memhook import --assistants                import the notes of your assistants"
NEXT_STEPS = (
    'memhook remember "what is worth keeping"   store a memory',
    'memhook search "what you want to know"     look for what was learned',
)
DOCTOR = "memhook doctor                             check that everything works"
EDIT = "memhook config edit                        repair your settings"


def add_parser(commands: Commands) -> None:
    command(commands, run, "status", "memhook status")


def overview(place: Place) -> None:
    """Print the overview quickly, without starting the daemon or loading a model."""
    state, assistants = daemon_state(place.paths), _assistants(place)
    memories = _counted(place, running=state["running"])
    say_title(f"memhook {__version__}")
    say(
        f"project   {_project(place.project.name, place.project.id)}",
        f"memories  {memories}",
        f"hooks     {_hooks(place, assistants)}",
        f"daemon    {summary(state)}",
        *_settings_problem(place),
        "",
        "What to do next:",
        *(f"  {step}" for step in _next_steps(place, memories, is_on=any(one["ways"] for one in assistants))),
        "",
        "All commands: memhook --help",
    )


def _next_steps(place: Place, memories: str, *, is_on: bool) -> list[str]:
    """Return the commands that help most now; while the settings cannot be read, the others would fail."""
    if unreadable := place.settings().unreadable:
        is_in_file = ("user file", unreadable) in place.settings().found
        return [*([EDIT] if is_in_file else []), DOCTOR]
    return [*([] if is_on else [INSTALL]), *([IMPORT] if memories in ("0", NONE_YET) else []), *NEXT_STEPS, DOCTOR]


def run(args: Namespace, place: Place) -> int:
    """Show project, memories, model, budget and daemon on one screen."""
    state = {"paused": current_pause(place), "daemon": daemon_state(place.paths), "assistants": _assistants(place)}
    unreadable = place.settings().unreadable  # then the store is not known
    found = {"settings_problem": unreadable} if unreadable else place.call("status")
    report = {"version": __version__, **found, **state}
    if not said_json(args, report):
        project = report.get("project_name", place.project.name), report.get("project", place.project.id)
        say_title(f"memhook {__version__}")
        say_rows(
            LABEL,
            f"project   {_project(*project)}",
            *_earlier(report),
            *([] if unreadable else _memories(report)),
            *_on_in(report),
            f"hooks     {_hooks(place, report['assistants'])}",
            *(_settings_problem(place) if unreadable else _store_rows(report, place)),
            f"daemon    {summary(report['daemon'])}",
        )
    return REFUSED if unreadable else 0


def _store_rows(report: Mapping[str, Any], place: Place) -> list[str]:
    used, replica = report["used"], report["replica"]
    store = f"{replica['uri']}, {_age(replica)}" if replica else report["store"]
    return [
        f"last run  {_last_run(report)}",
        f"model     {_model(report)}",
        f"languages {_languages(report['languages'])}",
        f"budget    {report['max_tokens']} tokens for an event; {used['tokens_of_week']} in 7 days; shown"
        f" {used['shown']}, used {used['used']}",
        *_supply(report["supply"]),
        f"store     {store}",
        *(
            f"shared    {one['name']}: {counted(one['memories'])}, {_age(one)} ({collapsed(one['uri'])})"
            for one in report["shared"]
        ),
        f"settings  {place.paths.config_file}",
    ]


def _supply(supply: Mapping[str, Any]) -> list[str]:
    """Return rows on the sources of memories that are on, and how many memories came from each."""
    names = [name for name in ("notes", "digests", "instruction", "cues", "follow") if supply[name]]
    week = ", ".join(f"{count} {collapsed(source)}" for source, count in supply["this_week"].items())
    waiting = f"; {supply['waiting']} unreviewed: memhook inbox" if supply["waiting"] else ""
    return [f"supply    {', '.join(names) or 'off'}", f"          this week: {week or 'nothing'}{waiting}"]


def _settings_problem(place: Place) -> list[str]:
    unreadable = place.settings().unreadable
    return [f"settings  {collapsed(unreadable)}", f"          {REPAIR}"] if unreadable else []


def _project(name: str, identity: str) -> str:
    if not identity:
        return "none in this directory, so only global memories apply"
    return f"{collapsed(name)} ({collapsed(identity)})"


def _earlier(report: Mapping[str, Any]) -> list[str]:
    what, command = left_behind(report)
    return [f"          {what}: {command}"] if what else []


def _counted(place: Place, *, running: bool) -> str:
    if place.settings().unreadable:
        return "not known: your settings cannot be read"
    if running:
        report = place.call("status")
        aside = f", {report['quarantined']} of them in quarantine" if report["quarantined"] else ""
        return f"{report['memories']}{aside}"
    if not place.settings().settings.store.uri and not place.paths.store.exists():
        return NONE_YET
    return "counted when the daemon runs: memhook status starts it"


def _memories(report: Mapping[str, Any]) -> list[str]:
    """Return rows on the number of memories: all, global, of this project, of the largest others, in quarantine."""
    counts: dict[str, int] = dict(report["by_project"])
    here = report["project"]
    named = [("global", counts.pop("", 0))] + ([("this project", counts.pop(here, 0))] if here else [])
    others = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(count for _, count in others[OTHER_PROJECTS:])
    rows = [*named, *others[:OTHER_PROJECTS], *([("in other projects", rest)] if rest else [])]
    rows += (
        [("of them in quarantine: memhook list --quarantined", report["quarantined"])] if report["quarantined"] else []
    )
    counted_rows = (f"          {count:>6}  {collapsed(name)}" for name, count in rows)
    return [f"memories  {report['memories']}", *counted_rows]


def _age(replica: Mapping[str, Any]) -> str:
    """Return how old the replica is, and the problem that keeps it from being updated."""
    seconds = replica["age_seconds"]
    age = "not fetched yet" if seconds is None else f"fetched {span(seconds)} ago"
    return f"{age}; {collapsed(replica['problem'])}" if replica["problem"] else age


def _assistants(place: Place) -> list[dict[str, Any]]:
    where = where_of(place, project=bool(place.project.id))
    return [
        {"name": one.assistant.name, "title": one.assistant.title, "found": one.found, "ways": list(one.ways)}
        for one in presences(where)
    ]


def _on_in(report: Mapping[str, Any]) -> list[str]:
    """Return rows with the assistants in which memhook is on, and how it was switched on."""
    on = [f"{one['title']} ({' and '.join(one['ways'])})" for one in report["assistants"] if one["ways"]]
    return wrapped(", ".join(on), " " * LABEL, before="on in     ") if on else []  # `hooks` names the next step


def _last_run(report: Mapping[str, Any]) -> str:
    if not report["last_runs"]:
        return "none yet"
    run = report["last_runs"][0]
    at = datetime.fromisoformat(run["at"]).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return f"{at} by {run['client']}: {run['event']}, {collapsed(run['outcome'])}, {run['milliseconds']:.0f} ms"


def _hooks(place: Place, assistants: Sequence[Mapping[str, Any]]) -> str:
    """Return whether hooks answer here, or the reason why not."""
    if os.environ.get("MEMHOOK_DISABLE", "0") not in ("", "0"):
        return "silent where MEMHOOK_DISABLE is set, as it is here"
    loaded = place.settings()
    if loaded.unreadable:
        return "silent until your settings can be read"
    if not loaded.settings.enabled:
        return f"switched off by enabled = false ({loaded.sources['enabled']})"
    if pause := current_pause(place):
        return described(pause)
    return "on" if any(one["ways"] for one in assistants) else "in no assistant yet: memhook install"


def _model(report: Mapping[str, Any]) -> str:
    """Return the model in use, and the one that is replacing it."""
    current, wanted, problem = report["model"], report["configured_model"], report["embedding_problem"]
    if problem and not report["by_meaning"]:
        return f"none, search by words alone: {problem}"
    searched = f"{current}, to become {wanted}" if current and current != wanted else wanted
    if problem:
        return f"{searched}: {problem}"
    renewal = report["renewal"]
    return f"{searched}, {renewal['done']} of {renewal['total']} embedded" if renewal else searched


def _languages(languages: Mapping[str, Any]) -> str:
    """Return the encoder of memories and prompts that are not in English."""
    if languages["problem"]:
        return f"English alone: {languages['problem']}"
    if languages["in_use"]:
        return f"{languages['model']}, which has embedded {counted(languages['read'])}"
    return "English" if languages["setting"] == "english" else "English; others when they come up"
