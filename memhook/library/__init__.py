"""A store with its embedding model, and several stores searched as one.

access             Which memories may be shown to whom, as a filter for the store's query
joined             The personal store and the shared ones
languages          Memories and prompts in other languages than English: when the multilingual encoder is used
library            A store with its embedding model: vectors of two models are never compared
opened             The stores that the settings name, personal and shared, each opened once
sweep              Masks secrets in stored memories that an older version did not recognize: a few memories at a time
"""
