"""A client that openapi-python-client makes of docs/openapi.yaml, unchanged: every operation comes out, and it reports attempts, sends and
reads outcomes. usage: generated_client.py PROGRAMS DOCUMENT DIRECTORY (see scripts/conformance.sh)"""

import datetime
import hashlib
import importlib
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import yaml

from installation import Installation

# NDJSON has no form in the generator; the operation comes out with its JSON body.
EXPECTED_WARNING = "Unsupported content type application/x-ndjson"


def generate(document, directory):
    program = Path(sys.executable).parent / "openapi-python-client"
    words = ["generate", "--path", str(document), "--output-path", str(directory / "pushwatch_client"), "--meta", "none"]
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}  # for the formatter that it calls
    done = subprocess.run([program, *words], env=environment, capture_output=True, text=True, check=True)
    warnings = re.findall(r"^(?:WARNING|ERROR) .*\n\n(.*)$", done.stdout + done.stderr, re.MULTILINE)
    assert set(warnings) <= {EXPECTED_WARNING}, f"the document makes the generator leave things out:\n{done.stdout}{done.stderr}"
    sys.path.insert(0, str(directory))


def operation(tag, name):
    return importlib.import_module(f"pushwatch_client.api.{tag}.{name}")


def model(name):
    return getattr(importlib.import_module("pushwatch_client.models"), name)


def expect_every_operation(described):
    """How many there are."""
    methods = {"get", "put", "post", "delete", "patch", "head"}
    operations = [item[method] for item in described["paths"].values() for method in item if method in methods]
    for described_operation in operations:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", described_operation["operationId"]).lower()
        operation(described_operation["tags"][0], name)
    return len(operations)


def report(client):
    attempts = operation("attempts", "report_attempts")
    token = "5c" * 32

    def attempt(**changes):
        values = {
            "attempt_id": f"client-{uuid.uuid4()}",
            "uid": "ann",
            "platform": model("Platform").IOS,
            "provider": model("Provider").APNS,
            "token_hash": "sha256:" + hashlib.sha256(token.encode()).hexdigest(),
            "event_type": model("EventType").SEND,
            "status": model("AttemptStatus").FAILED,
            "attempted_at": datetime.datetime.now(datetime.timezone.utc),
            "request_id": "generated-client",
            "reason_code": model("ReasonCode").TOKEN_NOT_REGISTERED,
            "provider_error_code": "Unregistered",
            **changes,
        }
        return model("AttemptReport")(**values)

    first = attempt()
    accepted = attempts.sync_detailed(client=client, body=first)
    assert accepted.status_code == 201 and accepted.parsed.result == "accepted", accepted.content
    again = attempts.sync_detailed(client=client, body=first)
    assert again.status_code == 200 and again.parsed.result == "duplicate", again.content
    batch = attempts.sync_detailed(client=client, body=[first, attempt(), attempt(request_id=f"to-{token}")])
    assert batch.status_code == 207 and isinstance(batch.parsed, model("AttemptBatchResult")), batch.content
    assert (batch.parsed.counts.accepted, batch.parsed.counts.duplicate, batch.parsed.counts.rejected) == (1, 1, 1), batch.content
    refused = attempts.sync_detailed(client=client, body=attempt(app=token))
    assert refused.status_code == 422 and refused.parsed.code == "raw_token" and refused.parsed.pointer == "/app", refused.content
    stored = operation("attempts", "get_attempt").sync(attempt_id=first.attempt_id, client=client)
    assert stored.token_hash == first.token_hash and stored.reason_code == first.reason_code


def send(client):
    sends = operation("sends", "send")
    target = {"token": "ab" * 32, "provider": model("Provider").APNS, "app": "com.example.scores", "title": "Goal"}
    request = model("SendRequest")(send_id=f"client-{uuid.uuid4()}", **target)
    shown = sends.sync(client=client, body=model("SendRequest")(validate_only=True, **target))
    assert shown.result == "valid" and shown.checks[0].request.url.endswith("/3/device/(token)"), shown
    accepted = sends.sync_detailed(client=client, body=request)
    assert accepted.status_code == 202 and accepted.parsed.deliveries == 1, accepted.content
    again = sends.sync_detailed(client=client, body=request)
    assert again.status_code == 200 and again.parsed.result == "duplicate", again.content
    return request.send_id


def outcomes(client, send_id):
    """Follows the stream to the end of the send."""
    stream = operation("sends", "get_send_outcomes")
    after, events = importlib.import_module("pushwatch_client.types").UNSET, []
    deadline = datetime.datetime.now() + datetime.timedelta(seconds=30)
    while not {"sent", "failed"} & set(events):
        assert datetime.datetime.now() < deadline, f"the stream did not tell the end of {send_id}: {events}"
        page = stream.sync(client=client, after=after, wait=5, send_id=send_id)
        events += [outcome.event for outcome in page.outcomes]
        after = page.next_
    shown = operation("sends", "get_send").sync(send_id=send_id, client=client)
    assert shown.state in ("sent", "failed") and shown.attempt_count >= 1, shown
    return events


def main():
    programs, document, directory = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    generate(document, directory)
    count = expect_every_operation(yaml.safe_load(document.read_text(encoding="utf-8")))
    installation = Installation(programs, str(directory))
    try:
        client = importlib.import_module("pushwatch_client").AuthenticatedClient(base_url=installation.url, token=installation.key, timeout=20)
        report(client)
        events = outcomes(client, send(client))
    finally:
        installation.stop()
    print(f"openapi-python-client: {count} of {count} operations; attempts reported, a send made, its outcomes read: {', '.join(map(str, events))}")


main()
