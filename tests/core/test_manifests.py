"""The packages that a manifest names, in any format."""

from __future__ import annotations

import pytest

from memhook.core.manifests import is_manifest, packages_in


@pytest.mark.parametrize(
    "path",
    [
        "package.json", "mix.exs", "Cargo.toml", "pyproject.toml", "requirements-dev.txt", "requirements/base.in",
        "go.mod", "Gemfile", ".pre-commit-config.yaml",
        "app/build.gradle.kts", "gradle/libs.versions.toml", "src/Api/Api.csproj", "pubspec.yaml", "pom.xml",
    ],
)  # fmt: skip
def test_a_manifest_is_known_by_its_name(path: str) -> None:
    assert is_manifest(path)


def test_other_files_are_no_manifests() -> None:
    assert not any(map(is_manifest, ("src/package.ts", "notes.txt", "config.json", "mix.lock", "")))


@pytest.mark.parametrize(
    ("manifest", "names"),
    [
        ('"dayjs": "^1.11.0",\n"@acme/table": "4.17"', {"dayjs", "table"}),
        ('{:phoenix, "~> 1.7"}, {:tesla, github: "acme/tesla"}', {"phoenix", "tesla"}),
        ('serde = "1.0"\ntokio = { version = "1" }\ngrid = { path = "../grid" }', {"serde", "tokio", "grid"}),
        ("requests>=2.0\nflask[async]==2\nnumpy\n", {"requests", "flask", "numpy"}),
        ('dependencies = ["httpx", "rich>=13"]', {"httpx", "rich"}),
        ("repos:\n  - repo: https://git.acme.test/black\n    hooks:\n      - id: black\n", {"black"}),
        ('gem "rails", "~> 7"\ngem \'puma\'', {"rails", "puma"}),
        ('implementation("com.acme.http:okhttp:4.9.0")', {"okhttp"}),
        ("<artifactId>okhttp</artifactId>", {"okhttp"}),
        ('<PackageReference Include="Moq" />', {"Moq"}),
        ("require (\n\tgithub.com/acme/testify v1.8.4\n\tgithub.com/acme/chi/v5 v5.0.1\n)", {"testify", "chi"}),
        ('.package(url: "https://git.acme.test/Lottie.git")', {"Lottie"}),
        ("dependencies:\n  - pandas\n  - numpy=1.26\n", {"pandas", "numpy"}),
        ('"scripts": {"test": "vitest run"}', set()),
    ],
)
def test_a_package_is_known_by_its_version_or_its_place(manifest: str, names: set[str]) -> None:
    assert packages_in(manifest) == names
