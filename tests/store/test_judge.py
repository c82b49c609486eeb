"""The judge of whether one note replaces another, with the real model. Each pair is an older note and a newer one."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhook.errors import EmbeddingError
from memhook.store.embedding import judge, model_files
from memhook.store.embedding.judge import Verdict, loaded_judge
from memhook.writing.closeness import ORDER_KNOWN, PROPOSED

CONTRADICTING = [
    ("The mailer runs on port 2525.", "The mailer runs on port 2587."),
    ("Tests are started with `nose`.", "`nose` was removed; tests are started with pytest."),
    ("We build the site with Gatsby.", "The site is built with Astro now, Gatsby is gone."),
    ("Deploy keys are rotated every year.", "Deploy keys are rotated every month."),
    ("Commits may skip the hooks.", "Commits must not skip the hooks."),
    ("Use black for formatting.", "Use ruff format instead of black."),
    ("The cluster has 3 nodes.", "The cluster has 5 nodes since March."),
    ("Ask Jette about the price list.", "Ask Milan about the price list, Jette is on leave."),
    ("Upload limit of the portal: 25 MB.", "The portal has an upload limit of 2 GB, tested."),
    ("We deploy on Thursdays.", "Deploys happen every Tuesday morning since the release manager left."),
    ("Key rotation is started by hand.", "Key rotation starts automatically."),
    ("Invoices are printed from Crystal.", "Invoices are printed from Jasper."),
    ("Thumbnails are cut by Pillow.", "libvips cuts the thumbnails."),
    ("Sensors are polled every 90 s.", "Sensors are polled every 2 minutes."),
    ("Reads must come from the primary, timeout 10 s.", "Reads must come from the primary, timeout 40 s."),
    ("Ask Ilse before a restore.", "Kofi is asked before a restore. Ilse has left the company."),
    (
        "The ledger is locked for 30 seconds.",
        "While it writes, the job holds a lock on the ledger for 2 minutes.",
    ),
    ("Der Dienst läuft unter Tomcat.", "Der Dienst läuft jetzt unter Jetty, Tomcat ist entfernt."),
]
LOOK_ALIKE = [
    ("The mailer runs on port 2525.", "The scheduler runs on port 2587."),
    ("Staging has 3 nodes.", "Production has 5 nodes."),
    ("Antenna 3 is calibrated with offset 12.", "Antenna 5 is calibrated with offset 9."),
    ("Sensors are polled every 90 s.", "Sensors are polled every 1.5 minutes."),
    ("Sensors are calibrated after 7 days.", "Sensors are calibrated after a week."),
    ("Use black in the api folder.", "Use prettier in the web folder."),
    ("Deploy keys are rotated every month.", "Deploy keys are rotated every month, on the first."),
    ("Deploy keys are never sent by mail, only by courier.", "Deploy keys are never sent by mail."),
    ("Tests are started with pytest.", "Fixtures are in tests/data, one folder per test."),
    ("VAT in Spain is 21 %.", "VAT in Italy is 22 %."),
    ("The site is built with Astro.", "Images are resized by a worker at the edge."),
    ("Pages are cached in Varnish.", "Pages are cached in Varnish for 20 seconds."),
    ("The night shift starts at 22:00.", "The night shift has 6 people."),
    ("Upload limit of the portal: 25 MB.", "Upload limit of the shop: 10 MB."),
    ("Key rotation starts automatically.", "Key rotation takes an hour in the large cluster."),
    ("Weekly report.\nQueue empty, 3 workers idle.", "Weekly report.\nQueue full, 5 workers busy now."),
    ("CI builds with Node 22.", "The e2e container ships Node 20 for the old browser driver."),
    ("Pages are cached in Varnish.", "Varnish runs on two hosts behind the balancer."),
    ("Unit tests must finish in 2 minutes.", "Integration tests must finish in 15 minutes, not in 2."),
    ("The bus runs at 500 kbit/s.", "The bus needs terminators of 120 ohm at both ends."),
    ("The roof leaks in spring.", "Coffee is bought on Friday."),
    ("No more than 12 jobs run at once.", "At most 12 jobs run at once."),
    ("Force pushes are not allowed on main.", "On main, force pushes are forbidden."),
]
A_WORD_APART = [
    ("Max 32 students per section, enforced in `Sections`.", "Max 28 students per section, enforced in `Sections`."),
    ("Friday deploys are forbidden at the bank.", "Friday deploys are allowed at the bank."),
    ("We release every second Tuesday.", "We release every second Thursday."),
    ("Indent with tabs, never spaces.", "Indent with spaces, never tabs."),
    ("Use tabs, not spaces.", "Use spaces, not tabs."),
    ("Login to the admin panel requires 2FA.", "Login to the admin panel does not require 2FA."),
    ("Ask Priya before touching the billing module.", "Ask Tomasz before touching the billing module."),
    ("Retries: 3.", "Retries: 5."),
]
OF_ANOTHER_SUBJECT = [
    ("Node 3 has 64 GB of memory.", "Node 4 has 64 GB of memory."),
    ("The orders service listens on port 8080.", "The stock service listens on port 8081."),
    ("Upload limit of the portal: 25 MB.", "Upload limit of the shop: 10 MB."),
]
WITH_A_CHANGE = [
    ("Use black for formatting.", "Use ruff format instead of black, which is no longer installed."),
    ("Ask Jette about the price list.", "Ask Milan about the price list from now on, Jette has left."),
    ("We build the site with Gatsby.", "The site is built with Astro now, Gatsby is gone."),
]


def replaces(older: str, newer: str) -> float:
    return loaded_judge().verdict(older, newer).replaces


def share_proposed(pairs: list[tuple[str, str]]) -> float:
    return sum(replaces(*pair) >= PROPOSED for pair in pairs) / len(pairs)


def test_most_notes_with_another_value_for_the_same_subject_are_proposed() -> None:
    assert share_proposed(CONTRADICTING) >= 0.8


def test_few_pairs_of_notes_that_are_both_true_are_proposed() -> None:
    """These are harder than most: what it is most often wrong about is the same said again in other words."""
    assert share_proposed(LOOK_ALIKE) <= 0.3


def test_notes_that_differ_in_the_one_word_that_counts_are_proposed() -> None:
    assert share_proposed(A_WORD_APART) >= 0.9


def test_notes_that_differ_in_the_one_word_that_names_the_subject_are_not() -> None:
    assert share_proposed(OF_ANOTHER_SUBJECT) == 0


def test_the_note_that_speaks_of_a_change_is_the_newer_one() -> None:
    for older, newer in WITH_A_CHANGE:
        assert loaded_judge().verdict(older, newer).in_order >= ORDER_KNOWN
        assert loaded_judge().verdict(newer, older).in_order <= 1 - ORDER_KNOWN


def test_two_notes_without_a_word_of_change_do_not_tell_which_is_the_newer_one() -> None:
    verdict = loaded_judge().verdict("The mailer runs on port 2525.", "The mailer runs on port 2587.")
    assert 1 - ORDER_KNOWN < verdict.in_order < ORDER_KNOWN


def test_a_long_report_that_mentions_the_subject_contradicts_nothing() -> None:
    report = " ".join(f"On day {day} we looked at the queue of the mailer and found nothing." for day in range(60))
    assert replaces("The mailer runs on port 2525.", report) < PROPOSED


@settings(deadline=None, max_examples=40)
@given(st.text(), st.text())
def test_any_two_texts_have_a_verdict(older: str, newer: str) -> None:
    assert 0 <= replaces(older, newer) <= 1


def test_what_is_too_long_to_read_is_read_from_its_beginning() -> None:
    older, newer = CONTRADICTING[0]
    rest = " Pumps hum." * 100_000
    assert replaces(older + rest, newer + rest) == replaces(older + rest, newer + rest * 2)


def test_a_pair_is_read_once_until_the_judge_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[tuple[str, str]] = []

    class Recording:
        def verdict(self, older: str, newer: str) -> Verdict:
            pairs.append((older, newer))
            return Verdict(0.25, 0.5)

    judge.release()
    monkeypatch.setattr(judge, "loaded_judge", cache(Recording))
    for _ in range(2):
        assert judge.verdict("Retries: 3.", "Retries: 5.") == Verdict(0.25, 0.5)
    judge.verdict("Retries: 5.", "Retries: 3.")
    assert pairs == [("Retries: 3.", "Retries: 5."), ("Retries: 5.", "Retries: 3.")]
    judge.release()
    judge.verdict("Retries: 3.", "Retries: 5.")
    assert len(pairs) == 3
    judge.release()


def test_a_judge_of_other_content_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "ADDED", model_files.Resource(judge.ADDED.name, "0" * 64))
    with pytest.raises(EmbeddingError, match="judge"):
        judge.Judge()
