"""baseline/2 as docs/alert-semantics.md defines it, for a group of one stratum, written from that document alone.

Reads one JSON object a line from standard input: the slots of five minutes from a midnight on, as [attempts, bad]. Prints one JSON array a line:
what happens, as [kind, level, slot that decided]. BaselineSemanticsTests compares that with the evaluator.
"""

import json
import math
import sys

RUNGS = [(60, 2.3), (120, 2.3), (240, 2.0), (480, 1.7), (1440, 1.5)]
ABOVE, ALPHA, MIN_BAD, FLOOR = 3, 3e-4, 8, 1e-4
DAY = 288


def beta(x, a, b):
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x >= (a + 1) / (a + b + 2):
        return 1 - beta(1 - x, b, a) if 1 - x < (b + 1) / (a + b + 2) else 0.5
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(1 - x))
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    f = d
    for m in range(1, 10000):
        step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / (1 + step * d), 1 + step / c
        f *= c * d
        step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / (1 + step * d), 1 + step / c
        f *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * f / a


def tail(o, n, r, b, total):
    return 1.0 if o == 0 else beta(r * n / (total + r * n), o, max(b, FLOOR * total) + 1)


def poisson_at_most(o, mean):
    return math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(o + 1)) if mean > 0 else 1.0


def above(o, m, e):
    return o > m * e * (1 + 1e-9)


class Baseline:
    def __init__(self, slots):
        self.n, self.x = [0], [0]
        for attempts, bad in slots:
            self.n.append(self.n[-1] + attempts)
            self.x.append(self.x[-1] + bad)
        self.pages, self.surges = set(), set()  # hours that an alert touched
        self.teach_from = self.consumed = self.surge_end = self.announced = None
        self.cache = {}

    def sum(self, t, minutes):
        """Of the slots up to t, both ends included."""
        a, b = min(t + 1, len(self.n) - 1), max(0, t + 1 - minutes // 5)
        return self.n[a] - self.n[b], self.x[a] - self.x[b]

    def hour(self, hour):
        return self.sum(12 * hour + 11, 60)

    def day(self, day):
        surge = [h for h in range(24 * day, 24 * day + 24) if h in self.surges]
        silent = set() if len(surge) >= 12 else set(surge)
        hours = [self.hour(h) for h in range(24 * day, 24 * day + 24) if h not in self.pages and h not in silent]
        return sum(n for n, _ in hours), sum(x for _, x in hours), max([n for n, _ in hours], default=0)

    def reference(self, last):
        key = (last, self.teach_from, len(self.pages), len(self.surges))
        if key not in self.cache:
            self.cache[key] = self.compute(last)
        return self.cache[key]

    def compute(self, last):
        listed, newest = [], last
        for day in range(last, max(last - 28, -1), -1):
            if self.teach_from is not None and day < self.teach_from:
                break
            n, x, busiest = self.day(day)
            if n < 50:
                continue
            if newest - day > 14:
                break
            listed.append((n, x, busiest))
            newest = day
        days = listed[:7]
        if not days:
            return None
        every = sum(n for n, _, _ in days)
        kept = list(days)
        for _ in range(3):
            if len(kept) < 2:
                break
            worst = max(range(len(kept)), key=lambda i: (kept[i][1] / kept[i][0], -i))
            others = kept[:worst] + kept[worst + 1:]
            n, x, _ = kept[worst]
            total, bad = sum(d[0] for d in others), sum(d[1] for d in others)
            share = max(bad / total, FLOOR)
            if 3 * (every - total) > every or x < MIN_BAD or not above(x, ABOVE, n * share):
                break
            if not tail(x, n, 2.3, bad, total) < ALPHA:
                break
            kept = others
        total, bad = sum(d[0] for d in kept), sum(d[1] for d in kept)
        if len(listed) < 14:
            n, x = sum(d[0] for d in days[:2]), sum(d[1] for d in days[:2])
            if x / n > bad / total:
                total, bad = n, x
        return {
            "N": total, "B": max(bad, FLOOR * total), "p": max(bad / total, FLOOR),
            "ready": len(days) == 7 and every >= 700,
            "hour": max(d[2] for d in days), "day": max(d[0] for d in days),
        }

    def surge(self, t, ref):
        return (self.sum(t, 60)[0] > 3 * ref["hour"] or 4 * self.sum(t, 15)[0] > 3 * ref["hour"]
                or self.sum(t, 1440)[0] > 2 * ref["day"])

    def rise(self, t, ref, since):
        reach = 10 ** 9 if since is None else (t - since) * 5
        for w, chance in RUNGS:
            k = min(w, reach)
            n, o = self.sum(t, k)
            if o < MIN_BAD or not above(o, ABOVE, n * ref["p"]):
                continue
            if not tail(o, n, chance, ref["B"], ref["N"]) < ALPHA:
                continue
            newest = [self.sum(t, min(j, reach)) for j in (60, max(60, w // 4))] if w > 60 else []
            if any(b < 2 or not above(b, ABOVE, a * ref["p"]) for a, b in newest):
                continue
            slots = [self.sum(t - i, 5) for i in range(k // 5)]
            for _ in range(2):
                if slots:
                    slots.remove(max(slots, key=lambda s: s[1]))
            if above(sum(s[1] for s in slots), ABOVE, sum(s[0] for s in slots) * ref["p"]):
                return n, o, k
        return None

    def story(self):
        events = []
        alert, closed = None, None

        def fire(level, t, share, p):
            nonlocal alert, closed
            alert, closed = {"level": level, "T": t, "f": share, "p": p, "since": t}, None
            events.append(["fired", level, t])

        def end(reason, t):
            nonlocal alert
            events.append([reason, alert["level"], t])
            alert = None

        for t in range(len(self.n) - 1):
            last = (t * 5 + 4 - 60) // 1440 - 1
            ref = self.reference(last)
            ref = ref if ref and ref["ready"] else None
            was = alert
            new_day = t % DAY == 12
            touched = None
            if new_day and alert and alert["level"] in ("reference", "unusual_volume") and self.stable(alert, last):
                end("relearned", t)
                self.pages = {h for h in self.pages if h < (last - 6) * 24}
                self.surges = {h for h in self.surges if h < (last - 6) * 24}
                self.teach_from, self.consumed, self.announced = last - 6, t, t
                fire("new_normal", t, None, None)
                continue
            level = None
            if ref:
                is_surge = self.surge(t, ref)
                since = self.consumed
                if alert and alert["level"] == "unusual_volume" and not is_surge and self.surge_end is not None:
                    since = max(since if since is not None else -1, self.surge_end)
                found = self.rise(t, ref, since)
                if found:
                    n, o, k = found
                    level = "unusual_volume" if is_surge else "reference"
            if level is None and not ref and (alert is None or alert["level"] == "learning"):
                n, o = self.sum(t, 60)
                level = "learning" if o >= 50 and o * 10 > n else None
            if level is None and ref and alert is None and new_day and self.new_normal(t, last, ref):
                level = "new_normal"
            order = ["new_normal", "learning", "unusual_volume", "reference"]
            if level:
                share = o / n if level != "new_normal" else None
                if alert is None:
                    again = closed and level in ("unusual_volume", "reference") and t - closed["at"] < DAY and share <= 2 * closed["f"]
                    if again:
                        alert, closed = dict(closed, level=level, T=t, since=t), None
                        events.append(["reopened", level, t])
                    else:
                        fire(level, t, share, ref and ref["p"])
                elif order.index(level) > order.index(alert["level"]):
                    end("resolved", t)
                    fire(level, t, share, ref and ref["p"])
                else:
                    alert["T"] = t
                touched = k if level in ("unusual_volume", "reference") else None
            elif alert:
                good = self.over(alert, t, ref)
                if good:
                    if alert["level"] in ("unusual_volume", "reference"):
                        self.consumed, self.surge_end = t, None
                        closed = dict(alert, at=t) if good == "weak" else None
                    end("resolved", t)
            if alert and alert["level"] in ("unusual_volume", "reference"):
                hours = self.surges if alert["level"] == "unusual_volume" else self.pages
                new = alert is not was
                first = t - (touched // 5 - 1) if new and touched else t
                hours.update(range(first * 5 // 60, t * 5 // 60 + 1))
                if alert["level"] == "unusual_volume" and ref:
                    self.surge_end = t if self.surge(t, ref) else self.surge_end
                    alert["p"] = max(alert["p"], ref["p"])
            if alert and alert["level"] == "new_normal" and alert is not was:
                self.announced = t
        return events

    def over(self, alert, t, ref):
        if alert["level"] == "new_normal":
            return "strong" if t - alert["T"] >= DAY else None
        if alert["level"] == "learning":
            if ref:
                return "strong"
            n, o = self.sum(t, 60)
            return "strong" if n * 0.1 >= MIN_BAD and o * 100 <= 8 * n else None
        for w, _ in RUNGS:
            after = t - w // 5 + 1 > alert["T"]
            if w > 60 and not after:
                return None
            n, o = self.sum(t, w)
            if n < 30:
                continue
            if above(o, 1, max(2 * n * alert["p"], 1)):
                return None
            if poisson_at_most(o, max(n * alert["f"], 3 * n * alert["p"])) <= 1e-4:
                return "strong"
            if after:
                return "weak"
        return None

    def stable(self, alert, last):
        if alert["since"] >= (last - 6) * DAY:
            return False
        days = [self.sum(d * DAY + DAY - 1, 1440) for d in range(last - 6, last + 1)]
        s = sum(x for _, x in days) / max(1, sum(n for n, _ in days))
        return all(n >= 50 and abs(x - n * s) <= max(n * s / 2, 3.3 * math.sqrt(n * s)) for n, x in days)

    def new_normal(self, t, last, ref):
        if self.announced is not None and t - self.announced < 14 * DAY or ref["B"] < 20:
            return False
        earlier = [self.reference(d) for d in range(last - 13, last)]
        shares = [r["p"] for r in earlier if r and r["ready"] and r["B"] >= 20]
        return bool(shares) and above(ref["p"], 2, min(shares))


for line in sys.stdin:
    print(json.dumps(Baseline(json.loads(line)["slots"]).story()))
