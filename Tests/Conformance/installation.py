"""`pushwatch-dev up --empty` in a directory of its own, and what it prints."""

import base64
import json
import os
import re
import signal
import subprocess
import time
import urllib.request


class Installation:
    def __init__(self, programs, directory):
        self.programs = programs
        self.directory = directory
        self.log_path = f"{directory}/up.log"
        self.log_file = open(self.log_path, "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [f"{programs}/pushwatch-dev", "up", "--empty", "--port", "0", "--state", f"{directory}/state"], stdout=self.log_file, stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + 180
        while "Ctrl-C stops everything" not in self.log():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"pushwatch-dev up did not become ready:\n{self.log()}")
            time.sleep(0.2)
        said = self.log()
        self.url = self.find(r"ready at (\S+)", said)
        self.key = self.find(r"API key\s+(pw_\S+)", said)
        self.user = self.find(r"user token\s+(ey\S+)", said)
        self.database = self.find(r"psql '([^']+)'", said)
        with urllib.request.urlopen(self.find(r"sign in\s+(\S+)", said)) as answer:
            self.session = self.find(r"pushwatch_session=([^;]+)", answer.headers["Set-Cookie"])

    @staticmethod
    def find(pattern, text):
        found = re.search(pattern, text)
        if not found:
            raise SystemExit(f"pushwatch-dev up did not print {pattern}:\n{text}")
        return found[1]

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()

    def command(self, *words):
        """The output of a command that works on this installation's database."""
        environment = {"PATH": "/usr/bin:/bin", "PUSHWATCH_DATABASE_URL": self.database}
        done = subprocess.run([f"{self.programs}/pushwatch", *words], env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    def further_user(self, name):
        """A token of another app user, signed as the installation signs its own."""

        def encoded(data):
            return base64.urlsafe_b64encode(data).rstrip(b"=")

        payload = self.user.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        header = self.user.split(".", 1)[0].encode()
        text = header + b"." + encoded(json.dumps({**claims, "sub": name}).encode())
        words = ["openssl", "dgst", "-sha256", "-sign", f"{self.directory}/state/demo-issuer.pem"]
        der = subprocess.run(words, input=text, capture_output=True, check=True).stdout
        # A sequence of two integers, which JWS has in 32 bytes each (RFC 7518 section 3.4).
        first = der[4 : 4 + der[3]]
        second = der[6 + der[3] :]
        signature = b"".join(int.from_bytes(number, "big").to_bytes(32, "big") for number in (first, second))
        return (text + b"." + encoded(signature)).decode()

    def sql(self, text):
        subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", self.database, "-c", text], check=True)

    def crash_database(self):
        """As when its machine loses power."""
        directory = subprocess.run(["psql", "-At", self.database, "-c", "SHOW data_directory"], capture_output=True, text=True, check=True).stdout.strip()
        with open(f"{directory}/postmaster.pid", encoding="utf-8") as file:
            os.kill(int(file.readline()), signal.SIGQUIT)
        while subprocess.run(["psql", "-At", self.database, "-c", "SELECT 1"], capture_output=True, check=False).returncode == 0:
            time.sleep(0.1)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
