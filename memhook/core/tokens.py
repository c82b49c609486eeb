def estimated_tokens(text: str) -> int:
    return -(-len(text) // 3)
