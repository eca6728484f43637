"""
What finished profiles decide against what is true: sizewise calibrate on simulated clusters with 5% noise, many seeds,
held against the simulator's times without noise (calibrate_truth), at the sizes that were measured and between them.

A decision is right when it takes at most 2% more than the fastest there is, or is what the rule makes of the true
times: auto, where nothing gains min_gain. A false gain is a choice where nothing is faster than auto. A small gain is
one of 3% to 6%: about what two spreads of 40 samples leave open. SHOW=1 names each decision that is not right.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

SOURCE = os.environ['SW_TEST_SOURCE']
COMMAND = os.environ['SW_BUILD'] + '/sizewise'
TRUTH = os.environ['SW_TEST_BUILD'] + '/calibrate_truth'
SEEDS = 3 if os.environ.get('SW_SANITIZE') else 20
MIN_GAIN = 0.03
SMALL_GAIN = 0.06
EQUAL = 1.02
BETWEEN = 3  # sizes between two measured ones
SOME = ('allreduce,allgather,broadcast', 'allreduce,reducescatter,reduce')  # seeds in turn

# name, profile, nodes, ranks, collectives, sizes
CLUSTERS = [
    ('gb10-roce-8x1', SOURCE + '/profiles/gb10-roce-8x1.yaml', 8, 8, ('allreduce',), '12KiB..96MiB'),
    ('small-gains-4x1', SOURCE + '/test/fixtures/cli/small_gains.yaml', 4, 4, SOME, '4KiB..16MiB'),
]
LEAST_RIGHT = {'measured': 0.98 if SEEDS >= 20 else 0.95, 'between': 0.88}  # one in 80 sizes is no share of 2%
MOST_FALSE = 0.01
BUDGET = '19s'  # below this much our plugin is not compared with no tuner, which takes many starts

UNITS = {'': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}


def environment():
    kept = {key: value for key, value in os.environ.items() if not key.startswith('NCCL_')}
    return dict(kept, NCCL_SIZEWISE_PATH='/no/such/folder')


def run(*words, stdin=None):
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, env=environment(), timeout=100)
    if done.returncode != 0:
        sys.exit(f'{" ".join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


def bytes_of(size):
    number, unit = re.fullmatch(r'(\d+)(\D*)', str(size)).groups()
    return int(number) * UNITS[unit]


def between(measured):
    """Sizes that were not measured, evenly in the logarithm, each split among all ranks."""
    for left, right in zip(measured, measured[1:]):
        for i in range(1, BETWEEN + 1):
            yield int(left * (right / left) ** (i / (BETWEEN + 1))) // 32 * 32


def decisions(profile):
    """(collective, bytes) -> decided, and whether it was measured."""
    with open(profile) as file:
        tables = yaml.safe_load(file)['tables']
    found = {}
    for table in tables:
        measured = [bytes_of(point['bytes']) for point in table['points']]
        sizes = sorted(set(measured) | set(between(measured)))
        words = [word for size in sizes for word in ('--bytes', str(size))]
        told = json.loads(run(COMMAND, 'explain', profile, '--json', '--collective', table['collective'], *words))
        for size in told['sizes']:
            choice = f"{size['algo'] or 'auto'}+{size['proto'] or 'auto'}/{size['channels'] or 0}"
            found[table['collective'], size['bytes']] = (choice, size['bytes'] in measured)
    return found


def truths(profile, seed, nodes, ranks, calls):
    lines = ''.join(f'{collective} {size}\n' for collective, size in calls)
    for line in run(TRUTH, profile, str(seed), str(nodes), str(ranks), stdin=lines).splitlines():
        collective, size, *times = line.split()
        pairs = (word.split('=') for word in times)
        yield (collective, int(size)), {choice: float(us) for choice, us in pairs}


class Score:
    def __init__(self):
        self.sizes = self.right = self.without_gain = self.false = self.small = self.small_found = 0
        self.loss = []

    def take(self, choice, times):
        own, best = times['auto+auto/0'], min(times.values())
        without_gain = best >= own
        nothing_by_rule = choice == 'auto+auto/0' and best > own * (1 - MIN_GAIN)
        right = times[choice] <= best * EQUAL or nothing_by_rule
        false = without_gain and choice != 'auto+auto/0'
        small = MIN_GAIN <= 1 - best / own < SMALL_GAIN
        self.small += small
        self.small_found += small and right
        self.sizes += 1
        self.right += right
        self.without_gain += without_gain
        self.false += false
        self.loss.append(times[choice] / best - 1)
        return right and not false


def calibrate(cluster, seed, folder):
    name, profile, nodes, ranks, collectives, sizes = cluster
    out = f'{folder}/{name}-{seed}.yaml'
    run(COMMAND, 'calibrate', '--simulate', profile, '--seed', str(seed), '--sizes', sizes, '--budget', BUDGET,
        '--collective', collectives[seed % len(collectives)], '-o', out)
    decided = decisions(out)
    return seed, decided, list(truths(profile, seed, nodes, ranks, decided))


def judge(seed, decided, true, scores):
    for call, times in true:
        choice, measured = decided[call]
        good = scores['measured' if measured else 'between'].take(choice, times)
        if not good and os.environ.get('SHOW'):
            best = min(times, key=times.get)
            print(f'  seed {seed}: {call[0]} {call[1]}{"" if measured else " (between)"}: {choice} {times[choice]:.5g}, '
                  f'auto {times["auto+auto/0"]:.5g}, {best} {times[best]:.5g}')


def report(name, kind, score):
    right = score.right / score.sizes
    false = score.false / score.without_gain if score.without_gain else 0
    loss = sum(score.loss) / len(score.loss)
    print(f'{name}, {SEEDS} seeds, {kind}: {score.sizes} sizes, {right:.2%} right or within 2% (of small gains '
          f'{score.small_found} of {score.small}), {loss:.2%} slower than the fastest on average, {max(score.loss):.1%} '
          f'at worst; {score.false} false gains among {score.without_gain}')
    return right >= LEAST_RIGHT[kind] and false <= MOST_FALSE


def main():
    good = True
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for cluster in CLUSTERS:
            scores = {'measured': Score(), 'between': Score()}
            for result in pool.map(lambda seed: calibrate(cluster, seed, folder), range(1, SEEDS + 1)):
                judge(*result, scores)
            for kind, score in scores.items():
                good = report(cluster[0], kind, score) and good
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
