"""What a profile decides at one size, straight from the rules' words: slow, obvious, nothing shared with the C code.

Between two measured sizes the curves are continuous. Every place where the rule's answer could change is the root of
a straight line (times are straight in log/log), so the change-overs are found exactly, and each is then moved to the
nearest 2^(k/16). An answer that hangs on less than 1e-9 is marked as a tie.
"""

import math
from fractions import Fraction

import yaml

TIE = 1e-9
UNITS = {"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30}
SECONDS = {"us": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1)}
AUTO = (None, None, None)


def split_unit(word):
    word = str(word).strip()
    digits = len(word.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ% "))
    return Fraction(word[:digits]), word[digits:].strip().lower()


def size(word):
    number, unit = split_unit(word)
    return int(number * UNITS[unit])


def time(word):
    number, unit = split_unit(word)
    return number * SECONDS[unit]


def share(word):
    number, unit = split_unit(word)
    return number / 100 if unit == "%" else number


def choice(entry):
    return (entry.get("algo"), entry.get("proto"), entry.get("channels"))


def words(choice):
    algo, proto, channels = choice
    names = " + ".join(name for name in (algo, proto) if name)
    count = "" if channels is None else f"{channels} channel{'' if channels == 1 else 's'}"
    return ", ".join(part for part in (names, count) if part)


class Time:
    """One measured time; two times belong to the same choice when their `what` is the same."""

    def __init__(self, entry):
        self.choice = choice(entry)
        self.settings = tuple(sorted((entry.get("settings") or {}).items()))
        self.what = (self.choice, self.settings)
        self.median = time(entry["median"])
        self.spread = share(entry.get("spread", 0))
        self.memory = size(entry.get("memory", 0))
        self.ran = (entry.get("ran") or {}).get("algo")


class Point:
    def __init__(self, entry):
        self.bytes = size(entry["bytes"])
        times = [Time(item) for item in entry["times"]]
        self.auto = next((t for t in times if t.choice == AUTO), None)
        self.others = {t.what: t for t in times if t.choice != AUTO}

    def can_win(self, what, limit):
        """A choice that was measured under other settings than auto cannot be set by a tuner, and one whose connections
        take more than max_extra_memory beyond auto's must not."""
        return what[1] == self.auto.settings and (what not in self.others or self.extra(self.others[what]) <= limit)

    def extra(self, time):
        """What auto ran is connected anyway."""
        return 0 if time.ran and time.ran == self.auto.ran else time.memory


def fewest(choice):
    return math.inf if choice[2] is None else choice[2]


def rank(competing, equal, faster):
    """Best first: among those within 2% of the fastest the fewest channels, then the faster; then the rest likewise."""
    rest = list(competing)
    ranking = []
    while rest:
        fastest = min(rest, key=faster)
        best = min((c for c in rest if equal(c, fastest)), key=lambda c: (fewest(c), faster(c)))
        ranking.append(best)
        rest.remove(best)
    return ranking


class Oracle:
    def __init__(self, text, collective, nodes, ranks):
        profile = yaml.safe_load(text)
        policy = profile.get("policy") or {}
        self.min_gain = share(policy.get("min_gain", "3%"))
        self.reach = share(policy.get("reach", 2))
        self.gap = share(policy.get("gap", 10))
        self.memory = size(policy["max_extra_memory"]) if "max_extra_memory" in policy else math.inf
        shape = (collective, nodes, ranks)
        self.rules = [r for r in profile.get("rules") or [] if self.holds(r, shape)]
        tables = [t for t in profile.get("tables") or [] if (t["collective"], t["nodes"], t["ranks"]) == shape]
        points = [Point(p) for p in tables[0]["points"]] if tables else []
        self.points = sorted(points, key=lambda p: p.bytes)
        self.spans = {}

    # --- the answer: a list of choices, and whether it is a tie

    def decide(self, bytes):
        for rule in self.rules:
            low, high = self.range_of(rule)
            if low <= bytes <= high:
                return ([] if rule.get("choice") == "auto" else [choice(rule)]), False
        return self.measured(bytes)

    @staticmethod
    def holds(rule, shape):
        wanted = (rule["collective"], rule.get("nodes", shape[1]), rule.get("ranks", shape[2]))
        return wanted == shape

    @staticmethod
    def range_of(rule):
        if "bytes" not in rule:
            return 0, math.inf
        low, dots, high = str(rule["bytes"]).partition("..")
        first = size(low) if low else 0
        return first, (size(high) if high else math.inf) if dots else first

    def measured(self, bytes):
        left = max((p for p in self.points if p.bytes <= bytes), key=lambda p: p.bytes, default=None)
        right = min((p for p in self.points if p.bytes >= bytes), key=lambda p: p.bytes, default=None)
        if left and left.bytes == bytes:
            return self.at(left), self.left_open(left)
        if left and right and self.joined(left, right):
            return self.between(left, right, bytes)
        who, tie = self.speaker(left, right, bytes)
        return (self.at(who) if who else []), tie or (who is not None and self.left_open(who))

    @staticmethod
    def left_open(point):
        """Two choices with equal times and equally many channels: the rules do not say which comes first."""
        alike = [(t.median, fewest(t.choice)) for t in point.others.values()]
        return len(set(alike)) < len(alike)

    def at(self, point):
        """The rule at a measured size, in exact fractions."""
        if not point.auto:
            return []
        own = point.auto
        competing = {}
        for what, t in point.others.items():
            gain = 1 - t.median / own.median
            clear = gain > 0 and gain >= self.min_gain and gain**2 >= own.spread**2 + t.spread**2
            if clear and point.can_win(what, self.memory):
                competing[what[0]] = t.median
        return rank(competing, lambda c, f: competing[c] <= competing[f] * Fraction(102, 100), competing.get)

    # --- reach

    def speaker(self, left, right, bytes):
        """The point that speaks for a size, if any: within its reach, and the nearer in log(bytes) of two."""
        from_left = left and bytes <= left.bytes * self.reach
        from_right = right and bytes * self.reach >= right.bytes
        if not (from_left and from_right):
            return (left if from_left else right if from_right else None), False
        line, tie = self.snap((math.log2(left.bytes) + math.log2(right.bytes)) / 2)
        return (right if self.at_or_above(bytes, line) else left), tie

    @staticmethod
    def snap(place):
        line = math.floor(place * 16 + 0.5)
        return line, abs(place * 16 + 0.5 - round(place * 16 + 0.5)) < 16 * TIE

    @staticmethod
    def at_or_above(bytes, line):
        return bytes**16 >= 2**line if line >= 0 else True

    # --- between two measured sizes

    def joined(self, left, right):
        both = left.auto and right.auto and left.auto.settings == right.auto.settings
        return both and right.bytes <= left.bytes * self.gap

    def between(self, left, right, bytes):
        if left.bytes not in self.spans:
            self.spans[left.bytes] = self.stretches(left, right)
        stretch = next(s for s in self.spans[left.bytes] if s.first <= bytes <= s.last)
        ranking, tie = stretch.decide(bytes)
        return ranking, tie or self.speaker(left, right, bytes)[1]

    def stretches(self, left, right):
        """The whole sizes between two points, cut where a choice that was measured at one end only begins or ends."""
        parts = []
        first = left.bytes + 1
        while first < right.bytes:
            who = self.speaker(left, right, first)[0]
            last, beyond = first, right.bytes
            while beyond - last > 1:  # who speaks changes from left to nobody to right, so halving finds the end
                middle = (last + beyond) // 2
                last, beyond = (middle, beyond) if self.speaker(left, right, middle)[0] is who else (last, middle)
            heard = Stretch.heard(left, right, who)
            if parts and parts[-1][2] == heard:
                parts[-1][1] = last
            else:
                parts.append([first, last, heard, who])
            first = last + 1
        return [Stretch(self, left, right, who, first, last) for first, last, _, who in parts]


class Curve:
    """log(time) as a straight line over log(bytes), from weight 0 at the left size to 1 at the right one."""

    def __init__(self, choice, left, right, spread):
        self.choice = choice
        self.left = left
        self.right = right
        self.spread = spread

    def log(self, weight):
        return self.left + (self.right - self.left) * weight


class Stretch:
    """Neighbouring sizes between two points for which the same choices are heard: those measured at both ends, and
    those measured at the one end whose reach it is."""

    def __init__(self, oracle, left, right, who, first, last):
        self.oracle = oracle
        self.first, self.last = first, last
        self.low = math.log2(left.bytes)
        self.high = math.log2(right.bytes)
        self.own = self.curve(AUTO, left.auto, right.auto)
        self.curves = [self.curve_of(left, right, who, what) for what in self.heard(left, right, who)
                       if left.can_win(what, oracle.memory) and right.can_win(what, oracle.memory)]
        width = self.high - self.low
        self.extent = (0.0 if first == left.bytes + 1 else (math.log2(first) - self.low) / width,
                       1.0 if last == right.bytes - 1 else (math.log2(last) - self.low) / width)
        self.find_change_overs()

    @staticmethod
    def heard(left, right, who):
        both = left.others.keys() & right.others.keys()
        return both | (who.others.keys() if who else set())

    @staticmethod
    def curve(choice, left, right):
        return Curve(choice, math.log(left.median), math.log(right.median), max(left.spread, right.spread))

    def curve_of(self, left, right, who, what):
        if what in left.others and what in right.others:
            return self.curve(what[0], left.others[what], right.others[what])
        t = who.others[what]
        ratio = math.log(t.median / who.auto.median)
        return Curve(what[0], self.own.left + ratio, self.own.right + ratio, t.spread)

    def bounds(self, curve):
        """log(time / auto) at and below which a choice competes."""
        spread = math.sqrt(float(self.own.spread) ** 2 + float(curve.spread) ** 2)
        share = max(float(self.oracle.min_gain), spread)
        return [0.0] + ([math.log(1 - share)] if share < 1 else [-math.inf])

    def lines(self):
        """All that the rule compares with 0, each as its values at both ends."""
        for curve in self.curves:
            for bound in self.bounds(curve):
                yield curve.left - self.own.left - bound, curve.right - self.own.right - bound
        for i, a in enumerate(self.curves):
            for b in self.curves[:i]:
                for bound in (0.0, math.log(1.02), -math.log(1.02)):
                    yield a.left - b.left - bound, a.right - b.right - bound

    def find_change_overs(self):
        first, last = self.extent
        roots = {l / (l - r) for l, r in self.lines() if math.isfinite(l) and l != r}
        ends = [first] + sorted(w for w in roots if first < w < last) + [last]
        self.on_ends = [end for end in (first, last) if any(abs(root - end) < TIE for root in roots)]
        self.answers = []  # (grid line from which it holds, ranking, tie, whether another line is as near)
        for w, after in zip(ends, ends[1:]):
            if after - w < 1e-13 and after != last:
                continue
            line, snap_tie = self.oracle.snap(self.low + (self.high - self.low) * w)
            ranking, tie = self.rank_at((w + after) / 2)
            if not self.answers:
                self.answers.append((-math.inf, ranking, tie, False))
            elif (ranking, tie) != self.answers[-1][1:3]:
                self.answers.append((line, ranking, tie, snap_tie))

    def rank_at(self, weight):
        own = self.own.log(weight)
        logs, near = {}, []
        for curve in self.curves:
            ratio = curve.log(weight) - own
            zero, bound = self.bounds(curve)
            near += [abs(ratio - zero), abs(ratio - bound)]
            if ratio < zero and ratio <= bound:
                logs[curve.choice] = curve.log(weight)
        competing = list(logs)
        near += [abs(logs[a] - logs[b] - bound) for i, a in enumerate(competing) for b in competing[:i]
                 for bound in (0.0, math.log(1.02), -math.log(1.02))]
        ranking = rank(competing, lambda c, f: logs[c] - logs[f] <= math.log(1.02), logs.get)
        return ranking, any(distance < TIE for distance in near)

    def decide(self, bytes):
        result, tie = [], False
        for line, ranking, answer_tie, snap_tie in self.answers:
            if line == -math.inf or self.oracle.at_or_above(bytes, line):
                result, tie = ranking, answer_tie
            beside = line != -math.inf and abs(math.log2(max(bytes, 1)) * 16 - line) <= 1.5
            tie = tie or (snap_tie and beside)
        return result, tie or self.beside_an_end(bytes)

    def beside_an_end(self, bytes):
        """A change-over exactly at a measured size, or at the end of a reach, may be on either side of it."""
        ends = [self.low + (self.high - self.low) * end for end in self.on_ends]
        return any(abs(math.log2(bytes) - end) <= 1 / 16 for end in ends)
