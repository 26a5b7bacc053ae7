"""`pushwatch serve` whose database is away."""

import re
import subprocess
import time


class Waiting:
    def __init__(self, program, directory):
        self.log_path = f"{directory}/waiting.log"
        keys = subprocess.run([program, "token-keys", "create"], capture_output=True, text=True, check=True).stdout
        with open(f"{directory}/token-keys", "w", encoding="utf-8") as file:
            file.write(keys)
        environment = {
            "PATH": "/usr/bin:/bin",
            # Port 9 is "discard": nobody listens.
            "PUSHWATCH_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/nothing",
            "PUSHWATCH_TOKEN_KEYS": f"{directory}/token-keys",
            "PUSHWATCH_HTTP_PORT": "0",
            "PUSHWATCH_PUBLIC_URL": "http://127.0.0.1",
            "PUSHWATCH_LOG_FORMAT": "text",
        }
        self.log_file = open(self.log_path, "w", encoding="utf-8")
        self.process = subprocess.Popen([program, "serve"], env=environment, stdout=subprocess.DEVNULL, stderr=self.log_file)

    def __enter__(self):
        deadline = time.monotonic() + 60
        while True:
            with open(self.log_path, encoding="utf-8") as log:
                said = log.read()
            found = re.search(r"listening url=(\S+)", said)
            if found:
                self.url = found[1]
                return self
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"pushwatch serve did not listen:\n{said}")
            time.sleep(0.1)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)
