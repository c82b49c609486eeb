"""The MCP server: a thin door to the daemon, over stdio or HTTP.

address      The address to listen on: HOST:PORT as it is typed, and the bound socket
http_server  `memhook mcp --http`: the SDK's streamable HTTP behind a guard, which checks host, origin and token
main         `memhook mcp`: over stdio, answered before the SDK is loaded, or over HTTP, with tokens
server       The MCP server on these streams: tools and resources, each one call to the daemon
stdio        stdin and stdout for MCP: the first answers, before the SDK is loaded; other output goes to stderr
tools        The tools: arguments, description and engine operation of each
web_server   A web server on one bound socket, until a signal or an idle time, also for the page; its connections
waiting      The MCP server while the plugin's environment is being created, run by the system's Python
"""
