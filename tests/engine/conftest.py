"""A real engine, as the tests of the MCP server have it."""

from tests.mcp_server.conftest import call, embedder, engine

__all__ = ["call", "embedder", "engine"]
