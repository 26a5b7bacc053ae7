"""docs/alert-semantics.md, `ratio`, written from the document alone.

Reads one case a line: {"rule": settings, "minutes": [[attempts, bad], ...], "circuits": [[[since, waiting], ...], ...]}, the last for
rules with `min_blocked`: the open circuits of each minute. Writes one line for each: its transitions, [kind, the minute that decided,
the first bad minute or the end].
"""

import json
import math
import sys

Z = {"95%": 1.6448536269514722, "99%": 2.3263478740408408, "99.9%": 3.0902323061678132, "off": 2.3263478740408408}


class Counts:
    """sum(t, k) by cumulative sums; minutes before the first are empty."""

    def __init__(self, minutes):
        self.attempts, self.bad = [0], [0]
        for n, x in minutes:
            self.attempts.append(self.attempts[-1] + n)
            self.bad.append(self.bad[-1] + x)

    def sum(self, t, k):
        end, begin = max(t + 1, 0), max(t - k + 1, 0)
        return self.attempts[end] - self.attempts[begin], self.bad[end] - self.bad[begin]


def evidence(n, x, q):
    if n == 0:
        return 0.0
    p = x / n
    first = p * math.log(p / q) if p > 0 else 0.0
    second = (1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0
    return n * (first + second)


class Ratio:
    def __init__(self, case):
        rule = case["rule"]
        self.num, self.den, self.F = rule["num"], rule["den"], rule["window"]
        theta = self.num / self.den
        self.version = rule.get("version", 2)
        self.S = rule.get("smooth", max(1, self.F // 3))
        self.min_bad, self.min_bad_smooth = rule.get("min_bad", 10), rule.get("min_bad_smooth", 2)
        self.guard = rule["guard"]
        self.z, self.guard_at = Z[self.guard], 4 * self.num / (5 * self.den)
        self.healthy, self.exclude = 0.2 * theta, 1.25 * theta
        self.R = rule.get("resolve_after", 10 if self.version == 1 else max(10, self.F // 2))
        self.W = rule.get("resolve_within", self.R if self.version == 1 else min(12 * self.R, 1440))
        self.min_half = rule.get("min_n_clear", 20 if self.version == 1 else 5)
        self.reopen = rule["reopen"]
        self.min_blocked, self.circuits = rule.get("min_blocked"), case.get("circuits") or []
        self.counts, self.last = Counts(case["minutes"]), len(case["minutes"]) - 1
        self.verdicts = [self._verdict(m) for m in range(self.last + 1)]
        self.over_alone = Counts([(int(n > 0), int(self.over(n, x))) for n, x in case["minutes"]])

    def over(self, n, x):
        return x * self.den > self.num * n

    def lower(self, n, x):
        if n == 0:
            return 0.0
        z, p = self.z, x / n
        return max(0.0, (p + z * z / (2 * n) - z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n))

    def proven(self, n, x):
        return self.over(n, x) and (self.guard == "off" or self.lower(n, x) > self.guard_at)

    def _verdict(self, m):
        n, x = self.counts.sum(m, self.S)
        if n == 0:
            return "blank"
        return "breach" if x >= self.min_bad_smooth and (self.over(*self.counts.sum(m, 1)) or self.over(n, x)) else "ok"

    def verdict(self, m):
        return self.verdicts[m] if m >= 0 else "blank"

    def set(self, t):
        """The window's counts, or nothing."""
        first = t - self.F + 1
        if self.verdict(t) != "breach":
            return None
        if self.version == 1:
            if self.verdict(first) != "breach":
                return None
        elif not self.over(*self.counts.sum(t, 1)) or all(self.verdict(m) != "breach" for m in range(first - self.S + 1, first + 1)):
            return None
        window = [self.verdict(m) for m in range(first, t + 1)]
        judged, breaches = len(window) - window.count("blank"), window.count("breach")
        if 2 * judged < self.F or 5 * breaches < 4 * judged:
            return None
        n, x = self.counts.sum(t, self.F)
        if x < self.min_bad or not self.proven(n, x):
            return None
        return (n, x) if self.version == 1 or not (self.is_one_minute(t, n, x) or self.is_past(t, n, x)) else None

    def is_one_minute(self, t, n, x):
        w = max(range(t - self.F + 1, t + 1), key=lambda m: (self.counts.sum(m, 1)[1], m))
        n_w, x_w = self.counts.sum(w, 1)
        return 3 * x_w > x and not (2 * (x - x_w) >= self.min_bad and self.proven(n - n_w, x - x_w))

    def is_past(self, t, n, x):
        expected = 0.7 * self.lower(n, x)
        for j in range(1, self.S + 1):
            a, b = self.counts.sum(t, j)
            if a > 0 and b / a < expected and evidence(a, b, expected) >= 3:
                if not (b / a > self.healthy and evidence(a, b, self.healthy) >= 3):
                    return True
        return False

    def refused(self, t):
        """Circuits that were open throughout the window, if they block enough."""
        if self.min_blocked is None:
            return []
        refused = [(since, waiting) for since, waiting in self.circuits[t] if waiting > 0 and since <= t - self.F + 1]
        return refused if sum(waiting for _, waiting in refused) >= self.min_blocked else []

    def clear(self, t, T, at_T):
        """The length of the good run that ends the alert, or nothing."""
        if self.min_blocked is not None and any(waiting > 0 for _, waiting in self.circuits[t]):
            return None
        if self.version == 1:
            return self.clear_1(t, T, at_T)
        n, x = self.counts.sum(t, 1)
        if n == 0 or self.over(n, x) or self.verdict(t) == "breach":
            return None
        for k in range(self.R, min(self.W, t - T) + 1, max(1, self.R // 2)):
            if not self.good_halves(t, k):
                continue
            filled, over = self.over_alone.sum(t, k)
            n, x = self.counts.sum(t, k)
            if 10 * over <= filled and self.excludes(n, x, at_T):
                return k
        return None

    def excludes(self, n, x, at_T):
        q = min(max(self.exclude, 0.7 * self.lower(*at_T)), 0.999)
        return n > 0 and x / n < q and evidence(n, x, q) >= 9

    def goes_on(self, t, closed, at_T):
        """Whether what fires at t is the alert that ended at `closed`, whose last counts were at_T."""
        if t - closed <= self.reopen:
            return True
        if self.reopen == 0 or t - closed > 1440:
            return False
        k = t - closed - (self.F + self.S - 1)
        last = t - (self.F + self.S - 1)
        return k > 0 and 2 * self.over_alone.sum(last, k)[0] >= k and not self.excludes(*self.counts.sum(last, k), at_T)

    def halves(self, t, k):
        return self.counts.sum(t, k // 2), self.counts.sum(t - k // 2, k - k // 2)

    def good_halves(self, t, k):
        return all(n >= self.min_half and 5 * x * self.den <= 4 * self.num * n for n, x in self.halves(t, k))

    def clear_1(self, t, T, is_blocked):
        k = self.R
        while (k == self.R and not is_blocked) or k <= t - T:
            if all(n >= self.min_half for n, _ in self.halves(t, k)):
                return k if self.good_halves(t, k) else None
            if k >= self.W:
                return None
            k = min(2 * k, self.W)
        return None

    def story(self):
        events, is_firing, T, at_T, starts, closed, is_blocked = [], False, None, (0, 0), None, None, False
        for t in range(self.last + 1):
            counts, refused = self.set(t), self.refused(t)
            if counts or refused:
                if not is_firing:
                    kind = "reopened" if closed is not None and self.goes_on(t, closed, at_T) else "fired"
                    if kind == "fired":
                        starts = t - self.F + 1 if counts else min(since for since, _ in refused)
                        is_blocked = not counts
                    events.append([kind, t, starts])
                is_firing, T, at_T = True, t, counts or (0, 0)
            elif is_firing:
                k = self.clear(t, T, is_blocked if self.version == 1 else at_T)
                if k is not None:
                    events.append(["resolved", t, max(t - k + 1, T + 1)])
                    is_firing, closed = False, t
        return events


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(Ratio(json.loads(line)).story()))
