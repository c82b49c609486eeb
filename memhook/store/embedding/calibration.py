"""The calibration of each embedding model, as scripts/calibrate wrote it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from memhook.core.grading import Calibration
from memhook.store.embedding import multilingual

ANY_MODEL = "any"  # for a model that was not calibrated


@cache
def calibration_of(model: str) -> Calibration:
    known = json.loads((files("memhook") / "resources" / "calibration.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = known.get(model, known[ANY_MODEL])
    found |= {name: tuple(found.get(name, ())) for name in ("request", "talk", "chore")}
    return Calibration(**found)


def multilingual_calibration() -> Calibration:
    return calibration_of(multilingual.ID)
