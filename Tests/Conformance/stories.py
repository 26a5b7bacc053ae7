"""Errors that need something to have happened before."""

import json
from datetime import datetime, timedelta, timezone

FORM = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}
EPISODE = "11111111-1111-4111-8111-111111111111"


def tell(errors, installation):
    attempts(errors)
    sends(errors)
    audiences(errors, installation)
    devices(errors)
    activities(errors)
    subjects(errors)
    matches(errors)
    alerts(errors, installation)
    pages(errors)


def moment(**ago):
    return (datetime.now(timezone.utc) - timedelta(**ago)).strftime("%FT%TZ")


def attempts(errors):
    attempt = {
        "attemptId": "story-1", "uid": "one", "platform": "ios", "provider": "apns", "tokenHash": "sha256:" + "a" * 64, "eventType": "send",
        "status": "sent", "attemptedAt": moment(), "requestId": "story",
    }
    errors.send("POST /attempts", attempt)
    errors.send("POST /attempts", {**attempt, "uid": "another"})
    errors.send("POST /attempts", [])


def sends(errors):
    send = {"sendId": "story-1", "token": "5a" * 32, "provider": "apns", "app": "com.example.scores", "environment": "sandbox", "title": "One"}
    errors.send("POST /sends", send)
    errors.send("POST /sends", {**send, "title": "Another"})
    errors.send("GET /sends/outcomes", target="/sends/outcomes?after=999999999999999999-1")
    errors.send("DELETE /audiences/{audienceId}/members", {"uids": ["one"]})


def audiences(errors, installation):
    members = {"uids": ["one", "two"]}
    errors.send("PUT /audiences/{audienceId}", members, target="/audiences/story")
    # Of a send that nobody stores, as it is not there.
    installation.sql("""
        INSERT INTO pushFanOuts (sendId, audienceId, providers, platforms, environments, apps, devices, acceptedAs)
        VALUES ('story', 'story', '{}', '{}', '{}', '{}', 1, 0)
        """)
    errors.send("PUT /audiences/{audienceId}", members, target="/audiences/story")
    errors.send("DELETE /audiences/{audienceId}/members", members, target="/audiences/story/members")
    errors.send("DELETE /audiences/{audienceId}", target="/audiences/story")
    installation.sql("DELETE FROM pushFanOuts WHERE sendId = 'story'")


def devices(errors):
    start = {"pushToStartToken": "5b" * 40, "osVersion": "18.0"}
    errors.send("POST /devices/push-to-start-token", {**start, "deviceId": "nobody"})
    alias = {"liveActivityToken": "5b" * 40, "osVersion": "18.0"}
    for name in ("PUT /api/users/live-activity-token", "POST /api/users/live-activity-token"):
        errors.send(name, {**alias, "deviceId": "nobody"})
    for number in (1, 2):
        device = {
            "deviceId": f"story-{number}", "pushToken": f"5{number}" * 32, "platform": "ios", "environment": "sandbox",
            "app": "com.example.scores", "osVersion": "18.0",
        }
        errors.send("POST /devices", device)
    for name in ("PUT /api/users/live-activity-token", "POST /api/users/live-activity-token"):
        errors.send(name, alias)
    errors.send("POST /devices/push-to-start-token", {**start, "deviceId": "story-1"})
    errors.send("DELETE /devices/{deviceId}", headers={"Authorization": "Bearer pwd_" + "A" * 43})


def activities(errors):
    pager = "/live-activities/PagerActivityAttributes/"
    state = {"sender": "Desk", "message": "Hello", "timestamp": 1, "isDemo": True, "messageIndex": 0, "totalMessages": 1}
    start = {
        "activityId": "story", "deviceId": "story-1", "attributes": {"recipient": "One"}, "contentState": state,
        "alert": {"title": "One", "body": "Two"},
    }
    for verb in ("start", "update", "end"):
        errors.send("POST /live-activities/{attributesType}/" + verb, start, target=f"/live-activities/Nothing/{verb}")
    errors.send("POST /live-activities/{attributesType}/start", start, target=pager + "start")
    errors.send("POST /live-activities/{attributesType}/start", {**start, "attributes": {"recipient": "Two"}}, target=pager + "start")
    token = {"activityId": "story", "updateToken": "5c" * 40}
    name = "POST /live-activities/{attributesType}/activity-token"
    errors.send(name, {**token, "deviceId": "nobody"})
    errors.send(name, {**token, "activityId": "another", "deviceId": "story-1"})
    dismissed = {"activityId": "story", "deviceId": "story-1"}
    errors.send("POST /live-activities/{attributesType}/activity-dismissed", dismissed, target=pager + "activity-dismissed")
    errors.send("POST /live-activities/{attributesType}/update", {"activityId": "story", "contentState": state}, target=pager + "update")
    name = "POST /matches/{matchId}/activity-token"
    errors.send(name, {"updateToken": "5c" * 40, "deviceId": "nobody"})
    errors.send(name, {"updateToken": "5c" * 40, "deviceId": "story-1"})


def subjects(errors):
    put = {
        "attributes": {"home": "One", "away": "Two"}, "startAlert": {"title": "One", "body": "Two"},
        "contentState": {"phase": "firstHalf", "minute": 1, "homeGoals": 0, "awayGoals": 0},
    }
    football = "/live/FootballActivityAttributes/story"
    for target in ("/live/Nothing/story", football):
        errors.send("PUT /live/{type}/{id}", put, target=target)
    errors.send("PUT /live/{type}/{id}", {**put, "attributes": {"home": "One", "away": "Three"}}, target=football)
    errors.send("DELETE /live/{type}/{id}", target="/live/MatchActivityAttributes/story")
    errors.send("POST /live/{type}/{id}/follow", {}, target="/live/Nothing/story/follow")
    for name, rest in (
        ("GET /live/{type}/{id}", ""), ("DELETE /live/{type}/{id}", ""), ("GET /live/{type}/{id}/followers", "/followers"),
        ("PUT /live/{type}/{id}/followers/{userId}", "/followers/one"), ("DELETE /live/{type}/{id}/followers/{userId}", "/followers/one"),
        ("DELETE /live/{type}/{id}/follow", "/follow"),
    ):
        for subject in ("/live/Nothing/story", "/live/FootballActivityAttributes/no%20id", football):
            errors.send(name, target=subject + rest)


def matches(errors):
    match = {
        "matchId": "story", "sequence": 1, "updatedAt": moment(),
        "teams": [{"name": "One", "short": "ONE"}, {"name": "Two", "short": "TWO"}],
    }
    errors.send("PUT /matches/{matchId}", {**match, "phase": "ended", "result": {"outcome": "noResult"}}, target="/matches/story")
    errors.send("PUT /matches/{matchId}", {**match, "sequence": 2, "phase": "live"}, target="/matches/story")


def alerts(errors, installation):
    minute = int(datetime.now(timezone.utc).timestamp()) // 60 - 120
    window = {"first": minute, "minutes": 15, "counts": {"attempts": 100, "bad": 20}}
    evidence = {
        "definition": "ratio/1", "level": "threshold", "threshold": {"numerator": 1, "denominator": 20}, "observed": window, "worst": window,
    }
    installation.sql(f"""
        INSERT INTO alerts (alertId, rule, ruleVersion, groupKey, groupLabels, labels, severity, state, startsAt, firedAt, endsAt,
            resolvedAt, resolvedReason, detectedLateBySeconds, evidence, contributors, reproduceSql, annotations, updatedAt)
        VALUES ('{EPISODE}', 'ProviderUnavailable', '1', 'provider=fcm', '{{"provider": "fcm"}}', '{{"alertname": "ProviderUnavailable"}}',
            'page', 'resolved', now() - interval '2 hours', now() - interval '2 hours', now() - interval '1 hour', now() - interval '1 hour',
            'recovered', 0, '{json.dumps(evidence)}', '[]', 'SELECT 1', '{{"summary": "fcm fails"}}', now())
        """)
    errors.send("POST /alerts/{id}/acknowledge", target=f"/alerts/{EPISODE}/acknowledge")
    # An alert without a baseline has nothing to learn anew.
    errors.send("POST /alerts/{id}/accept", {"reason": "story"})
    errors.send("POST /alerts/{id}/accept", {"reason": "story"}, target=f"/alerts/{EPISODE}/accept")
    errors.send("GET /oncall/alerts/{id}/accept", target=f"/oncall/alerts/{EPISODE}/accept")
    errors.send("POST /oncall/alerts/{id}/accept", b"reason=story", target=f"/oncall/alerts/{EPISODE}/accept")
    silence = "POST /oncall/alerts/{id}/silence"
    page = f"/oncall/alerts/{EPISODE}/silence"
    errors.send(silence, b"minutes=31&reason=story", target=page)
    errors.send(silence, b"{}", target=page, headers={**errors.typed(errors.operation(silence)), "Content-Type": "text/plain"})
    for length in (17 << 20, 100):
        errors.attempt(errors.operation(silence), target=page, headers=errors.typed(errors.operation(silence)), length=length, body=b"m")


def pages(errors):
    errors.send("POST /sign-in", b"key=pw_nobody_nothing", headers=FORM)
    # The key is right; who it is stays open.
    errors.send("POST /sign-in", f"key={errors.bearers['apiKey']}".encode(), headers=FORM)
    errors.send("POST /oncall/sessions/{id}/end", b"")
    errors.send("GET /sign-in", target="/sign-in?ticket=nobody")
    errors.send("POST /sign-in", b"{}", headers={**FORM, "Content-Type": "application/json"})
    errors.send("POST /oncall/alerts/{id}/acknowledge", b"back=%2F")
    errors.send("POST /oncall/alerts/{id}/silence", b"minutes=30&reason=story")
    errors.send("POST /oncall/alerts/{id}/accept", b"reason=story")
    errors.send("POST /oncall/alerts/{id}/mark", b"verdict=real")
    errors.send("POST /search", b"q=nobody-of-this-name")
    errors.send("POST /oncall/zone", b"zone=Nowhere%2FCity")
    errors.send("POST /oncall/zone", b"zone=Europe%2FBerlin")
