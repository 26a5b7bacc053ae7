"""Provokes every error that docs/openapi.yaml documents, on every operation that documents it."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

METHODS = ("get", "put", "post", "delete")
# Values of path parameters that nothing has, in the form they must have; the attributes type exists.
NOBODY = {
    "alerts": "00000000-0000-4000-8000-000000000000",
    "silences": "00000000-0000-4000-8000-000000000000",
    "acceptances": "00000000-0000-4000-8000-000000000000",
    "circuitId": "999999",
    "limiterId": "999999",
    "attributesType": "PagerActivityAttributes",
    "type": "FootballActivityAttributes",
}


class Operation:
    def __init__(self, method, path, item, operation):
        self.method, self.path = method.upper(), path
        self.statuses = set(operation["responses"])
        self.schemes = [next(iter(scheme), None) for scheme in operation.get("security", [])]
        content = operation.get("requestBody", {}).get("content", {})
        self.media = next(iter(content), None)

    def target(self, **values):
        path = self.path
        family = path.split("/")[1] if not path.startswith("/oncall") else "alerts"
        for name in [part[1:-1] for part in path.split("/") if part.startswith("{")]:
            path = path.replace("{" + name + "}", values.get(name) or NOBODY.get(name) or NOBODY.get(family, "nobody"))
        return path


def operations(document):
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield Operation(method, path, item, item[method])


class Caller:
    """Requests as bytes, so that what no client library would send can be sent."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.address = (parts.hostname, parts.port)

    def call(self, method, target, headers=None, body=b"", length=None, timeout=60):
        """The status. `length`: what Content-Length says, where that is not the body's."""
        fields = {"Host": "localhost", "Connection": "close", "Accept": "application/json", **(headers or {})}
        if body or length or method in ("POST", "PUT"):
            fields["Content-Length"] = str(len(body) if length is None else length)
        head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
        with socket.create_connection(self.address, timeout=timeout) as connection:
            connection.sendall(head.encode() + body)
            answer = b""
            while b"\r\n" not in answer:
                piece = connection.recv(4096)
                if not piece:
                    break
                answer += piece
        return answer.split(b" ", 2)[1].decode() if answer.startswith(b"HTTP/1.1 ") else "none"


class Errors:
    def __init__(self, document, installation):
        self.all = list(operations(document))
        self.caller = Caller(installation.url)
        self.bearers = {"apiKey": installation.key, "appUser": installation.user}
        self.session = installation.session
        self.further_user = installation.further_user
        # Keys that may do next to nothing, or nearly never.
        self.weak = installation.command("keys", "create", "--name", "weak", "--scope", "attempts:read").strip()
        self.weaker = installation.command("keys", "create", "--name", "weaker", "--scope", "sends:read").strip()
        scopes = ["attempts:write", "attempts:read", "sends:write", "sends:read", "alerts:write", "alerts:read", "matches:write", "metrics:read"]
        self.poor = installation.command("keys", "create", "--name", "poor", "--quota-per-minute", "1", *[w for s in scopes for w in ("--scope", s)]).strip()
        self.reached = set()

    def authorization(self, operation):
        for scheme in operation.schemes:
            if scheme in self.bearers:
                return {"Authorization": f"Bearer {self.bearers[scheme]}"}
        if "session" in operation.schemes:
            return {"Cookie": f"pushwatch_session={self.session}", "Sec-Fetch-Site": "same-origin"}
        return {"Sec-Fetch-Site": "same-origin"}

    def attempt(self, operation, **request):
        status = self.caller.call(operation.method, request.pop("target", None) or operation.target(), **request)
        self.reached.add((operation.method, operation.path, status))

    def typed(self, operation):
        return {**self.authorization(operation), "Content-Type": operation.media or "application/json"}

    def systematic(self):
        """What every operation of a kind answers, whatever it is about."""
        slow = []
        for operation in self.all:
            known, typed = self.authorization(operation), self.typed(operation)
            if "401" in operation.statuses:
                self.attempt(operation)
                self.attempt(operation, headers={"Authorization": "Bearer pw_nobody_nothing"})
            if "403" in operation.statuses:
                for key in (self.weak, self.weaker):
                    self.attempt(operation, headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"}, body=b"{}")
                self.attempt(operation, headers={"Cookie": f"pushwatch_session={self.session}", "Sec-Fetch-Site": "cross-site"})
                self.attempt(operation, headers={"Sec-Fetch-Site": "cross-site"})
            if "404" in operation.statuses:
                self.attempt(operation, headers=typed, body=b"" if operation.method in ("GET", "DELETE") and not operation.media else b"{}")
            if "429" in operation.statuses and "apiKey" in operation.schemes:
                for _ in range(2):
                    self.attempt(operation, headers={"Authorization": f"Bearer {self.poor}"})
            if operation.media:
                self.attempt(operation, headers=typed, body=b"{")
                self.attempt(operation, headers=typed, body=b'{"nonsense":1}')
                self.attempt(operation, headers={**known, "Content-Type": "text/plain"}, body=b"{}")
                self.attempt(operation, headers=typed, length=17 << 20, body=b"{")
                if "408" in operation.statuses:
                    slow.append(operation)
            elif "400" in operation.statuses:
                for query in ("limit=none", "since=yesterday", "state=none", "provider=none", "nonsense=1"):
                    self.attempt(operation, target=f"{operation.target()}?{query}", headers=known)
        with ThreadPoolExecutor(len(slow) + 20 + len(self.all)) as pool:
            dripping = [pool.submit(self.drip, operation, number) for number, operation in enumerate(slow)]
            crowding = self.crowd(pool)
            for call in dripping + crowding:
                call.result()

    def drip(self, operation, number):
        """A body that never ends. Each app user sends one: of more than a few, some would have to wait."""
        headers = self.typed(operation)
        if "appUser" in operation.schemes and "apiKey" not in operation.schemes:
            headers["Authorization"] = f"Bearer {self.further_user(f'slow {number}')}"
        self.attempt(operation, headers=headers, length=100, body=b"{")

    def crowd(self, pool):
        """More of one app user than are answered at a time, or may wait; then every operation of theirs."""
        bearer = {"Authorization": f"Bearer {self.further_user('greedy')}"}
        register = self.operation("POST /devices")
        slow = [pool.submit(self.attempt, register, headers={**self.typed(register), **bearer}, length=100, body=b"{") for _ in range(20)]
        while self.caller.call(register.method, register.target(), headers={**self.typed(register), **bearer}, body=b"{}") != "429":
            pass
        # Together: one that finds a place to wait in is refused five seconds later.
        return slow + [
            pool.submit(self.attempt, operation, headers={**self.typed(operation), **bearer}, body=b"")
            for operation in self.all
            if "429" in operation.statuses and "appUser" in operation.schemes
        ]

    def unavailable(self, url, bearer=None):
        """At a server whose database is away; with a credential of its own where that has to be looked up."""
        caller = Caller(url)
        for operation in self.all:
            known = self.authorization(operation)
            if bearer and "Authorization" in known:
                known = {"Authorization": f"Bearer {bearer}"}
            form = b"key=pw_nobody_nothing" if operation.path == "/sign-in" else b""
            status = caller.call(operation.method, operation.target(), headers={**self.typed(operation), **known}, body=form)
            self.reached.add((operation.method, operation.path, status))

    def operation(self, name):
        return next(o for o in self.all if f"{o.method} {o.path}" == name)

    def send(self, name, value=None, target=None, headers=None):
        """One request of a story: the operation by method and path, with a value as its body or a form as bytes."""
        operation = self.operation(name)
        body = b"" if value is None else value if isinstance(value, bytes) else json.dumps(value).encode()
        self.attempt(operation, target=target, headers=headers or self.typed(operation), body=body)
