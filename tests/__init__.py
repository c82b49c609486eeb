"""Set up as the daemon is, before anything imports numpy: its threads spin after each product."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"
