import os

os.environ.setdefault("LANCEDB_LOG", "error")  # read when lancedb is imported; its warnings are none for a terminal
