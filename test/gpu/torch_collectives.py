"""Two ranks issue collectives through PyTorch, eager and in CUDA graphs, and check every sum. Run by torch.sh."""
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

KIB, MIB = 1 << 10, 1 << 20
SIZES = [12 * KIB, 96 * KIB, 1 * MIB, 6 * MIB, 24 * MIB, 96 * MIB, 4 * KIB]


def check(tensor, value, what):
    if not bool((tensor == value).all()):
        sys.exit(f"wrong result: {what}")


def allreduce(bytes_, rank, captured):
    data = torch.full((bytes_ // 4,), float(rank + 1), device="cuda")
    if not captured:
        dist.all_reduce(data)
        check(data, 3.0, f"allreduce {bytes_}")
        return
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dist.all_reduce(data)
    for _ in range(3):
        data.fill_(rank + 1)
        graph.replay()
        torch.cuda.synchronize()
        check(data, 3.0, f"allreduce {bytes_} in a graph")


def others(rank):
    n = MIB // 4
    whole = torch.full((n,), float(rank + 1), device="cuda")
    part = torch.full((n // 2,), float(rank + 1), device="cuda")
    dist.all_gather_into_tensor(whole, part)
    check(whole[: n // 2], 1.0, "allgather")
    check(whole[n // 2 :], 2.0, "allgather")
    whole.fill_(rank + 1)
    dist.reduce_scatter_tensor(part, whole)
    check(part, 3.0, "reducescatter")
    whole.fill_(rank + 1)
    dist.broadcast(whole, 0)
    check(whole, 1.0, "broadcast")
    dist.reduce(whole, 0)
    if rank == 0:
        check(whole, 2.0, "reduce")


def run(rank):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    for captured in (False, True):
        print(f"phase {'graph' if captured else 'eager'}", flush=True)
        for size in SIZES:
            allreduce(size, rank, captured)
    print("phase others", flush=True)
    others(rank)
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    mp.spawn(run, nprocs=2)
    print("results right")
