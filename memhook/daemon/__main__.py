"""`python -m memhook.daemon`: what the hook client and the commands start."""

import sys

from memhook.daemon.server import main

sys.exit(main())
