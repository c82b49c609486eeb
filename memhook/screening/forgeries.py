"""Structure that only a client or memhook itself writes: turns, tool calls, system blocks, memhook's own lines.

forgery_in(text)   the reason to distrust a text that has some of it, or nothing
"""

from __future__ import annotations

import re

TURN = "forges a turn of the conversation"
TOOL = "forges a tool call"
OWN = "forges memhook's own lines"

_ROLE = "(?:system|developer|user|assistant|human|admin)"
_TAG = r"(?:_|-)?(?:message|prompt|notice|instructions?|reminder)?"
_EVENT = "(?:user-?prompt-?submit|session-?start|pre-?tool-?use|post-?tool-?use)"
_MODEL = "(?:ai|llm|agent|assistant|claude|copilot|gpt|model)"
# Behind a mark that is only named comes punctuation, the next mark, or a word that goes on about it.
_USED = (
    r"(?!\s*(?:[,.;:)\]}'\"`/|<{…]|and\b|or\b|for\b|is\b|are\b|around\b|twice\b|role|(?:marker|token|tag|block)s?\b|$))"
)

# A text in lower case that a forgery contains, the reason, and the forgery.
_FORGERIES: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (mark, reason, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for mark, reason, pattern in (
        ("<|", TURN, rf"<\|(?:im_start|system|user|assistant|start_header_id|begin_of_text|im_end|eot_id)\|>{_USED}"),
        ("<|", TOOL, rf"<\|python_tag\|>{_USED}"),
        ("_of_turn>", TURN, rf"<start_of_turn>(?:{_ROLE}|model)?{_USED}\s*\S"),
        ("[inst]", TURN, rf"\[INST\]{_USED}"),
        ("<<sys>>", TURN, rf"<<SYS>>{_USED}"),
        ("[sys]", TURN, r"^\W{0,4}\[SYS\] ?\w+ \w|\[SYS\][^\[\]]{5,2000}\[/SYS\]"),
        ("[system", TURN, r"\[SYSTEM(?: MESSAGE| NOTICE| PROMPT| OVERRIDE| ALERT| NOTE)?\]:?\s*\w"),
        ("</", TURN, rf"<({_ROLE}{_TAG})>[^<]{{5,2000}}</\1>"),
        ("</", TURN, rf"</(?:tool_result|function_results|context|document)>\s*<{_ROLE}"),
        ("<system", TURN, r"^\W{0,4}<system[-_](?:reminder|prompt)>\s*\w"),
        ("hook", TURN, rf"^\W{{0,4}}{_EVENT}(?::\w+)? hook (?:success|feedback|additional)"),
        ("system", TURN, r"\bsystem (?:prompt |message )?(?:override|update)\b ?:"),
        (
            "system",
            TURN,
            r"^\W{0,6}system ?:[^\n]{1,400}\n{1,2}\W{0,6}user ?:",
        ),
        (
            ":",
            TURN,
            r"^\W{0,6}(?:system|user|human)(?: message)? ?: ?\S[^\n]{1,400}"
            r"\n(?:[^\n]{0,400}\n){0,6}?\W{0,6}(?:assistant|ai) ?: ?\S",
        ),
        (
            ":",
            TURN,
            r"^\W{0,6}(?:assistant|ai) ?: ?\S[^\n]{1,400}\n(?:[^\n]{0,400}\n){0,3}?\W{0,6}(?:user|human) ?: ?\S",
        ),
        ("assistant:", TURN, r"\bassistant: [^\n]{1,200}[.!?] (?:user|human): \S"),
        ("x-", TURN, rf"^\W{{0,4}}x-{_MODEL}-(?:instruction|directive|command|order|prompt|task)s?: ?\S+ \S"),
        ("function_calls>", TOOL, r"<(?:antml:)?function_calls>\s*<(?:antml:)?invoke"),
        ("<invoke", TOOL, r"<(?:antml:)?invoke name=\"\w+\">\s*<"),
        ("<tool_", TOOL, r"<tool_(?:use|call)s?>\s*[{<]|<(tool_result)>[^<]{5,2000}</\1>"),
        ("tool_", TOOL, r"\"(?:type\"\s*:\s*\"tool_use|tool_calls\"\s*:\s*\[\s*\{)"),
        ("action", TOOL, r"^Action: ?\w+\s+Action Input:"),
        ("memhook", OWN, r"\(end of memhook notes\)|^## Relevant memories \(memhook\)"),
        ("urn:memhook:", OWN, r"^- \*\*[^\n]{1,100}\*\* \([^\n]{1,100}\) urn:memhook:\w{12}"),
    )
)


def forgery_in(text: str) -> str:
    """Empty for a text without one."""
    lowered = text.lower()
    return next((reason for mark, reason, forged in _FORGERIES if mark in lowered and forged.search(text)), "")
