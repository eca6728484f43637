#!/usr/bin/python3
"""compare.py DECIDE_AT [--profiles N] [--seed S]: drawn profiles, decided by the C code and by oracle.py, and in the
deterministic mode by uniform.py.

Prints the first differences with the profile that shows them, and exits 1; ties are counted and left out.
"""

import argparse
import math
import random
import subprocess
import sys
import tempfile

from oracle import Oracle, words
from uniform import uniform

CHOICES = ["algo: tree", "algo: ring", "proto: ll", "proto: simple", "channels: 1", "channels: 2", "channels: 4",
           "channels: 8", "algo: ring, proto: ll", "algo: ring, proto: ll, channels: 2", "algo: tree, channels: 4",
           "algo: tree, proto: simple, channels: 16", "proto: ll, channels: 2"]
WHOLE = ["algo: tree, proto: ll, channels: 1", "algo: tree, proto: simple, channels: 1", "algo: ring, proto: ll, channels: 1",
         "algo: ring, proto: simple, channels: 1", "algo: ring, proto: ll, channels: 2",
         "algo: ring, proto: simple, channels: 2", "algo: tree, proto: simple, channels: 4", "algo: nvls, proto: simple, channels: 8"]
SETTINGS = ["{NCCL_BUFFSIZE: \"1048576\"}", "{NCCL_BUFFSIZE: \"2097152\", NCCL_NTHREADS: \"64\"}"]
SHAPE = ("allreduce", 2, 4)
LARGEST = 2**64 - 1


class Draw:
    """One drawn profile, as text."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.round = self.some(0.15)  # round numbers, so that times lie exactly on the rule's bounds

    def some(self, chance):
        return self.random.random() < chance

    def one(self, *items):
        return self.random.choice(items)

    def policy(self):
        gain = self.one("0%", "1%", "3%", "3%", "3.5%", "10%", "30%")
        return f"policy: {{min_gain: {gain}, reach: {self.one(1, 1.25, 1.5, 2, 2, 2, 2.5, 4, 16)}, " \
               f"gap: {self.one(1, 1.5, 2, 4, 10, 10, 10, 100)}" \
               f"{self.one('', '', ', max_extra_memory: 1MiB', ', max_extra_memory: 0')}}}\n"

    def sizes(self):
        start = self.one(1, 3, 17, 100, 1000, 12288, 65536, 10**6, 3 * 2**20, 2**58)
        sizes = [min(2**60, start + self.random.randrange(start))]
        for _ in range(self.one(0, 1, 1, 2, 3, 4, 6)):
            factor = self.one(1.002, 1.03, 1.1, 1.5, 2, 2, 3, 4, 4, 8, 10, 15, 40)
            nearby = int(sizes[-1] * factor * (1 if self.some(0.3) else self.random.uniform(0.97, 1.03)))
            sizes.append(min(2**60, max(sizes[-1] + self.one(1, 1, 2, 5), nearby)))
        self.random.shuffle(sizes)
        return sorted(set(sizes), key=lambda _: self.random.random())

    def spread(self, chance):
        return f", spread: {self.one(0, 0.5, 1, 2, 3, 4, 6, 10, 20)}%" if self.some(chance) else ""

    def entry(self, choice, median, spread_chance, settings):
        inside = f", settings: {settings}" if settings else ""
        memory = self.one("", "", ", memory: 1MiB", ", memory: 1048577") if choice != "choice: auto" else ""
        ran = f", ran: {{algo: {self.one('ring', 'tree')}, proto: ll, channels: 2}}" if self.some(0.3) else ""
        return f"          - {{{choice}, median: {median:.3f}us{self.spread(spread_chance)}{inside}{memory}{ran}}}\n"

    def point(self, size, factors, common, spread_chance):
        auto = self.random.randrange(1, 20) * 100 if self.round else self.random.uniform(20, 2000)
        text = f"      - bytes: {size}\n        times:\n"
        entries = [] if self.some(0.06) else [self.entry("choice: auto", auto, spread_chance, common)]
        for choice, factor in factors.items():
            if self.some(0.2):
                continue
            settings = common if self.some(0.9) else self.one("", *SETTINGS)
            ratio = factor * math.exp(self.random.gauss(0, self.one(0.005, 0.05, 0.3)))
            if self.round:
                ratio = self.one(0.5, 0.51, 0.7, 0.714, 0.9, 0.918, 0.95, 0.965, 0.97, 0.99, 1.0)
            entries.append(self.entry(choice, auto * ratio, spread_chance, settings))
            if settings != common and self.some(0.5):
                entries.append(self.entry(choice, auto * ratio * 1.3, spread_chance, common))
        self.random.shuffle(entries)
        return text + "".join(entries) if entries else text[:-1] + " []\n"

    def table(self):
        base = self.one(0.5, 0.9, 0.97, 1.0)
        count = self.one(1, 2, 3, 4, 6)
        factors = {c: base * self.random.uniform(0.9, 1.1) for c in self.random.sample(CHOICES, count)}
        common = SETTINGS[0] if self.some(0.1) else ""
        spread_chance = self.one(0, 0, 0.5, 1)
        points = [self.point(s, factors, common if self.some(0.95) else "", spread_chance) for s in self.sizes()]
        head = f"  - collective: {SHAPE[0]}\n    nodes: {SHAPE[1]}\n    ranks: {SHAPE[2]}\n    points:\n"
        return head + "".join(points)

    def rule(self):
        low, high = sorted(int(2 ** self.random.uniform(0, 26)) for _ in range(2))
        ranges = (f", bytes: {low}", f', bytes: "{low}..{high}"', f', bytes: "{low}.."', f', bytes: "..{high}"')
        where = self.one("", *ranges)
        shape = self.one("", "", f", nodes: {SHAPE[1]}", ", nodes: 1", f", nodes: 2, ranks: {SHAPE[2]}")
        collective = self.one(SHAPE[0], SHAPE[0], "broadcast")
        return f"  - {{collective: {collective}{where}{shape}, {self.one('choice: auto', *CHOICES)}}}\n"

    def profile(self):
        text = "sizewise: 1\nname: drawn\nprovenance: {kind: simulated, source: drawn}\n" + self.policy()
        text += "tables:\n" + self.table()
        if self.some(0.1):
            text += "rules:\n" + "".join(self.rule() for _ in range(self.one(1, 2, 4)))
        return text


class DrawWhole(Draw):
    """Profiles whose choices name all three, measured at most sizes; some times say what ran."""

    def whole_entry(self, choice, median):
        extra = self.one("", "", "", "", f", ran: {{{self.one(choice, self.random.choice(WHOLE))}}}" if choice else "")
        if choice == "choice: auto" and extra:
            extra = f", ran: {{{self.random.choice(WHOLE)}}}"
        settings = f", settings: {SETTINGS[0]}" if choice != "choice: auto" and self.some(0.02) else ""
        memory = ", memory: 2MiB" if self.some(0.02) else ""
        excluded = ", excluded: wrong data" if choice != "choice: auto" and self.some(0.01) else ""
        return f"          - {{{choice}, median: {median:.3f}us{extra}{settings}{memory}{excluded}}}\n"

    def table(self):
        choices = self.random.sample(WHOLE, self.one(1, 2, 4, 6, 8))
        text = f"  - collective: {self.collective}\n    nodes: 2\n    ranks: {self.ranks}\n    points:\n"
        for size in self.sizes():
            auto = self.random.uniform(20, 2000)
            text += f"      - bytes: {size}\n        times:\n" + self.whole_entry("choice: auto", auto)
            for choice in choices:
                if not self.some(0.05):
                    text += self.whole_entry(choice, auto * self.one(0.5, 0.9, 1.0, 1.01, 1.3, 4) * self.random.uniform(0.97, 1.03))
        return text

    def profile(self):
        self.collective = self.one("allreduce", "allreduce", "reduce", "reducescatter", "allgather")
        self.ranks = self.one(2, 4, 8)
        text = "sizewise: 1\nname: drawn\nprovenance: {kind: simulated, source: drawn}\n" + self.policy()
        text += "tables:\n" + self.table()
        if self.some(0.2):
            rules = [self.random.choice(WHOLE + CHOICES) + self.one("", ", ranks: 4", ", bytes: 1KiB") for _ in range(3)]
            text += "rules:\n" + "".join(f"  - {{collective: {self.collective}, {rule}}}\n" for rule in rules)
        return text


def sizes_to_ask(oracle, drawn, count):
    """Around every boundary that the oracle knows, and anywhere."""
    near = [0, 1, 2, 3, LARGEST]
    for point in oracle.points:
        near += [point.bytes, int(point.bytes * oracle.reach), int(point.bytes / oracle.reach)]
    for left, right in zip(oracle.points, oracle.points[1:]):
        near.append(math.isqrt(left.bytes * right.bytes))
        for _ in range(6):
            near.append(left.bytes + drawn.randrange(right.bytes - left.bytes))
    for size in near[5:]:
        oracle.decide(size)  # finds the spans
    for stretch in (stretch for stretches in oracle.spans.values() for stretch in stretches):
        near += [stretch.first, stretch.last]
        near += [math.ceil(2 ** (answer[0] / 16)) for answer in stretch.answers if answer[0] > 0]
    for rule in oracle.rules:
        near += [end for end in oracle.range_of(rule) if end < LARGEST]
    near += [math.ceil(2 ** (drawn.randrange(0, 40 * 16) / 16)) for _ in range(5)]
    around = {size + step for size in near for step in (-1, 0, 1) if 0 <= size + step <= LARGEST}
    around |= {int(2 ** drawn.uniform(0, 60)) for _ in range(5)}
    return drawn.sample(sorted(around), min(count, len(around)))


def decide_in_c(program, text, sizes, arguments=SHAPE):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        run = subprocess.run([program, file.name, *map(str, arguments)], input="".join(f"{s}\n" for s in sizes),
                             capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{program}: status {run.returncode}\n{run.stderr}\n{text}")
    return run.stdout.splitlines()


def compare(program, seed):
    """Counts of pairs and ties, and the differences, for one drawn profile."""
    draw = Draw(seed)
    text = draw.profile()
    oracle = Oracle(text, *SHAPE)
    sizes = sizes_to_ask(oracle, draw.random, 120)
    ties, differences = 0, []
    for size, answer in zip(sizes, decide_in_c(program, text, sizes), strict=True):
        ranking, tie = oracle.decide(size)
        expected = " > ".join(words(choice) for choice in ranking) or "auto"
        ties += tie
        if answer != expected and not tie:
            differences.append(f"seed {seed}, {size} bytes: C {answer!r}, oracle {expected!r}")
    return len(sizes), ties, differences, text


def compare_whole(program, seed):
    """The same for the deterministic mode, whose answer is one for every size."""
    draw = DrawWhole(seed)
    text = draw.profile()
    sizes = [0, 1, 12288, 2**20, 2**40, LARGEST]
    what, tie = uniform(text, draw.collective, 2, draw.ranks)
    expected = words(what) or "auto"
    answers = set(decide_in_c(program, text, sizes, (draw.collective, 2, draw.ranks, "deterministic")))
    good = answers == {expected} or (tie and len(answers) == 1)
    return tie, what, [] if good else [f"seed {seed}, every size: C {sorted(answers)}, oracle {expected!r}"], text


def compare_all_whole(program, seeds):
    """How many drawn profiles differ in the deterministic mode; most have to have an answer."""
    ties = different = found = 0
    for seed in seeds:
        tie, what, differences, text = compare_whole(program, seed)
        ties, different, found = ties + tie, different + len(differences), found + (what[0] is not None)
        if differences and different < 5:
            print("\n".join(differences), text, sep="\n")
    print(f"deterministic: {len(seeds)} profiles, {found} with a choice, {ties} ties, {different} differences")
    return different or ties > len(seeds) // 10 or not len(seeds) // 5 < found < len(seeds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--profiles", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    pairs = ties = different = 0
    for seed in range(options.seed, options.seed + options.profiles):
        count, tied, differences, text = compare(options.program, seed)
        pairs, ties, different = pairs + count, ties + tied, different + len(differences)
        if differences and different - len(differences) < 10:
            print("\n".join(differences[:5]), text, sep="\n")
    print(f"{options.profiles} profiles, {pairs} sizes, {ties} ties, {different} differences")
    whole = compare_all_whole(options.program, range(options.seed, options.seed + options.profiles))
    return 1 if different or ties > pairs // 10 or whole else 0


if __name__ == "__main__":
    sys.exit(main())
