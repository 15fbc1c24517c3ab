"""The peak memory of one contestant at one task, in a process of its own.

python -m benchmarks.memory SIZES_AS_JSON CONTESTANT TASK THREADS
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.setting import Setting, Sizes

TASKS = {"train": "update", "greedy": "greedy"}


def peak(sizes: Sizes, contestant: str, task: str, threads: int, folder: Path) -> dict[str, float]:
    """Megabytes: `before` the task, with everything loaded, and the `peak` of the process.

    Raises:
        RuntimeError: the process failed; with what it said.
    """
    arguments = [json.dumps(asdict(sizes)), contestant, task, str(threads), str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", *arguments],
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Measuring the memory of {contestant} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def megabytes() -> float:
    """The peak memory of this process so far."""
    try:
        # Not getrusage: on Linux, a new process begins with the peak of the one that started it.
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        kilobytes = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
        return round(int(kilobytes) * 1024 / 1e6, 1)
    except OSError:
        import resource

        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 1)  # macOS: bytes


def main(sizes: str, contestant: str, task: str, threads: str, folder: str) -> None:
    import torch

    from benchmarks.contestants import EVERY

    torch.set_num_threads(int(threads))
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(sizes).items()}
    setting = Setting(Sizes(**values), Path(folder))
    kind = next(kind for kind in EVERY if kind.name == contestant)
    runner = kind(setting, dropout=setting.sizes.dropout if task == "train" else 0.0)
    if task == "train":
        runner.prepare()
        inputs = setting.train_batches(3)
    else:
        inputs = setting.sources[-3:] if kind.batched else setting.single_sources[-3:]
    before = megabytes()
    for x in inputs:
        getattr(runner, TASKS[task])(x)
    print(json.dumps({"before": before, "peak": megabytes()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
