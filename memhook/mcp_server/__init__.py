"""The MCP server: a thin door to the daemon, over stdio or HTTP."""
