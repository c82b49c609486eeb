from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memhook.core.memory import Memory
from memhook.evaluation.baselines import PlainSearch, fused
from tests.fake_embedder import HashEmbedder

DAY = datetime(2026, 2, 14, tzinfo=UTC)
TEXTS = {"lag": "the replica lags behind the primary", "vpn": "deploys hang without the tunnel", "uv": "use uv"}


def search(folder: Path, *, projects: dict[str, str] | None = None, vectors: bool = True) -> PlainSearch:
    embed = HashEmbedder().embed_query
    places = projects or {}
    memories = [Memory(k, "", text, "", DAY, DAY, project=places.get(k, "")) for k, text in TEXTS.items()]
    return PlainSearch(folder, memories, [embed(text) if vectors else None for text in TEXTS.values()])


def test_words_vectors_and_their_fusion_each_give_a_ranking(tmp_path: Path) -> None:
    found = search(tmp_path).rankings("replicas lagging", HashEmbedder().embed_query("replica lags"), "")
    assert list(found["bm25"]) == ["lag"]
    assert next(iter(found["vectors"])) == "lag"
    assert max(found["vectors"].values()) == found["vectors"]["lag"] <= 1.0
    assert sorted(found["rrf"]) == sorted(TEXTS)


def test_another_projects_memories_are_not_searched(tmp_path: Path) -> None:
    plain = search(tmp_path, projects={"lag": "shop", "vpn": "site"})
    vector = HashEmbedder().embed_query("replica")
    assert plain.rankings("replica", vector, "site")["bm25"] == {}
    assert sorted(plain.rankings("replica", vector, "site")["vectors"]) == ["uv", "vpn"]
    assert list(plain.rankings("replica", vector, "shop")["bm25"]) == ["lag"]


def test_without_vectors_only_words_are_compared(tmp_path: Path) -> None:
    found = search(tmp_path, vectors=False).rankings("replica", None, "")
    assert {name: list(ids) for name, ids in found.items()} == {"bm25": ["lag"]}


def test_what_two_rankings_agree_on_comes_first() -> None:
    assert list(fused([["a", "b", "c"], ["c", "b"]])) == ["c", "b", "a"]  # 1/63 + 1/61 > 2/62 > 1/61
