"""Runs the memidex that comes with the extension, or says whether this Python can.

    python -I -S launch.py ARGUMENTS   memidex ARGUMENTS, from `bundled/` and from nowhere else
    python -I -S launch.py --probe     one line of JSON: this interpreter's version, and why it cannot run the bundle

Written so that any Python, however old, can at least answer the probe.
"""

import json
import os
import sys

BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bundled")
PATHS = [os.path.join(BUNDLED, "tool"), os.path.join(BUNDLED, "libs")]


def obstacle():
    """Why this interpreter cannot run the bundle, or None: its compiled modules are tried, not guessed at."""
    try:
        with open(os.path.join(BUNDLED, "bundle.json")) as file:
            bundle = json.load(file)
    except (OSError, ValueError):
        return "this package carries no libraries"
    if bundle["tag"] != sys.implementation.cache_tag:
        return "the libraries of this package are for " + bundle["name"]
    for module in bundle["compiled"]:
        try:
            __import__(module)
        except Exception as error:  # whatever it is, the bundle does not run here
            return "a library of this package does not load: " + str(error)
    return None


def main():
    if sys.argv[1:] == ["--probe"]:
        old = sys.version_info < (3, 11)
        if not old:
            sys.path[:0] = PATHS
        answer = {"version": "%d.%d.%d" % sys.version_info[:3], "old": old, "obstacle": None if old else obstacle()}
        print(json.dumps(answer))
        return
    sys.path[:0] = PATHS
    # A process that memidex starts (a detached learning run) finds the same files.
    os.environ["PYTHONPATH"] = os.pathsep.join(PATHS + os.environ.get("PYTHONPATH", "").split(os.pathsep)).rstrip(os.pathsep)
    import runpy

    runpy.run_module("memidex", run_name="__main__", alter_sys=True)


main()
