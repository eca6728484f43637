"""What the deterministic mode chooses, straight from the words in plugin/decide/uniform.h: exact fractions, no code
shared with the C side. A choice that hangs on less than 1e-9 is marked as a tie."""

import math
from fractions import Fraction

import yaml

from oracle import AUTO, choice, size, time

TIE = 1e-9
SUMS = ("allreduce", "reduce", "reducescatter")


def settings(entry):
    return tuple(sorted((entry.get("settings") or {}).items()))


def names_all(what):
    return None not in what


def firm(collective, ranks, what):
    algo, _, channels = what
    if collective not in SUMS:
        return True
    if channels != 1:
        return False
    if ranks == 2:
        return algo in ("ring", "tree")
    return algo == ("tree" if collective == "allreduce" else "ring")


def offered(collective, what):
    """Whether NCCL offers a drawn choice for the collective: trees for all-reduce alone, NVLS not for what has a root."""
    if what[0] == "nvls":
        return collective not in ("broadcast", "reduce")
    return what[0] == "ring" or collective == "allreduce"


def extra(time, own):
    """Memory beyond auto's: connections belong to an algorithm."""
    shared = "ran" in time and "ran" in own and time["ran"]["algo"] == own["ran"]["algo"]
    return 0 if shared else size(time.get("memory", 0))


def look(point, own, what, limit):
    """The choice's time at a size, or None."""
    asked = [t for t in point if choice(t) == what]
    ran_so = [t for t in point if "ran" in t and choice(t["ran"]) == what]
    if any("excluded" in t for t in asked + ran_so):
        return None
    like_auto = [t for t in point if settings(t) == settings(own)]
    if any("ran" in t and choice(t["ran"]) != what for t in asked if t in like_auto):
        return None
    usable = [t for t in asked + ran_so if t in like_auto]
    if any(extra(t, own) > limit for t in usable if t is not own):
        return None
    named = [t for t in usable if t in asked]
    if named:
        return time(named[0]["median"])
    return min_in_order(usable)


def min_in_order(times):
    """Of twins the first in the profile's order: auto, then by algorithm, protocol and channels."""
    algorithms = [None, "tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"]
    protocols = [None, "ll", "ll128", "simple"]
    key = lambda t: (algorithms.index(t.get("algo")), protocols.index(t.get("proto")), t.get("channels") or 0)
    return time(min(times, key=key)["median"]) if times else None


def close(a, b):
    return abs(float(a / b) - 1) < TIE


def uniform(text, collective, nodes, ranks):
    """The choice at every size, AUTO for none, and whether it is a tie."""
    profile = yaml.safe_load(text)
    for rule in profile.get("rules") or []:
        holds = (rule["collective"], rule.get("nodes", nodes), rule.get("ranks", ranks)) == (collective, nodes, ranks)
        if holds and "bytes" not in rule and names_all(choice(rule)):
            return choice(rule), False
    tables = [t for t in profile.get("tables") or []
              if (t["collective"], t["nodes"], t["ranks"]) == (collective, nodes, ranks)]
    points = [p["times"] for p in tables[0]["points"]] if tables else []
    points = [(p, own) for p in points for own in p if choice(own) == AUTO]
    policy = profile.get("policy") or {}
    limit = size(policy["max_extra_memory"]) if "max_extra_memory" in policy else math.inf
    named = {choice(t) for p, _ in points for t in p} | {choice(t["ran"]) for p, _ in points for t in p if "ran" in t}
    ratios = {}
    for what in (w for w in named if names_all(w) and offered(collective, w)):
        times = [(look(p, own, what, limit), time(own["median"])) for p, own in points]
        if all(t is not None for t, _ in times):
            ratios[what] = [t / own for t, own in times]
    if not ratios:
        return AUTO, False
    best_kind = [w for w in ratios if firm(collective, ranks, w)] or list(ratios)
    smallest = min(max(ratios[w]) for w in best_kind)
    bound = smallest * Fraction(102, 100)
    tie = any(close(max(ratios[w]), bound) for w in best_kind)
    good = [w for w in best_kind if max(ratios[w]) <= bound]
    fewest = min(w[2] for w in good)
    products = sorted((math.prod(ratios[w]), w) for w in good if w[2] == fewest)
    tie = tie or (len(products) > 1 and close(products[0][0], products[1][0]))
    return products[0][1], tie
