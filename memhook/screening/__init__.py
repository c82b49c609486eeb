"""What may not reach a model: secrets, which are masked, and texts that try to command it, which are quarantined.

policy         The policy for models: masks a memory's secrets, decides on its quarantine
poison         Whether a text that the user did not write tries to command the model; asks the next three
forgeries      Structure that only clients or memhook write: turns, tool calls, system blocks, memhook's own lines
disguises      The readings of a text behind hidden or look-alike characters, spacing and encodings
intents        The intents of a text towards the model, by words close to each other: `intents.toml`, per language
secrets        Secrets in a text, replaced by their kind: `[masked:aws-access-key]`; `secret_kinds.toml`, per provider
credentials    Whether a text may hold a credential, also in plain words: stricter, for what is dropped
secret_values  Whether a value may be a secret, by itself and by the name it is given to
"""
