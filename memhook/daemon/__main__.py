"""`python -m memhook.daemon`: the daemon, as the hook client and the commands start it."""

import sys

from memhook.daemon.server import main

sys.exit(main())
