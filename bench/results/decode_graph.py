"""
What a decode step spends in its all-reduces: 158 of 12 KiB (bf16) in one CUDA graph, as PyTorch captures them, over all
GPUs of this machine. Prints one line: the median, the quartiles and n of the slowest rank's time for a whole step.

    decode_graph.py LABEL           # NCCL's environment is the caller's
"""
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

CALLS = 158
BYTES = 12288
WARM = 20
ROUNDS = 200


def capture(buffer):
    for _ in range(5):
        dist.all_reduce(buffer)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            dist.all_reduce(buffer)
    return graph


def step_us(graph, aligned):
    """One replay behind a call that aligns the ranks."""
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    dist.all_reduce(aligned)
    before.record()
    graph.replay()
    after.record()
    torch.cuda.synchronize()
    return before.elapsed_time(after) * 1000


def rank_main(rank, ranks, port, label):
    torch.cuda.set_device(rank)
    dist.init_process_group('nccl', init_method=f'tcp://127.0.0.1:{port}', rank=rank, world_size=ranks,
                            device_id=torch.device('cuda', rank))
    graph = capture(torch.zeros(BYTES // 2, dtype=torch.bfloat16, device='cuda'))
    aligned = torch.zeros(1, device='cuda')
    times = torch.tensor([step_us(graph, aligned) for _ in range(WARM + ROUNDS)][WARM:], device='cuda')
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    if rank == 0:
        low, median, high = statistics.quantiles(times.tolist(), n=4)
        print(f'{label}\t{ranks}\t{median:.1f}\t{low:.1f}\t{high:.1f}\t{ROUNDS}', flush=True)
    graph.reset()  # NCCL does not end a communicator that a graph still refers to
    dist.destroy_process_group()


if __name__ == '__main__':
    count = torch.cuda.device_count()
    mp.spawn(rank_main, args=(count, 20000 + os.getpid() % 20000, sys.argv[1]), nprocs=count)
