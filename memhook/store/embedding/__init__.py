"""Texts as vectors: the models that arrive inside packages.

encoder           Texts as vectors, by a model that came in a package or was pulled, with its calibration; no network
judge             Whether one of two notes replaces the other: the default model, taught to read both as one text
language_vectors  The vectors of the multilingual encoder, by memory: in a file beside the table
model_files       Where the files of a packaged model lie: verified, and laid out in one folder
multilingual      The encoder for languages other than English: Google's universal sentence encoder
vector_cache      Vectors of texts that were embedded before, kept from one evaluation, or one start of the daemon
"""
