#!/usr/bin/python3
"""profiles/workloads/schema.json against the reader of workloads: the same keys, words and bounds, read from the C
sources; every shipped workload validates; values and whole steps as the reader's unit tests take and refuse them.

Needs python3-yaml and python3-jsonschema. Run in the repository's root, or with SW_TEST_SOURCE set to it.
"""
import glob
import json
import os
import re

import jsonschema

from schema import ROOT, check, constant, fields, load, read, run, takes, vocabulary

SCHEMA = json.loads(read("profiles/workloads/schema.json"))
READER = read("bench/workload/read.c")
STEP = SCHEMA["properties"]["step"]
CALLS = SCHEMA["properties"]["collectives"]["items"]
MAPPINGS = {
    "workload_fields": SCHEMA,
    "provenance_fields": SCHEMA["properties"]["provenance"],
    "step_fields": STEP,
    "calls_fields": CALLS,
}


def check_files():
    paths = glob.glob(os.path.join(ROOT, "profiles/workloads/*.yaml"))
    check(len(paths) >= 2, f"{len(paths)} shipped workloads: where are the others?")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            error = next(jsonschema.Draft7Validator(SCHEMA).iter_errors(load(file.read())), None)
        check(not error, f"{path} is refused: {error}")


def check_keys():
    for array, mapping in MAPPINGS.items():
        keys, required = fields(array, READER)
        check(set(mapping["properties"]) == keys, f"{array}: {sorted(set(mapping['properties']) ^ keys)}")
        check(set(mapping.get("required", [])) == required, f"{array} requires {required}")
        check(mapping["additionalProperties"] is False, f"{array}: other keys are taken")
    check(len(re.findall(r"sw_field \w+\[\] =", READER)) == len(MAPPINGS), "a table of fields is not compared here")


def check_words():
    for name, part in (("sw_collectives", CALLS["properties"]["collective"]),
                       ("sw_kinds", SCHEMA["properties"]["provenance"]["properties"]["kind"])):
        check(part["anyOf"][0]["enum"] == vocabulary(name), f"{name}: {part['anyOf'][0]['enum']}")
        for word in vocabulary(name):
            check(takes(part, word.upper()) == {True} and takes(part, word + "x") == {False}, f"{name}: {word}")


def check_bounds():
    ranks, calls = constant("MOST_RANKS", READER), constant("MOST_CALLS", READER)
    tokens = int(re.search(r"MOST_TOKENS UINT64_C\((\d+)\)", READER)[1])
    for part, (least, most) in ((SCHEMA["properties"]["nodes"], (1, ranks)), (SCHEMA["properties"]["ranks"], (1, ranks)),
                                (CALLS["properties"]["count"], (1, calls))):
        check((part["minimum"], part["maximum"]) == (least, most), f"not {least} to {most}")
        for number, taken in ((least - 1, False), (least, True), (most, True), (most + 1, False)):
            check(takes(part, str(number)) == {taken}, f"'{number}' taken is not {taken}")
    for key in ("tokens", "rate"):
        check(STEP["properties"][key]["maximum"] == tokens, f"{key}: not up to {tokens}")
    settings = constant("MOST_SETTINGS", read("plugin/profile/read_choice.c"))
    check(STEP["properties"]["under"]["maxProperties"] == settings, f"under: not {settings} at most")


VALUES = (
    (SCHEMA["properties"]["workload"], "1", "0 2 x"),
    (STEP["properties"]["tokens"], "1 8192 2.75 0.5 1000000000000", "0 0.0 -1 3% 1,000 x"),
    (STEP["properties"]["rate"], "699 27.3", "0 -1 fast 27.3tok"),
    (STEP["properties"]["time"], "23.3ms 11.72s 76us", "0s -1s 23 1h x"),
    (CALLS["properties"]["bytes"], "1 12288 12K 12KiB 96MiB", "0 12KB 96MB 1.5 x"),
    (CALLS["properties"]["count"], "1 120", "0 -1 1.5 x"),
    (CALLS["properties"]["collective"], "allreduce AllGather", "alltoall send all_reduce"),
)

# Whole steps, and whether the reader takes them: test/unit/workload_read.c.
STEPS = (
    ("{time: 20ms, under: {}}", True),
    ("{time: 20ms, tokens: 64, under: {}}", True),
    ("{tokens: 2.75, rate: 27.5, under: {NCCL_ALGO: ring}}", True),
    ("{rate: 43, under: {}}", False),
    ("{tokens: 1, rate: 43, time: 23ms, under: {}}", False),
    ("{tokens: 1, under: {}}", False),
    ("{time: 23ms}", False),
    ("{time: 1s, under: {nccl_algo: ring}}", False),
)


def check_values():
    for part, good, bad in VALUES:
        for word in good.split():
            check(takes(part, word) & {True}, f"{part['description']}: '{word}' is refused")
        for word in bad.split():
            check(takes(part, word) - {True}, f"{part['description']}: '{word}' is taken")
    for text, taken in STEPS:
        check(jsonschema.Draft7Validator(STEP).is_valid(load(text)) == taken, f"step {text}: taken is not {taken}")


run(SCHEMA, (check_files, check_keys, check_words, check_bounds, check_values))
