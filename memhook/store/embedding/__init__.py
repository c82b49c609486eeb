"""Texts as vectors: the models that come inside packages.

encoder           Texts as vectors, by a model that came in a package or was pulled, with its calibration; no network
judge             Whether one of two notes replaces the other: the default model, trained to read both as one text
language_vectors  The multilingual encoder's vectors by memory, in a file beside the table
model_files       The files of a packaged model: located, verified and laid out in one folder
multilingual      The encoder for languages other than English: Google's universal sentence encoder
vector_cache      Vectors of texts embedded before, cached between evaluations or starts of the daemon
"""
