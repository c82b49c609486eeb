"""Keep from models: secrets, which are masked, and texts that try to command the model, which are quarantined.

policy         the policy for models: masks a memory's secrets, decides on its quarantine
poison         whether a text tries to command the model: forged structure, disguises, intents
intents        the intents of a text towards the model, by words close to each other: `intents.toml`, per language
secrets        the secrets in a text, replaced by their kind: `[masked:aws-access-key]`; `secret_kinds.toml`
secret_values  whether a value may be a secret, and, more strictly, whether a text may contain one
"""
