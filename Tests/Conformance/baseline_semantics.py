"""docs/alert-semantics.md, `baseline/2`, written from the document alone.

Reads one case a line: {"strata": [{"family", "slots": [[attempts, bad], ...]}, ...]}; the attempts of a slot are those of its first
minute, and strata that differ in `appMajor` alone are of one family. Optional are "excluded", [hours], and "accepted", {"slot",
"shares": [one for each stratum or null]}. Writes one line for each: its transitions, [kind, level, slot].
"""

import json
import math
import sys

from baseline_reference import (
    ABOVE, ALPHA, DAY, HOUR, MIN_BAD, MINIMUM, RUNGS, SLOT, Reference, Stratum, add, exceeds, poisson_at_most, tail
)


class Alert:
    def __init__(self, level, t, f=0.0, frozen=None):
        self.level, self.fired, self.open_since, self.T, self.f, self.frozen = level, t, t, t, f, frozen
        self.window = 0  # of the evidence by which it fired or was reopened at `open_since`

    @property
    def covers(self):
        """Its hours are excluded from training."""
        return self.level in ("reference", "unusual_volume")


class Baseline:
    def __init__(self, case):
        self.excluded = set(case.get("excluded") or [])
        self.strata = [Stratum(s["family"], s["slots"]) for s in case["strata"]]
        self.total = self.strata[0].total
        self.all = Stratum("", [[sum(counts) for counts in zip(*slot)] for slot in zip(*(s["slots"] for s in case["strata"]))])
        self.accepted = case.get("accepted")
        self.touched, self.unusual = set(), set()  # hours that are excluded from training; hours of tickets of unusual volume
        self.training_from, self.consumed, self.surge_end = 0, -10**9, -10**9
        self.alert, self.closed = None, None  # closed: (weakly at, the alert)
        self.new_normal_at, self.references, self.changes, self.events = None, {}, 0, []

    # Training hours

    def is_training(self, hour):
        if hour in self.touched or hour in self.excluded:
            return False
        day = hour // 24 * 24
        return hour not in self.unusual or sum(1 for h in range(day, day + 24) if h in self.unusual) >= 12

    def day(self, i, day, t):
        n, x = add(self.strata[i].hour(hour) for hour in range(day * 24, day * 24 + 24) if self.is_training(hour))
        if self.is_accepted(t) and day <= self.accepted["slot"] * SLOT // DAY and self.accepted["shares"][i] is not None:
            x = n * self.accepted["shares"][i]
        return n, x

    def is_accepted(self, t):
        return self.accepted is not None and self.accepted["slot"] * SLOT <= t

    def touch(self, begin, end):
        hours = self.unusual if self.alert.level == "unusual_volume" else self.touched
        added = set(range(max(begin, 0) // HOUR, end // HOUR + 1)) - hours
        hours |= added
        self.changes += len(added)

    def reference(self, D, t):
        key = (D, self.changes, self.training_from, self.is_accepted(t))
        if key not in self.references:
            self.references[key] = Reference(self, D, t)
        return self.references[key]

    # Windows

    def sum(self, t, k):
        return self.all.sum(t, k)

    def observed(self, reference, t, k):
        """O, n, E and cells over the strata that are not new."""
        O, E, attempts = 0, 0.0, {}
        for i, cell in reference.cell_of.items():
            n, x = self.strata[i].sum(t, k)
            O += x
            attempts[cell] = attempts.get(cell, 0) + n
        E = sum(n * reference.share(reference.cells[cell]) for cell, n in attempts.items())
        return O, sum(attempts.values()), E, [(n, *reference.cells[cell]) for cell, n in attempts.items()]

    def surge(self, reference, t):
        if not reference.ready:
            return False
        busiest = reference.busiest_hour
        return (
            self.sum(t, 60)[0] > 3 * busiest or 4 * self.sum(t, 15)[0] > 3 * busiest or self.sum(t, DAY)[0] > 2 * reference.largest_day
        )

    def rise(self, reference, t, surge):
        """(window, O/n), or nothing."""
        if not reference.ready:
            return None
        start = self.consumed
        if self.alert and self.alert.level == "unusual_volume" and not surge:
            start = max(start, self.surge_end)
        for w, chance in RUNGS:
            k = min(w, t - start)
            if k <= 0:
                return None
            if self.sum(t, k)[1] < MIN_BAD:
                continue
            O, n, E, cells = self.observed(reference, t, k)
            if O < MIN_BAD or not exceeds(O, ABOVE, E) or tail(O, chance, cells) >= ALPHA:
                continue
            if w > 60 and not all(self.is_bad(reference, t, min(j, t - start)) for j in (60, max(60, w // 4))):
                continue
            if self.is_burst(reference, t, k, O, E):
                continue
            return k, O / n
        return None

    def is_bad(self, reference, t, j):
        O, _, E, _ = self.observed(reference, t, j)
        return O >= 2 and exceeds(O, ABOVE, E)

    def is_burst(self, reference, t, k, O, E):
        slots = [self.observed(reference, t - back, min(SLOT, k - back)) for back in range(0, k, SLOT)]
        worst = sorted(range(len(slots)), key=lambda i: (-slots[i][0], i))[:2]
        return not exceeds(O - sum(slots[i][0] for i in worst), ABOVE, max(0.0, E - sum(slots[i][2] for i in worst)))

    # States

    def emit(self, kind, level, t):
        self.events.append([kind, level, t // SLOT])

    def fire(self, level, t, k=0, f=0.0, frozen=None):
        self.alert, self.closed = Alert(level, t, f, frozen), None
        self.alert.window = k
        if level == "new_normal":
            self.new_normal_at = t
        self.emit("fired", level, t)

    def resolve(self, t, kind="resolved", weak=False, replaced=False):
        self.emit(kind, self.alert.level, t)
        if self.alert.covers and not replaced:
            self.consumed = t
        self.closed = (t, self.alert) if weak else None
        self.alert = None

    def decide(self, t):
        if self.is_accepted(t) and self.alert and self.alert.fired < self.accepted["slot"] * SLOT:
            self.resolve(t, "accepted")
        is_daily = t % DAY == HOUR + SLOT - 1
        if not (is_daily and self.relearn(t)):
            self.decide_by(self.reference((t - HOUR) // DAY - 1, t), t, is_daily)
        if self.alert and self.alert.covers:
            self.leave_behind(t)

    def decide_by(self, reference, t, is_daily):
        surge = self.surge(reference, t)
        rise = self.rise(reference, t, surge)
        if rise:
            self.risen(reference, t, surge, *rise)
        elif self.alert:
            self.close(reference, t)
        else:
            n, x = self.learning_counts(reference, t)
            if x >= 50 and 10 * x > n and exceeds(x, ABOVE, self.accepted_bad(t)):
                self.fire("learning", t)
            elif is_daily:
                self.look_for_new_normal(reference, t)

    def leave_behind(self, t):
        """At the end of a slot with an alert."""
        if self.alert.open_since == t:
            self.touch(t - self.alert.window + 1, t)
        self.touch(t - SLOT + 1, t)
        reference = self.reference((t - HOUR) // DAY - 1, t)
        if self.alert.level == "unusual_volume" and reference.ready:
            if self.surge(reference, t):
                self.surge_end = t
            present = reference.shares()
            self.alert.frozen = {i: max(share, present.get(i, 0.0)) for i, share in self.alert.frozen.items()}

    def risen(self, reference, t, surge, k, f):
        level = "unusual_volume" if surge else "reference"
        if self.alert is None and self.closed and self.reopens(level, t, f):
            self.alert, self.closed = self.closed[1], None
            self.alert.open_since, self.alert.window = t, k
            self.emit("reopened", self.alert.level, t)
        elif self.alert is None:
            self.fire(level, t, k, f, reference.shares())
        elif self.alert.level in ("learning", "new_normal") or (self.alert.level == "unusual_volume" and not surge):
            self.resolve(t, replaced=True)
            self.fire(level, t, k, f, reference.shares())
        self.alert.T = t

    def reopens(self, level, t, f):
        at, alert = self.closed
        return t - at < DAY and f <= 2 * alert.f and not (alert.level == "unusual_volume" and level == "reference")

    def close(self, reference, t):
        alert = self.alert
        if alert.level == "new_normal":
            if t - alert.fired >= DAY:
                self.resolve(t)
            return
        if alert.level == "learning":
            n, x = self.learning_counts(reference, t)
            if n >= 10 * MIN_BAD and 100 * x <= 8 * n or n == 0 and self.sum(t, 60)[0] > 0:
                self.resolve(t)
            return
        p = alert.frozen
        for w, _ in RUNGS:
            began_after = t - w + 1 > alert.T
            if w > 60 and not began_after:
                continue
            counts = {i: self.strata[i].sum(t, w) for i in p}
            n, O = add(counts.values())
            E = sum(counts[i][0] * p[i] for i in p)
            if n < 30:
                continue
            if exceeds(O, 1, max(2 * E, 1)):
                return
            if poisson_at_most(max(n * alert.f, ABOVE * E), O) <= 1e-4:
                self.resolve(t)
                return
            if began_after:
                self.resolve(t, weak=True)
                return

    def learning_counts(self, reference, t):
        strata = [s for i, s in enumerate(self.strata) if not reference.ready or i not in reference.cell_of]
        return add(s.sum(t, 60) for s in strata)

    def accepted_bad(self, t):
        shares = self.accepted["shares"] if self.is_accepted(t) else []
        return sum(s.sum(t, 60)[0] * share for s, share in zip(self.strata, shares) if share is not None)

    def relearn(self, t):
        D = t // DAY - 1
        if not self.alert or not self.alert.covers or self.alert.open_since >= (D - 6) * DAY:
            return False
        days = [self.not_excluded(day) for day in range(D - 6, D + 1)]
        n, x = add(days)
        s = x / n if n else 0.0
        for n, x in days:
            if n < 50 or abs(x - n * s) > max(n * s / 2, 3.3 * math.sqrt(n * s)):
                return False
        self.resolve(t, "relearned")
        for hours in (self.touched, self.unusual):
            hours -= {hour for hour in hours if hour >= (D - 6) * 24}
        self.training_from, self.changes = D - 6, self.changes + 1
        self.fire("new_normal", t)
        return True

    def not_excluded(self, day):
        return add(self.all.hour(hour) for hour in range(day * 24, day * 24 + 24) if hour not in self.excluded)

    def look_for_new_normal(self, reference, t):
        if not reference.ready or (self.new_normal_at is not None and t - self.new_normal_at < 14 * DAY):
            return
        if max(reference.group[0], MINIMUM * reference.group[1]) < 20:
            return
        D = t // DAY - 1
        earlier = [self.reference(day, t) for day in range(D - 13, D)]
        shares = [r.p for r in earlier if r.ready and max(r.group[0], MINIMUM * r.group[1]) >= 20]
        if shares and exceeds(reference.p, 2, min(shares)):
            self.fire("new_normal", t)

    def story(self):
        for slot in range(self.total):
            if self.accepted and self.accepted["slot"] == slot:
                self.decide(slot * SLOT)
            self.decide(slot * SLOT + SLOT - 1)
        return self.events


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(Baseline(json.loads(line)).story()))
