"""Find the names of packages in the manifest of a project, of any common format.

is_manifest(path)      whether a file lists the packages that a project needs
packages_in(manifest)  their names, without owner and version; any text, in linear time
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memhook.patterns import regex

_MANIFEST = regex(
    r"(?:bower|composer|deno|package|vcpkg)\.jsonc?|(?:conda|environment|package|pubspec)\.ya?ml"
    r"|(?:Cargo|Project|pyproject|[\w.-]*versions)\.toml|(?:conanfile|constraints|[\w.-]*requirements[\w.-]*)\.(?:in|txt)"
    r"|(?:build|mix|Package|rebar|setup)\.(?:cfg|config|exs|py|sbt|swift)|build\.gradle(?:\.kts)?|deps\.edn|go\.mod"
    r"|(?:packages|pom)\.(?:config|xml)|Directory\.Packages\.props|[\w.-]+\.(?:cabal|[cf]sproj|gemspec|vbproj)"
    r"|\.pre-commit-config\.yaml|Brewfile|Gemfile|Pipfile|Podfile|project\.clj"
)
_REQUIREMENTS = regex(r"(?:^|/)requirements/[\w.-]+\.(?:in|txt)$")
# With its version: `"dayjs": "^1.1"`, `serde = { version = "1" }`, `requests>=2`, `{:req, "~> 1.0"}`, `org:okhttp:4.9`
_VERSIONED = regex(
    r"(?<![\w./@+-])([A-Za-z@][\w./@+-]{1,100})(?:\[[\w, -]{0,60}\])?[\"']?"
    r"(?:\s{0,8}(?:=>|[:=,])|(?=[ (]?[~^<>=!])|(?= v\d))\s{0,8}"
    r"(?:\{\s{0,8}version\s{0,8}=\s{0,8})?[\"'\[(]?[~^<>=!v ]{0,4}\d"
)
# By its place, in the order of: `gem "rails"`, `- id: black`, `{:req, git: "a"}`, `<artifactId>okhttp<`,
# `Include="Moq"`, `serde = {`, a name alone on its line, `["httpx", "rich"]`, `url: "https://git.acme.test/Lottie.git"`
_PLACED = regex(
    r"""\b(?:brew|gem|pod)\s{1,4}["']([\w./-]{2,100})|-\s{1,4}id:\s{1,4}([\w-]{2,100})|\{:(\w{2,100}),"""
    r"""|<artifactId>([\w.-]{2,100})<|(?:Include|id)="([\w.-]{2,100})\""""
    r"""|^\s{0,16}([\w-]{2,100})\s?=\s?\{|^\s{0,16}-?\s{0,4}["']?([A-Za-z][\w.-]{1,100})["']?,?\s{0,8}$"""
    r"""|[\[,]\s{0,8}["']([A-Za-z][\w./-]{1,100})["'](?=\s{0,8}[\],])"""
    r"""|url:\s{0,4}"[^"\s]{0,200}/([\w.-]{2,100}?)(?:\.git)?\"""",
    re.MULTILINE,
)
_MAJOR = regex(r"/v\d+$")


def is_manifest(path: str) -> bool:
    return bool(_MANIFEST.fullmatch(path.rpartition("/")[2]) or _REQUIREMENTS.search(path))


def packages_in(manifest: str) -> frozenset[str]:
    return frozenset(name for name in _names(manifest) if len(name) > 2)


def _names(manifest: str) -> Iterator[str]:
    found = (*_VERSIONED.findall(manifest), *("".join(groups) for groups in _PLACED.findall(manifest)))
    yield from (_MAJOR.sub("", name).rpartition("/")[2] for name in found)
