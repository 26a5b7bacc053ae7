"""docs/alert-semantics.md, what `baseline/2` expects and how sure that is: see baseline_semantics.py."""

import math

ABOVE, ALPHA, MIN_BAD, MINIMUM = 3.0, 3e-4, 8, 1e-4
RUNGS = ((60, 2.3), (120, 2.3), (240, 2.0), (480, 1.7), (1440, 1.5))
DAY, HOUR, SLOT = 1440, 60, 5


def incomplete_beta(x, a, b):
    """The regularised I_x(a, b), by its continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    result = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / ((1 + term * d) or tiny), (1 + term / c) or tiny
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * result


def poisson_at_most(mean, count):
    term, total = -mean, 0.0
    for i in range(count + 1):
        total += math.exp(term)
        term += math.log(mean) - math.log(i + 1)
    return min(1.0, total)


def exceeds(observed, multiple, expected):
    return observed > multiple * expected * (1 + 1e-9)


def tail(observed, multiple, cells):
    """Of cells (n, B, N): the chance of so many bad ones, if `multiple` times the shares known from B of N is usual."""
    if observed == 0:
        return 1.0
    known = [(n, max(bad, MINIMUM * attempts) + 1, attempts) for n, bad, attempts in cells if n > 0]
    mean = sum(n * bad / attempts for n, bad, attempts in known)
    variance = sum(n * n * bad / attempts**2 for n, bad, attempts in known)
    return incomplete_beta(multiple / (mean / variance + multiple), observed, mean * mean / variance)


def add(counts):
    counts = list(counts)
    return sum(n for n, _ in counts), sum(x for _, x in counts)


class Stratum:
    def __init__(self, family, slots):
        self.family = family
        self.attempts, self.bad, self.total = [0], [0], len(slots)
        for n, x in slots:
            self.attempts.append(self.attempts[-1] + n)
            self.bad.append(self.bad[-1] + x)
        self.hours = [self.between(slot, slot + 12) for slot in range(0, self.total, 12)]

    def between(self, begin, end):
        """Of the slots begin … end−1."""
        begin = begin if begin > 0 else 0
        end = end if end < self.total else self.total
        return self.attempts[end] - self.attempts[begin], self.bad[end] - self.bad[begin]

    def sum(self, t, k):
        """Of the minutes t−k+1 … t."""
        return self.between(-((k - t - 1) // SLOT), -(-(t + 1) // SLOT))

    def hour(self, hour):
        return self.hours[hour] if hour < len(self.hours) else (0, 0)


class Reference:
    """What is expected, known by the end of day D."""

    def __init__(self, baseline, D, t):
        self.ready, training = False, []
        days = {}
        for day in range(max(D - 27, 0), D + 1):
            days[day] = [baseline.day(i, day, t) for i in range(len(baseline.strata))]
            if add(days[day])[0] >= 50:
                training.insert(0, day)
        listed, previous = [], D
        for day in training:
            if day < baseline.training_from or previous - day > 14:
                break
            listed.append(day)
            previous = day
        first = listed[:7]
        total = {day: add(days[day]) for day in first}
        if len(first) < 7 or add(total.values())[0] < 700:
            return
        self.ready = True
        self.largest_day = max(n for n, _ in total.values())
        self.busiest_hour = max(
            baseline.all.hour(hour)[0] for day in first for hour in range(day * 24, day * 24 + 24) if baseline.is_training(hour)
        )
        kept = self._kept(first, total)
        newest = first[:2] if len(listed) < 14 else []

        def known(members):
            N, B = add(days[day][i] for day in kept for i in members)
            n, x = add(days[day][i] for day in newest for i in members)
            return (x, n) if n > 0 and (N == 0 or exceeds(x * N, 1, B * n)) else (B, N)

        everything = range(len(baseline.strata))
        accepted = baseline.accepted["shares"] if baseline.is_accepted(t) else [None] * len(everything)
        self.group = known(everything)
        self.p = self.share(self.group)
        self.cell_of, self.cells = {}, {}
        def enough(members):
            counted = [sum(days[day][i][0] for i in members) for day in kept]
            return sum(1 for n in counted if n > 0) >= 3 and sum(counted) >= 700

        left = []
        for i in everything:
            family = [j for j in everything if baseline.strata[j].family == baseline.strata[i].family]
            if enough([i]) or accepted[i] is not None and any(days[day][i][0] > 0 for day in kept):
                self.cell_of[i], self.cells[i] = i, known([i])
            elif len(family) > 1 and enough(family):
                key = "family " + baseline.strata[i].family
                self.cell_of[i], self.cells[key] = key, known(family)
            elif sum(1 for day in kept if days[day][i][0] > 0) >= 3:
                left.append(i)
        if left and enough(left):
            self.cells["rest"] = known(left)
            for i in left:
                self.cell_of[i] = "rest"

    @staticmethod
    def share(known):
        B, N = known
        return max(B / N, MINIMUM)

    @staticmethod
    def _kept(first, total):
        kept, dropped = list(first), 0
        for _ in range(3):
            if len(kept) < 2:
                break
            w = max(kept, key=lambda day: (total[day][1] / total[day][0], day))
            others = [day for day in kept if day != w]
            (n, x), (N, B) = total[w], add(total[day] for day in others)
            if 3 * (dropped + n) > add(total.values())[0] or x < MIN_BAD:
                break
            if not exceeds(x, ABOVE * n, max(B / N, MINIMUM)) or tail(x, 2.3, [(n, B, N)]) >= ALPHA:
                break
            kept, dropped = others, dropped + n
        return kept

    def shares(self):
        return {i: self.share(self.cells[cell]) for i, cell in self.cell_of.items()} if self.ready else {}
