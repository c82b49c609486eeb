"""Texts as vectors: the models that arrive inside packages.

calibration       The calibration of each embedding model, as scripts/calibrate wrote it
encoder           Texts as vectors, by a model that arrived inside a package or was pulled, without the network
language_vectors  The vectors of the multilingual encoder, by memory: in a file beside the table
model_files       Where the files of a packaged model lie: verified, and laid out in one folder
multilingual      The encoder for languages other than English: Google's universal sentence encoder
onnx_model        A model in a folder, run by ONNX Runtime itself
requantised       The matrices of a weight pack in the form that a processor multiplies fastest: eight bits
vector_cache      Vectors of texts that were embedded before, kept from one evaluation, or one start of the daemon
"""
