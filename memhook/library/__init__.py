"""A store together with the model that reads for it, and several of them searched as one.

access             Who may see what, as the filter that goes into the store's query
joined             The personal store and the shared ones
languages          Memories and prompts in other languages than English: when the multilingual encoder is asked
library            The store and the model that reads for it, kept in step: vectors of two models are never compared
opened             The stores that the settings name, each opened once: the personal one and those that are shared
sweep              Secrets that were stored before memhook knew them, masked on disk too: a few memories at a time
"""
