"""Memory for coding assistants: the right memories at the right moment, within a token budget."""

__version__ = "0.1.0"
