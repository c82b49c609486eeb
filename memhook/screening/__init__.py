"""What may not reach a model: secrets, which are masked, and texts that try to command it, which are quarantined.

policy         The policy for models: masks a memory's secrets, decides on its quarantine
poison         Whether a text that others wrote tries to command the model: forged structure, disguises, intents
intents        The intents of a text towards the model, by words close to each other: `intents.toml`, per language
secrets        Secrets in a text, replaced by their kind: `[masked:aws-access-key]`; `secret_kinds.toml`, per provider
secret_values  Whether a value may be a secret, and, more strictly, whether a text may contain one
"""
