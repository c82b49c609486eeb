"""The text that a session started with, for clients that ask for it again when the session is resumed.

Claude Code drops a text that is the same to the byte and adds any other to the history; Qwen Code has it in its system
prompt, which it builds anew. The text is in memory only, and forgotten when a memory changes: a memory that was
forgotten meanwhile must not come back with it.
"""

from __future__ import annotations

from memhook.answering.block import Block
from memhook.assistants.events import Event
from memhook.assistants.known import KNOWN

RESUME = "resume"
KEPT_STARTS = 64


class Starts:
    def __init__(self) -> None:
        self._blocks: dict[tuple[str, str], Block] = {}

    def put(self, event: Event, block: Block) -> None:
        if not KNOWN[event.client].keeps_start:
            # Without what was considered: the ledger counts a showing once.
            self._blocks[event.client, event.session] = Block(block.parts, tokens=block.tokens)
            while len(self._blocks) > KEPT_STARTS:
                del self._blocks[next(iter(self._blocks))]

    def again(self, event: Event) -> Block | None:
        return self._blocks.get((event.client, event.session)) if event.source == RESUME else None

    def clear(self) -> None:
        self._blocks.clear()
