"""Switching memhook on and off in the assistants: which there are, what each is told, and how their files change."""
