"""Holds docs/openapi.yaml against a running server. usage: run.py PROGRAMS DOCUMENT DIRECTORY (see scripts/conformance.sh)"""

import os
import subprocess
import sys
from pathlib import Path

import yaml

from errors import Errors, operations
from installation import Installation
from stories import tell
from waiting import Waiting

# A defect of ours has no way to be provoked from outside.
UNREACHABLE = {"500"}


def schemathesis(document, installation, here, answers):
    environment = {
        **os.environ,
        "PUSHWATCH_CONFORMANCE_HOOKS": str(here / "hooks.py"),
        "PUSHWATCH_CONFORMANCE_KEY": installation.key,
        "PUSHWATCH_CONFORMANCE_USER": installation.user,
        "PUSHWATCH_CONFORMANCE_SESSION": installation.session,
        "PUSHWATCH_CONFORMANCE_ANSWERS": str(answers),
    }
    program = Path(sys.executable).parent / "schemathesis"
    words = ["--config-file", str(here / "schemathesis.toml"), "run", str(document), "--url", installation.url, "--no-color", "--warnings", "off"]
    return subprocess.run([program, *words], env=environment, check=False).returncode


def reached_by(answers):
    lines = answers.read_text(encoding="utf-8").splitlines() if answers.exists() else []
    # No path has a space in it.
    return {tuple(line.split(" ")) for line in lines}


def main():
    programs, document, directory = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    here = Path(__file__).parent
    described = yaml.safe_load(document.read_text(encoding="utf-8"))
    answers = directory / "answers"
    installation = Installation(programs, str(directory))
    try:
        failed = schemathesis(document, installation, here, answers) != 0
        errors = Errors(described, installation)
        errors.systematic()
        tell(errors, installation)
        with Waiting(f"{programs}/pushwatch", directory) as waiting:
            errors.unavailable(waiting.url)
        installation.crash_database()
        errors.unavailable(installation.url, bearer="pw_nobody_" + "A" * 43)
    finally:
        installation.stop()
    reached = reached_by(answers) | errors.reached
    documented = {(o.method, o.path, s) for o in operations(described) for s in o.statuses if s >= "400" and s not in UNREACHABLE}
    missing = sorted(documented - reached)
    undocumented = sorted(
        (m, p, s) for m, p, s in errors.reached if s == "none" or (s != "500" and s not in next(o for o in errors.all if (o.method, o.path) == (m, p)).statuses)
    )
    defects = sorted(answer for answer in reached if answer[2] == "500")
    for title, answers_of in (("never answered", missing), ("not documented", undocumented), ("a defect", defects)):
        for method, path, status in answers_of:
            print(f"{title}: {method} {path} {status}")
    print(f"{len(documented) - len(missing)} of {len(documented)} documented errors reached, {len(reached)} answers of {len(errors.all)} operations")
    sys.exit(1 if failed or missing or undocumented or defects else 0)


main()
