"""Whether a new memory contradicts an older one. Each pair is an older text and a newer one, with a cosine as the
default model has it for such pairs.
"""

from __future__ import annotations

import pytest

from memhook.core.supersession import PROPOSED, announces_change, chance_to_supersede

CONTRADICTING = [
    ("The mailer runs on port 2525.", "The mailer runs on port 2587.", 0.98),
    ("Tests are started with `nose`.", "`nose` was removed; tests are started with pytest.", 0.91),
    ("We build the site with Gatsby.", "The site is built with Astro now, Gatsby is gone.", 0.9),
    ("Deploy keys are rotated every year.", "Deploy keys are rotated every month.", 0.99),
    ("Commits may skip the hooks.", "Commits must not skip the hooks.", 0.98),
    ("Use black for formatting.", "Use ruff format instead of black.", 0.88),
    ("The cluster has 3 nodes.", "The cluster has 5 nodes since March.", 0.88),
    ("Ask Jette about the price list.", "Ask Milan about the price list, Jette is on leave.", 0.92),
    ("Upload limit of the portal: 25 MB.", "The portal has an upload limit of 2 GB, tested.", 0.9),
    ("We deploy on Thursdays.", "Deploys happen every Tuesday morning since the release manager left.", 0.78),
    ("Key rotation is started by hand.", "Key rotation starts automatically.", 0.9),
    ("Invoices are printed from Crystal.", "Invoices are printed from Jasper.", 0.88),
    ("Thumbnails are cut by Pillow.", "libvips cuts the thumbnails.", 0.86),
    ("Sensors are polled every 90 s.", "Sensors are polled every 2 minutes.", 0.95),
    ("Reads must come from the primary, timeout 10 s.", "Reads must come from the primary, timeout 40 s.", 0.98),
    ("Ask Ilse before a restore.", "Kofi is asked before a restore. Ilse has left the company.", 0.84),
    (
        "The ledger is locked for 30 seconds.",
        "While it writes, the job holds a lock on the ledger for 2 minutes.",
        0.85,
    ),
    ("Der Dienst läuft unter Tomcat.", "Der Dienst läuft jetzt unter Jetty, Tomcat ist entfernt.", 0.9),
]
LOOK_ALIKE = [
    ("The mailer runs on port 2525.", "The scheduler runs on port 2587.", 0.75),
    ("Staging has 3 nodes.", "Production has 5 nodes.", 0.77),
    ("Antenna 3 is calibrated with offset 12.", "Antenna 5 is calibrated with offset 9.", 0.89),
    ("Sensors are polled every 90 s.", "Sensors are polled every 1.5 minutes.", 0.95),
    ("Sensors are calibrated after 7 days.", "Sensors are calibrated after a week.", 0.95),
    ("Use black in the api folder.", "Use prettier in the web folder.", 0.66),
    ("Deploy keys are rotated every month.", "Deploy keys are rotated every month, on the first.", 0.97),
    ("Deploy keys are never sent by mail, only by courier.", "Deploy keys are never sent by mail.", 0.93),
    ("Tests are started with pytest.", "Fixtures are in tests/data, one folder per test.", 0.63),
    ("VAT in Spain is 21 %.", "VAT in Italy is 22 %.", 0.88),
    ("The site is built with Astro.", "Images are resized by a worker at the edge.", 0.54),
    ("Pages are cached in Varnish.", "Pages are cached in Varnish for 20 seconds.", 0.96),
    ("The night shift starts at 22:00.", "The night shift has 6 people.", 0.9),
    ("Upload limit of the portal: 25 MB.", "Upload limit of the shop: 10 MB.", 0.8),
    ("Key rotation starts automatically.", "Key rotation takes an hour in the large cluster.", 0.86),
    ("Weekly report.\nQueue empty, 3 workers idle.", "Weekly report.\nQueue full, 5 workers busy now.", 0.94),
    ("CI builds with Node 22.", "The e2e container ships Node 20 for the old browser driver.", 0.65),
    ("Pages are cached in Varnish.", "Varnish runs on two hosts behind the balancer.", 0.77),
    ("Unit tests must finish in 2 minutes.", "Integration tests must finish in 15 minutes, not in 2.", 0.87),
    ("The bus runs at 500 kbit/s.", "The bus needs terminators of 120 ohm at both ends.", 0.75),
    ("The roof leaks in spring.", "Coffee is bought on Friday.", 0.9),
    ("No more than 12 jobs run at once.", "At most 12 jobs run at once.", 0.95),
    ("Force pushes are not allowed on main.", "On main, force pushes are forbidden.", 0.97),
]


@pytest.mark.parametrize(("older", "newer", "cosine"), CONTRADICTING)
def test_another_value_for_the_same_subject_is_proposed(older: str, newer: str, cosine: float) -> None:
    assert chance_to_supersede(older, newer, cosine) >= PROPOSED


@pytest.mark.parametrize(("older", "newer", "cosine"), LOOK_ALIKE)
def test_two_statements_that_are_both_true_are_not(older: str, newer: str, cosine: float) -> None:
    assert chance_to_supersede(older, newer, cosine) < PROPOSED


def test_without_a_model_the_words_have_to_say_more() -> None:
    older, newer, cosine = CONTRADICTING[2]
    assert chance_to_supersede(older, newer, None) < chance_to_supersede(older, newer, cosine)


def test_a_long_report_that_mentions_the_subject_contradicts_nothing() -> None:
    report = " ".join(f"On day {day} we looked at the queue of the mailer and found nothing." for day in range(60))
    assert chance_to_supersede("The mailer runs on port 2525.", report, 0.8) < PROPOSED


def test_lines_that_both_notes_have_are_no_other_value() -> None:
    log = " ".join(f"On day {day} somebody looked at the ledger." for day in range(12))
    older = f"Reconciliation must read from the primary. {log} Never from the replica."
    assert chance_to_supersede(older, f"The replica of shard 1 was moved in May. {log} Ask its owner.", 0.93) < PROPOSED


def test_which_of_two_is_newer_is_told_by_the_one_that_speaks_of_a_change() -> None:
    older, newer, _ = CONTRADICTING[2]
    assert announces_change(older, newer)
    assert not announces_change(newer, older)
    assert not announces_change("The mailer runs on port 2525.", "The mailer runs on port 2587.")
