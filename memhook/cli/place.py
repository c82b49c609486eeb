"""The directory a command runs in, and its connection to the memories."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memhook.cli.output import warn
from memhook.core.fencing import collapsed
from memhook.daemon.control import door
from memhook.errors import InvalidInput
from memhook.paths import PROJECT_FILE, Paths, user_paths
from memhook.store.project import Project, project_of
from memhook.store.project_aliases import ProjectAliases

if TYPE_CHECKING:
    from memhook.settings import Loaded


class Place:
    """A directory and the user's folders. The first call connects to the memories."""

    def __init__(self, directory: str, paths: Paths, *, use_daemon: bool = True, store: str = "") -> None:
        self.directory = directory
        self.paths = paths
        self.use_daemon = use_daemon
        self.store = store
        """The shared store that was named. Without one, the personal store is written to and all are searched."""
        self._door = door(paths, directory, use_daemon=use_daemon)

    def call(self, method: str, **params: Any) -> Any:
        answer = self._door(method, **params, **({"store": self.store} if self.store else {}))
        if isinstance(answer, dict):
            warn(*answer.get("incomplete", ()))
        self._report_repairs()
        return answer

    def _report_repairs(self) -> None:
        """Report each repair of the store once, whichever process made it."""
        for report in sorted(self.paths.backups.glob("damaged-*/report.txt")):
            with suppress(OSError):
                text = report.read_text(encoding="utf-8", errors="replace")
                report.rename(report.with_name("report-shown.txt"))
                warn(f"memhook: {collapsed(text)}", "Run: memhook doctor")

    @cached_property
    def project(self) -> Project:
        return ProjectAliases(self.paths).resolved(project_of(self.directory, os.environ.get("CLAUDE_PROJECT_DIR", "")))

    def project_asked_for(self) -> Project:
        """Return the project for `--project`; raise InvalidInput outside one."""
        if not self.project.id:
            raise InvalidInput(
                "This directory belongs to no project.",
                "Go into one (a git repository, or a folder with a .memhook.toml), or use --global.",
            )
        return self.project

    def settings(self) -> Loaded:
        from memhook.settings import load_settings  # noqa: PLC0415  pydantic takes as long as all the rest

        root = self.project.root
        return load_settings(self.paths.config_file, root / PROJECT_FILE if root else None, os.environ)


def place_of(directory: str | None, *, use_daemon: bool, store: str = "") -> Place:
    """Return the place of the current directory, or of the one of `-C`, which becomes the current one."""
    if directory:
        try:
            os.chdir(directory)
        except OSError as error:
            raise InvalidInput(f"{directory} cannot be entered ({error.strerror}).", "Give -C a directory.") from error
    try:
        current = os.getcwd()  # noqa: PTH109  the wire takes text
    except OSError:  # deleted meanwhile: then it belongs to no project
        current = ""
    return Place(current, user_paths(), use_daemon=use_daemon, store=store)
