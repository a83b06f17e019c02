"""A flipped byte of a data set is found, named and repaired."""
import shutil

from edit import of
from machine import check


def damage(machine, reader, path, clips):
    """One bit of one file. Clips that can still be read are saved as they were; the others are named."""
    rng = machine.rng
    broken, saved = machine.path("broken"), machine.path("saved")
    shutil.copytree(path, broken)
    names = sorted(p for p in broken.iterdir() if p.suffix in (".rec", ".vidx", ".json") and p.stat().st_size)
    victim = rng.choice(names)
    content = bytearray(victim.read_bytes())
    at = rng.randrange(len(content))
    content[at] ^= 1 << rng.randrange(8)
    victim.unlink()
    victim.write_bytes(content)
    what = f"bit of byte {at} of {victim}"
    found = machine.vidrec("verify", broken, "--json", allowed=(0, 1, 3))
    if found.status == 0:
        # What dataset.json says of where the videos were is for people: no index has it.
        check(victim.suffix == ".json", f"{what}: `vidrec verify` finds nothing")
        machine.counts["flipped bits in text that verify passes"] += 1
        return
    # In dataset.json, it may be in the name of a file, which is then missing.
    is_named = victim.suffix == ".json" or victim.name in found.out + found.err
    check(is_named, f"{what}: verify does not name the file: {found.out} {found.err}")
    repaired = machine.vidrec("repair", broken, "-o", saved, "--json", allowed=(0, 1, 3))
    check(repaired.status != 1 or not saved.exists(), f"{what}: repair failed and left {saved}")
    check(repaired.status != 1 or victim.suffix == ".json", f"{what}: repair fails: {repaired.err}")
    machine.counts["flipped bits found"] += 1
    # A data set of one shard is lost with its index.
    if repaired.status == 1 or not saved.exists():
        return
    machine.vidrec("verify", "--deep", saved)
    got = reader.clips(saved)
    names = ("source", "class", "pts", "jpegs")
    strange = {*of(got, *names)} - {*of(clips, *names)}
    check(not strange, f"{what}: repair saved clips that never were: {strange}")
    lost = len(clips) - len(got)
    # All draws of a video go with one of them, and the clips of a shard with its index.
    draws = 1 + max(clip["attributes"].get("draw", 0) for clip in clips)
    check(lost <= draws or victim.suffix == ".vidx", f"{what}: repair lost {lost} clips for one bit; a video has {draws} draws")
    machine.counts["clips lost to a flipped bit"] += lost


def step(machine, reader, path, clips):
    for _ in range(3):
        damage(machine, reader, path, clips)
