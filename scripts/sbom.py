#!/usr/bin/env python3
"""Prints what is in a release as a CycloneDX 1.6 document: every resolved Swift package, and the system's libraries that the programs link.

usage: scripts/sbom.py PROGRAM... (after a build: reads .build/workspace-state.json)

The same tree, programs and system give the same bytes: the time is the commit's, the serial number a hash of the rest. Packages that only
other packages' tests use are among those resolved, and listed; what Benchmarks/ uses is not. On a system other than Debian the libraries
have no version.
"""
import datetime
import json
import os
import re
import subprocess
import sys
import urllib.parse
import uuid

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def output(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def swift_packages():
    with open(os.path.join(ROOT, ".build/workspace-state.json")) as file:
        dependencies = json.load(file)["object"]["dependencies"]
    pinned = dict(line.split() for line in open(os.path.join(ROOT, "versions.txt")))
    for dependency in sorted(dependencies, key=lambda item: item["packageRef"]["identity"]):
        identity = dependency["packageRef"]["identity"]
        location = dependency["packageRef"]["location"].removesuffix(".git").removeprefix("https://")
        version = dependency["state"]["checkoutState"].get("version", "")
        if pinned.get(identity) != version:
            sys.exit(f"{identity} is resolved to {version}, and versions.txt has {pinned.get(identity)}: run scripts/check-versions.sh")
        purl = f"pkg:swift/{location}@{version}"
        yield {
            "type": "library",
            "bom-ref": purl,
            "name": identity,
            "version": version,
            "purl": purl,
            "externalReferences": [{"type": "vcs", "url": f"https://{location}"}],
        }


def linked_files(program):
    """The files of the libraries that a program names itself, not those that its libraries name."""
    names = set(re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", program)))
    for line in output("ldd", program).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match and match[1] in names:
            yield match[2]


def system_libraries(programs):
    system = dict(line.split("=", 1) for line in open("/etc/os-release").read().splitlines() if "=" in line) if os.path.exists(
        "/etc/os-release"
    ) else {}
    distribution = system.get("ID", "").strip('"')
    seen = {}
    for program in programs:
        for file in linked_files(program):
            real = os.path.realpath(file)
            owner = output("dpkg-query", "-S", real) or output("dpkg-query", "-S", file)
            # What belongs to the compiler is linked statically in a release, and listed with it.
            if "/swift/" in real:
                continue
            name = owner.split(":")[0] if owner else os.path.basename(file)
            version = output("dpkg-query", "-W", "-f", "${Version}", owner.rsplit(":", 1)[0]) if owner else ""
            seen[name] = version
    for name, version in sorted(seen.items()):
        purl = f"pkg:deb/{distribution}/{name}" + (f"@{urllib.parse.quote(version, safe='.-~')}" if version else "")
        yield {"type": "library", "bom-ref": purl, "name": name, **({"version": version} if version else {}), "purl": purl}


def main(programs):
    missing = [program for program in programs if not os.path.exists(program)]
    if not programs or missing:
        sys.exit(f"{missing[0]}: there is no such program" if missing else __doc__)
    version = output(programs[0], "--version")
    compiler = re.search(r"Swift version (\S+)", output("swift", "--version"))
    components = [
        {"type": "framework", "bom-ref": "swift", "name": "swift", "version": compiler[1] if compiler else "unknown"},
        *swift_packages(),
        *system_libraries(programs),
    ]
    seconds = int(output("git", "log", "-1", "--format=%ct") or os.environ.get("SOURCE_DATE_EPOCH", "0"))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": "pushwatch", "name": "pushwatch", "version": version},
        },
        "components": components,
        "dependencies": [{"ref": "pushwatch", "dependsOn": [component["bom-ref"] for component in components]}],
    }
    document["serialNumber"] = "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True)))
    json.dump(document, sys.stdout, indent=2, sort_keys=True)
    print()


main(sys.argv[1:])
