"""By what a command that failed is known again: found by the anchor index, as after a failure."""

from __future__ import annotations

import pytest

from memhook.core.actions import action_of
from memhook.core.anchor_index import AnchorIndex
from memhook.core.anchors import anchors_of
from memhook.supply.sessions import Pair

PAIRS = [
    ("bellplan render --out week.pdf", "bellplan render --output week.pdf"),
    ("bellplan render --out=week.pdf", "bellplan render --output=week.pdf"),
    ("cd shop && uv run bellplan render --draft --out week.pdf", "uv run bellplan render --draft --output week.pdf"),
    ("python manage.py test --keep-db orders.tests", "python manage.py test --keepdb orders.tests"),
    ("python tool.py --out a.pdf", "python tool.py --output a.pdf"),
    ("kubectl -n shop logs --sinse 5m billing-1", "kubectl -n shop logs --since 5m billing-1"),
    ("tool send --port 80 msg.txt", "tool send --port 8080 msg.txt"),
    ("./scripts/deploy.sh stage --dry 2024-01-02", "./scripts/deploy.sh stage --dry-run 2024-01-02"),
    ("pytest tests/a.py", "python -m pytest tests/a.py"),
    ("git commit -m 'a fix' --no-verfy", "git commit -m 'a fix' --no-verify"),
]


def brings(wrong: str, right: str, command: str) -> bool:
    """Whether a failure of the command brings up the pair."""
    pair, index = Pair(wrong, right, is_plain=True), AnchorIndex()
    index.file("pair", pair.anchors or anchors_of("", pair.words), pair.words)
    return bool(index.matches(action_of({"command": command}, "/work", "/work", "Exit code 2\nno such option")))


@pytest.mark.parametrize(("wrong", "right"), PAIRS)
def test_a_command_that_fails_again_brings_its_pair(wrong: str, right: str) -> None:
    assert brings(wrong, right, wrong)


@pytest.mark.parametrize(
    ("pair", "command"),
    [
        (0, "bellplan render --out may.pdf"),
        (0, "cd shop && bellplan render --out=/tmp/may.csv"),
        (1, "bellplan render --out may.pdf"),
        (2, "uv run bellplan render --out may.pdf"),
        (3, "python manage.py test --keep-db shop.tests"),
        (4, "python tool.py --out b.pdf"),
        (5, "kubectl -n shop logs --sinse 10m cart-2"),
        (6, "tool send --port 80 other.txt"),
        (7, "scripts/deploy.sh stage --dry 2025-09-01"),
        (9, "git commit --no-verfy -m 'another fix'"),
    ],
)
def test_the_same_failure_on_another_file_or_number_brings_it_too(pair: int, command: str) -> None:
    assert brings(*PAIRS[pair], command)


@pytest.mark.parametrize(
    ("pair", "command"),
    [
        (0, "bellplan render --output may.pdf"),
        (0, "bellplan check --out may.pdf"),
        (2, "uv run bellplan render --draft --output may.pdf"),
        (3, "python manage.py migrate"),
        (4, "python other.py --out b.pdf"),
        (5, "kubectl -n shop logs --since 10m cart-2"),
        (6, "tool send --port 8080 other.txt"),
        (7, "scripts/deploy.sh stage --dry-run 2025-09-01"),
    ],
)
def test_what_works_or_is_another_command_does_not_bring_it(pair: int, command: str) -> None:
    assert not brings(*PAIRS[pair], command)
