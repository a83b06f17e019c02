"""A pack that is killed again and again has the bytes of one that nobody disturbed."""
from inputs import Inputs
from machine import check, same_files

CLASSES = ["falls", "jumps", "runs"]
DONE = (0, 3)


def options(rng, draws):
    """Random options that determine the bytes."""
    given = []
    how = rng.choice(["draws"] if draws > 1 else ["count", "draws", "fps", "every", "all", "keyframes"])
    if how == "count":
        given += ["--frames", rng.choice([2, 4, 8]), "--sample", rng.choice(["uniform", "endpoints", "clip", "clip:2"])]
        given += ["--short", rng.choice(["repeat-last", "loop", "skip"])]
    elif how == "draws":
        given += ["--frames", rng.choice([2, 4]), "--sample", rng.choice(["random", "random-clip"]),
                  "--draws", draws, "--seed", rng.randrange(100)]
    else:
        given += {"fps": ["--fps", rng.choice(["4", "30000/3003"])], "every": ["--every", rng.choice([3, 7])],
                  "all": ["--all"], "keyframes": ["--keyframes"]}[how]
        given += ["--max-frames", rng.choice([6, 12])] + (["--cut"] if rng.random() < 0.3 else [])
    given += ["--size", rng.choice(["64", "96", "128", "96x72", "128:enlarge"])]
    given += ["--quality", rng.choice(["75", "90", "psnr:38"]), "--effort", rng.choice([0, 1, 1])]
    given += ["--shards", rng.choice(["1", "2", "3", "each:2", "60kB"])]
    if rng.random() < 0.3:
        given += ["--shuffle-seed", rng.randrange(100)]
    if rng.random() < 0.3:
        given += ["--audio", rng.choice(["8000", "16000:opus", "8000:raw"])]
    if rng.random() < 0.2:
        given += ["--decode-all"]
    return given


def pack(machine, pool, name, kills, draws):
    """A data set that was packed with so many kills at most."""
    rng = machine.rng
    inputs = Inputs(machine, pool, CLASSES, name + "-videos")
    given = options(rng, draws)
    plain, out = machine.path(name + "-plain"), machine.path(name)
    done = machine.vidrec("pack", inputs.argument, "-o", plain, *given, "-j", 1, allowed=DONE)
    for _ in range(kills):
        killed = machine.vidrec("pack", inputs.argument, "-o", out, *given, "-j", rng.choice([1, 2, 3]),
                                "--if-exists", "resume", allowed=DONE, kill_within=done.seconds * 1.1)
        if not killed.was_killed:
            break
    again = machine.vidrec("pack", inputs.argument, "-o", out, *given, "-j", 2, "--if-exists", "resume",
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
