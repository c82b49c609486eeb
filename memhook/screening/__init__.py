"""What may not reach a model: secrets, forged structure, texts that try to command it.

poison           Whether a text tries to command the model that reads it, however it is disguised
poison_concepts  The words for what such a text speaks of, in nine languages: rules and whose they are
poison_misuse    How a text has the model work against those it works for, in nine languages
poison_negation  Whether a text forbids what it names: "never delete ...", "ask before you push"
poison_quotes    A text without the short phrases that it quotes only because something tests, detects or filters them
poison_search    Where a text has which phrases: quickly none at all
poison_signs     What a text says that tries to command the model reading it: in words
poison_traits    Whether a stretch of text has traits that together command the model
poison_wordings  How a text that commands the model is put, trait by trait, in nine languages: each harmless alone
policy           What is kept from the model: secrets, which are masked, and texts that try to command it
secret_kinds     What the tokens of providers look like
secret_values    Whether a value may be a secret, by itself and by the name it is given to
secrets          Secrets in a text, replaced by what kind they were: `[masked:aws-access-key]`
"""
