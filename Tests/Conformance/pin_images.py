"""Runs scripts/pin-images.sh against a registry of its own: each tag gets its digest, a digest gets the tag's present one, --check tells them apart.

usage: pin_images.py SCRIPT DIRECTORY
"""
import http.server
import os
import subprocess
import sys
import threading

DIGESTS = {"library/swift:6.3-bookworm": "1", "library/debian:bookworm-slim": "2", "acme/tool:v1": "3"}


class Registry(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        _, _, *name, _, tag = self.path.split("/")
        digit = DIGESTS.get(f"{'/'.join(name)}:{tag}")
        self.send_response(200 if digit else 404)
        if digit:
            self.send_header("Docker-Content-Digest", "sha256:" + digit * 64)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def run(*arguments):
    done = subprocess.run(["bash", sys.argv[1], *arguments], capture_output=True, text=True, env={**os.environ, "REGISTRY": address})
    return done.returncode, done.stdout + done.stderr


server = http.server.HTTPServer(("127.0.0.1", 0), Registry)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}"
docker, compose, odd = (os.path.join(sys.argv[2], name) for name in ["Dockerfile", "compose.yaml", "odd"])
with open(docker, "w") as file:
    file.write("FROM swift:6.3-bookworm AS build\nRUN true\nFROM debian:bookworm-slim\nCOPY --from=build /a /b\n")
with open(compose, "w") as file:
    file.write(f"services:\n  a:\n    image: acme/tool:v1@sha256:{'0' * 64}\n  b:\n    image: pushwatch\n")
with open(odd, "w") as file:
    file.write("FROM nobody:1\n")

code, text = run("--check", docker, compose)
assert code == 1 and text.count("has no digest") == 2, text
code, text = run(docker, compose)
assert code == 0, text
pinned = open(docker).read()
assert f"FROM swift:6.3-bookworm@sha256:{'1' * 64} AS build\n" in pinned and f"FROM debian:bookworm-slim@sha256:{'2' * 64}\n" in pinned, pinned
assert f"image: acme/tool:v1@sha256:{'3' * 64}\n" in open(compose).read() and "image: pushwatch\n" in open(compose).read()
assert run("--check", docker, compose)[0] == 0
code, text = run(odd)
assert code != 0 and "nobody:1 cannot be found" in text and open(odd).read() == "FROM nobody:1\n", text
print("pinned")
