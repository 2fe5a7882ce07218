"""`python -m memidex`."""

import sys

from memidex.cli.main import main

sys.exit(main())
