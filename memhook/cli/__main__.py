"""`python -m memhook.cli`: the command line of exactly this environment."""

import sys

from memhook.cli.main import main

sys.exit(main())
