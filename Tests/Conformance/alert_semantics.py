"""ratio/2 as docs/alert-semantics.md defines it, written from that document alone.

Reads one JSON object a line from standard input: settings of a rule, and its minutes as [attempts, bad]. Prints one JSON array a line: what happens,
as [kind, minute that decided, first bad minute or end]. AlertSemanticsTests compares that with the evaluator.
"""

import json
import math
import sys

QUANTILES = {"95%": 1.6448536269514722, "99%": 2.3263478740408408, "99.9%": 3.0902323061678132}


class Ratio:
    def __init__(self, num, den, window, smooth=None, guard="99%", reopen=120, **_):
        self.num, self.den, self.F = num, den, window
        self.S = smooth or max(1, window // 3)
        self.guard = guard
        self.z = QUANTILES["99%" if guard == "off" else guard]
        self.theta = num / den
        self.guard_at = (num * 4) / (den * 5)
        self.R = max(10, window // 2)
        self.step = max(1, self.R // 2)
        self.W = min(1440, 12 * self.R)
        self.reopen = reopen

    def load(self, minutes):
        self.n, self.x = [0], [0]
        for attempts, bad in minutes:
            self.n.append(self.n[-1] + attempts)
            self.x.append(self.x[-1] + bad)

    def sum(self, t, k):
        a, b = max(0, t + 1), max(0, t + 1 - k)
        return self.n[a] - self.n[b], self.x[a] - self.x[b]

    def over(self, n, x):
        return x * self.den > self.num * n

    def lower(self, n, x):
        if n == 0:
            return 0.0
        p, z = x / n, self.z
        return max(0.0, (p + z * z / (2 * n) - z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n))

    def proven(self, n, x):
        return self.over(n, x) and (self.guard == "off" or self.lower(n, x) > self.guard_at)

    def verdict(self, m):
        n, x = self.sum(m, self.S)
        if n == 0:
            return "blank"
        return "breach" if x >= 2 and (self.over(*self.sum(m, 1)) or self.over(n, x)) else "ok"

    def set(self, t):
        F, S = self.F, self.S
        if not self.over(*self.sum(t, 1)) or self.verdict(t) != "breach":
            return None
        if not any(self.verdict(m) == "breach" for m in range(t - F + 1 - (S - 1), t - F + 2)):
            return None
        verdicts = [self.verdict(m) for m in range(t - F + 1, t + 1)]
        e, b = sum(v != "blank" for v in verdicts), verdicts.count("breach")
        if 2 * e < F or 5 * b < 4 * e:
            return None
        n, x = self.sum(t, F)
        if x < 10 or not self.proven(n, x):
            return None
        worst = max(range(t - F + 1, t + 1), key=lambda m: (self.sum(m, 1)[1], m))
        wn, wx = self.sum(worst, 1)
        if 3 * wx > x and not (2 * (x - wx) >= 10 and self.proven(n - wn, x - wx)):
            return None
        expected, healthy = 0.7 * self.lower(n, x), 0.2 * self.theta
        for j in range(1, S + 1):
            a, b = self.sum(t, j)
            if a > 0 and b / a < expected and evidence(a, b, expected) >= 3:
                if not (b / a > healthy and evidence(a, b, healthy) >= 3):
                    return None
        return n, x

    def clear(self, t, last, proof):
        n, x = self.sum(t, 1)
        if n == 0 or self.over(n, x) or self.verdict(t) == "breach":
            return None
        q = min(max(1.25 * self.theta, 0.7 * self.lower(*proof)), 0.999)
        for k in range(self.R, min(self.W, t - last) + 1, self.step):
            h = k // 2
            halves = [self.sum(t, h), self.sum(t - h, k - h)]
            if any(a < 5 or b * 5 * self.den > 4 * self.num * a for a, b in halves):
                continue
            run = [self.sum(m, 1) for m in range(t - k + 1, t + 1)]
            if 10 * sum(self.over(a, b) for a, b in run) > sum(a > 0 for a, _ in run):
                continue
            n, x = self.sum(t, k)
            if x / n < q and evidence(n, x, q) >= 9:
                return t - k + 1
        return None

    def story(self):
        events, firing, last, proof, closed, starts = [], False, None, None, None, None
        for t in range(len(self.n) - 1):
            met = self.set(t)
            if met:
                if not firing:
                    again = closed is not None and self.reopen > 0 and t - closed <= self.reopen
                    starts = starts if again else t - self.F + 1
                    events.append(["reopened" if again else "fired", t, starts])
                firing, last, proof = True, t, met
            elif firing:
                end = self.clear(t, last, proof)
                if end is not None:
                    events.append(["resolved", t, end])
                    firing, closed = False, t
        return events


def evidence(n, x, q):
    if n == 0:
        return 0.0
    p = x / n

    def term(observed, share):
        return observed * math.log(observed / share) if observed > 0 else 0.0

    return n * (term(p, q) + term(1 - p, 1 - q))


for line in sys.stdin:
    case = json.loads(line)
    rule = Ratio(**case["rule"])
    rule.load(case["minutes"])
    print(json.dumps(rule.story()))
