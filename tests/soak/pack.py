"""A pack that is killed again and again has the bytes of one that nobody disturbed."""
import inputs
from machine import check, same_files

CLASSES = ["falls", "jumps", "runs"]
DONE = (0, 3)


def options(rng, draws):
    """Random options that determine the bytes."""
    how = "draws" if draws > 1 else rng.choice(["count", "fps", "every", "all"])
    given = {
        "count": ["--frames", rng.choice([2, 4, 8]), "--sample", rng.choice(["uniform", "endpoints", "clip:2"])],
        "draws": ["--frames", 4, "--sample", rng.choice(["random", "random-clip"]), "--draws", draws, "--seed", rng.randrange(100)],
        "fps": ["--fps", "30000/3003", "--max-frames", 12],
        "every": ["--every", rng.choice([3, 7]), "--max-frames", 12, "--cut"],
        "all": ["--all", "--max-frames", rng.choice([6, 12])],
    }[how]
    given += ["--size", rng.choice(["64", "96x72", "128:enlarge"]), "--shards", rng.choice(["1", "3", "each:2", "60kB"])]
    given += ["--quality", rng.choice(["75", "90"]), "--effort", rng.choice([0, 1, 1])]
    return given + rng.choice([[], ["--shuffle-seed", 5], ["--audio", "16000:opus"], ["--decode-all"]])


def pack(machine, pool, name, kills, draws):
    """A data set that was packed with so many kills at most."""
    rng = machine.rng
    videos = inputs.some(machine, pool, CLASSES, name + "-videos")
    given = options(rng, draws)
    plain, out = machine.path(name + "-plain"), machine.path(name)
    done = machine.vidrec("pack", videos, "-o", plain, *given, "-j", 1, allowed=DONE)
    for _ in range(kills):
        killed = machine.vidrec("pack", videos, "-o", out, *given, "-j", rng.choice([1, 2, 3]),
                                "--if-exists", "resume", allowed=DONE, kill_within=done.seconds * 1.1)
        if not killed.was_killed:
            break
    again = machine.vidrec("pack", videos, "-o", out, *given, "-j", 2, "--if-exists", "resume",
                           *(["--no-isolate"] if rng.random() < 0.2 else []), allowed=DONE)
    check(again.status == done.status, f"`{again.command}` ended with {again.status}, undisturbed with {done.status}")
    same_files(out, plain)
    machine.vidrec("verify", "--deep", out)
    machine.counts["packs"] += 1
    return out


def step(machine, pool):
    """Three data sets with the same classes and numbers of draws."""
    draws = machine.rng.choice([1, 1, 1, 2, 3])
    return [pack(machine, pool, name, machine.rng.randint(0, 4), draws) for name in ("first", "second", "third")]
