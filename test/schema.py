#!/usr/bin/python3
"""profiles/schema.json against the reader: the same keys, words and bounds, read from the C sources; every shipped
profile and every good fixture validates; of the bad fixtures those that say in their first line that the schema sees
them are refused, and those that say that it cannot are taken (if they are YAML of one document at all).

Needs python3-yaml and python3-jsonschema. Run in the repository's root, or with SW_TEST_SOURCE set to it.
"""
import glob
import json
import os
import re
import sys

import jsonschema
import yaml

ROOT = os.environ.get("SW_TEST_SOURCE", ".")
failures = []


def check(good, words):
    if not good:
        failures.append(words)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


# --- YAML as editors read it: the core schema of YAML 1.2, without dates and without "yes" for true


class Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}


CORE = {
    "null": (r"~|null|Null|NULL|", "~nN\0"),
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?[0-9]+", "-+0123456789"),
    "float": (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
}
for name, (pattern, first) in CORE.items():
    letters = [""] + list(first) if "\0" in first else list(first)
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + name, re.compile("^(?:" + pattern + ")$"), letters)
Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))
Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))


def load(text):
    return yaml.load(text, Loader)


SCHEMA = json.loads(read("profiles/schema.json"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def first_error(value):
    error = next(VALIDATOR.iter_errors(value), None)
    return f"{'/'.join(map(str, error.absolute_path))}: {error.message}" if error else None


# --- files


def check_files():
    good = glob.glob(os.path.join(ROOT, "profiles/*.yaml"))
    good += glob.glob(os.path.join(ROOT, "test/fixtures/profiles/good-*.yaml"))
    check(len(good) >= 12, f"{len(good)} good profiles: where are the others?")
    for path in sorted(good):
        with open(path, encoding="utf-8") as file:
            error = first_error(load(file.read()))
        check(not error, f"{path} is refused: {error}")


def outcome_of(text):
    try:
        return "sees it" if first_error(load(text)) else "cannot see it"
    except yaml.YAMLError:
        return "not YAML"


def check_bad_fixtures():
    outcomes = {"sees it": 0, "cannot see it": 0, "not YAML": 0}
    for path in sorted(glob.glob(os.path.join(ROOT, "test/fixtures/profiles/bad-*.yaml"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        said = re.match(r"# Bad: .*\. Schema: (sees it|cannot see it|not YAML)( of one document)?\.\n", text)
        check(said, f"{path}: the first line has to say what is bad and whether the schema sees it")
        if not said:
            continue
        outcomes[said[1]] += 1
        check(outcome_of(text) == said[1], f"{path} says '{said[1]}', but: {outcome_of(text)}")
    check(all(outcomes.values()), f"bad fixtures of one kind are missing: {outcomes}")


# --- the reader's tables, from its sources

READER = "".join(read("plugin/profile/" + name) for name in ("read.c", "read.h", "read_choice.c", "read_tables.c"))
NAMES = read("plugin/ground/names.c")
FIELD = re.compile(r'\{\s*"(\w+)",\s*\w+,\s*(true|false)\s*\}')


def constant(name, text):
    return int(re.search(rf"\b{name} = (\d+)", text)[1])


def fields(array, reader=READER):
    """Keys and required keys of a table of fields; SW_CHOICE_FIELDS stands for the choice's."""
    body = re.search(rf"sw_field {array}\[\] = \{{(.*?)\}};", reader, re.S)[1]
    if "SW_CHOICE_FIELDS" in body:
        body += re.search(r"#define SW_CHOICE_FIELDS(.*?)\nvoid", READER, re.S)[1].replace("\\\n", " ")
    pairs = FIELD.findall(body)
    return {key for key, _ in pairs}, {key for key, required in pairs if required == "true"}


def vocabulary(name):
    body = re.search(rf"VOCABULARY\({name},.*?\);", NAMES, re.S)[0]
    return re.findall(r'\{"(\w+)",', body)


def at(*path):
    """A part of the schema; $ref is followed."""
    part = SCHEMA
    for key in path:
        part = part[key]
        if "$ref" in part:
            part = SCHEMA["definitions"][part["$ref"].rsplit("/", 1)[1]]
    return part


TABLE = ("properties", "tables", "items")
POINT = TABLE + ("properties", "points", "items")
TIME = POINT + ("properties", "times", "items")
RULE = ("properties", "rules", "items")

MAPPINGS = {
    "profile_fields": (),
    "provenance_fields": ("properties", "provenance"),
    "match_fields": ("properties", "match"),
    "fields": ("properties", "policy"),
    "table_fields": TABLE,
    "point_fields": POINT,
    "time_fields": TIME,
    "ran_fields": TIME + ("properties", "ran"),
    "rule_fields": RULE,
}


def check_keys():
    for array, path in MAPPINGS.items():
        keys, required = fields(array)
        mapping = at(*path)
        check(keys, f"{array}: no keys found in the sources")
        check(set(mapping["properties"]) == keys, f"{array}: {sorted(set(mapping['properties']) ^ keys)}")
        check(set(mapping.get("required", [])) == required, f"{array} requires {required}")
        check(mapping["additionalProperties"] is False, f"{array}: other keys are taken")
    check(len(re.findall(r"sw_field \w+\[\] =", READER)) == len(MAPPINGS), "a table of fields is not compared here")


def check_words():
    places = {
        "sw_collectives": [TABLE + ("properties", "collective"), RULE + ("properties", "collective")],
        "sw_algorithms": [TIME + ("properties", "algo"), RULE + ("properties", "algo")],
        "sw_protocols": [TIME + ("properties", "proto"), RULE + ("properties", "proto")],
        "sw_kinds": [("properties", "provenance", "properties", "kind")],
        "sw_nets": [("properties", "match", "properties", "net")],
        "auto": [TIME + ("properties", "choice"), RULE + ("properties", "choice")],
    }
    for name, paths in places.items():
        words = ["auto"] if name == "auto" else vocabulary(name)
        check(words, f"{name}: no words found in the sources")
        if name in ("sw_algorithms", "sw_protocols"):
            words = words + ["auto"]
        for path in paths:
            listed, pattern = at(*path)["anyOf"]
            check(listed["enum"] == words, f"{name}: {listed['enum']}, not {words}")
            for word in words:
                for spelt in (word, word.upper(), word.capitalize()):
                    check(re.search(pattern["pattern"], spelt), f"{name}: {spelt} is refused")
                for spelt in (word[:-1], word + "x", " " + word, "x" + word):
                    check(spelt in words or not re.search(pattern["pattern"], spelt), f"{name}: {spelt} is taken")


def check_bounds():
    """Bounds that the sources give as numbers, against minimum and maximum."""
    ranks = constant("MOST_RANKS", READER)
    channels = constant("NCCL_MAX_CHANNELS", read("include/nccl_tuner.h"))
    match = re.search(r"sw_value_whole\(reader, node, node->key->word, 1, (\d+)", READER)
    samples = re.search(r'sw_value_whole\(reader, node, "samples", 1, (\d+)', READER)
    bounds = {
        TABLE + ("properties", "nodes"): (1, ranks),
        TABLE + ("properties", "ranks"): (1, ranks),
        RULE + ("properties", "nodes"): (1, ranks),
        RULE + ("properties", "ranks"): (1, ranks),
        TIME + ("properties", "channels"): (1, channels),
        TIME + ("properties", "samples"): (1, int(samples[1])),
        ("properties", "match", "properties", "net_gbps"): (1, int(match[1])),
        ("properties", "match", "properties", "nvlink_domains"): (1, int(match[1])),
    }
    for path, (least, most) in bounds.items():
        part = at(*path)
        check((part["minimum"], part["maximum"]) == (least, most), f"{path[-1]}: not {least} to {most}")
        for number, taken in ((least - 1, False), (least, True), (most, True), (most + 1, False)):
            for text in (str(number), "00" + str(number)):
                check(bool(re.search(part["pattern"], text)) == taken, f"{path[-1]}: '{text}' taken is not {taken}")
    settings = constant("MOST_SETTINGS", READER)
    check(at("definitions", "settings")["maxProperties"] == settings, f"settings: not {settings} at most")
    longest = constant("LONGEST_NAME", read("plugin/profile/fields.c"))
    for length, taken in ((1, True), (longest, True), (longest + 1, False)):
        check(bool(re.search(at("properties", "name")["pattern"], "n" * length)) == taken, f"a name of {length}")
    largest = re.search(r"SW_LARGEST_BYTES \(UINT64_C\(1\) << (\d+)\)", read("plugin/ground/number.h"))
    check(at(*POINT, "properties", "bytes")["maximum"] == 1 << int(largest[1]), "bytes: another largest size")


# --- values: what the unit tests of the reader take and refuse, as far as a pattern can tell

VALUES = {
    ("properties", "name"): ("a 4x.b-c_D n64 7", "-a .a _a a/b a\u00a0b \u00e4"),
    ("properties", "match", "properties", "nccl"): ("2 2.28 2.28.9 580.95.05", ".1 2. 2..28 v2 2.x"),
    ("properties", "policy", "properties", "min_gain"): (
        "0 0% 3% 0.03 2.5% 99% 99.0% 98.9% 0.99 0.9 0.985 0.990 00.1", "3 100% 99.1% 0.991 1 1.0 -3% 1e-2 3%% x"),
    ("properties", "policy", "properties", "reach"): (
        "1 2 1.5 150% 100% 1000 1000.0 999.9 100000% 02", "0 0.5 0.99999999 99% 1000.1 1001 100001% x 2x"),
    ("properties", "policy", "properties", "max_extra_memory"): ("0 1GiB 512M 1073741824 1.5G 8k", "1GB 1MB x -1 1T"),
    POINT + ("properties", "bytes"): (
        "1 12288 12K 12k 12KiB 12kib 12B 1.5K 0.5M 6MiB 2g 1024m", "0 0K 0.0K 12KB 6mb 2GB 12X 12Ki 1e3 .5K 1.K -1 K"),
    TIME + ("properties", "median"): ("76us 13.4us 1.14ms 2s 2S 76US 0.1us", "76 0us 0.0ms 76ns -1us us 1e3us 1h"),
    TIME + ("properties", "spread"): ("0 0% 2% 0.02 1 1.0 0.99 100% 99.9%", "2 1.1 101% 100.1% 1000% -1 2us"),
    RULE + ("properties", "bytes"): (
        "0 1K 64KiB..1MiB ..1M 1M.. 0.. 1.5K..2K", ".. 1K..2KB 1K...2K 1K-2K x..2K 1K..2K..3K all"),
    ("properties", "provenance", "properties", "source"): ("x yes 1e3 2026-10-28", ""),
}


def takes(part, word):
    """As a value of YAML, quoted and not."""
    return {jsonschema.Draft7Validator(part).is_valid(value) for value in (word, load(word))}


def check_values():
    for path, (good, bad) in VALUES.items():
        for word in good.split():
            check(takes(at(*path), word) == {True}, f"{path[-1]}: '{word}' is refused")
        for word in bad.split(" "):
            check(takes(at(*path), word) - {True}, f"{path[-1]}: '{word}' is taken")
    names = at("definitions", "settings", "propertyNames")["pattern"]
    for word, taken in (("NCCL_A", 1), ("_A1", 1), ("A" * 64, 1), ("A" * 65, 0), ("nccl", 0), ("1A", 0), ("A-B", 0)):
        check(bool(re.search(names, word)) == bool(taken), f"settings: {word}")


def run(schema, tests):
    """Ends the program: 1, with every failure on stderr, when there is one."""
    jsonschema.Draft7Validator.check_schema(schema)
    for test in tests:
        test()
    for failure in failures:
        print(os.path.basename(sys.argv[0]) + ":", failure, file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    run(SCHEMA, (check_files, check_bad_fixtures, check_keys, check_words, check_bounds, check_values))
