"""Whether an answer can need its second part. If not, the launcher of the second entry ends at once."""

from __future__ import annotations

import logging
from pathlib import Path

from memhook.assistants.claude import CHARACTERS_PER_TOKEN, PART_LIMIT
from memhook.paths import write_private
from memhook.settings import Settings

log = logging.getLogger("memhook")

FRAME_CHARS = 400  # head line, label and end of a block
ENTRY_CHARS = 250  # of a memory besides its text: title, namespace, date, provenance, URN


class OnePart:
    """A marker file for the launcher. If it is wrong once, the second part waits for the next prompt."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark
        self._was_wrong = False

    def renew(self, settings: Settings) -> None:
        fits = fits_one_part(settings) and not self._was_wrong
        if fits == self._mark.exists():
            return
        try:
            if fits:
                write_private(self._mark, "")
            else:
                self._mark.unlink(missing_ok=True)
        except OSError as error:
            log.warning("cannot write %s: %s", self._mark, error)

    def answered(self, parts: int, settings: Settings) -> None:
        """Withdraw the mark once an answer was longer than expected, as with text outside the usual planes."""
        if parts > 1 and not self._was_wrong:
            self._was_wrong = True
            self.renew(settings)


def fits_one_part(settings: Settings) -> bool:
    """Return whether every answer fits one part; project settings are not needed, as they can only lower the limits."""
    hooks = settings.hooks
    shown = settings.preview_chars + ENTRY_CHARS
    most = FRAME_CHARS + hooks.best_chars + hooks.max_memories * shown if hooks.detail == "preview" else PART_LIMIT.size
    budget = CHARACTERS_PER_TOKEN * settings.max_tokens
    start = CHARACTERS_PER_TOKEN * min(hooks.session_start.max_tokens, settings.max_tokens)
    return max(min(most, budget), start) < PART_LIMIT.size
