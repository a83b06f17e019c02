"""Edits beside a plain model, the list of the clips. One that is killed leaves the old data set or the new one."""
import json
import shutil
from collections import Counter

from machine import check, same_files

COPIED = ("source", "class", "attributes", "pts", "tracks", "jpegs")


def of(clips, *names):
    """The clips as their model has them, in these respects."""
    return [json.dumps([clip[name] for name in names or COPIED], sort_keys=True) for clip in clips]


def same_clips(command, found, expected):
    found, expected = of(found), of(expected)
    where = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), min(len(found), len(expected)))
    check(found == expected, f"`{command}`: {len(found)} clips, expected {len(expected)}; the first that differs is {where}: "
                             f"found {found[where:where + 1]}, expected {expected[where:where + 1]}")


class Editor:
    """A data set and its model, and random changes to both."""

    def __init__(self, machine, reader, sets):
        self.machine, self.reader, self.rng = machine, reader, machine.rng
        self.path, *self.others = sets
        self.clips = reader.clips(self.path)

    def _written(self, name, command, expected):
        """Runs a command without and with kills. The new data set replaces the one before it."""
        machine, out = self.machine, self.machine.path(name)
        done = machine.vidrec(*command, "-o", out)
        same_clips(done.command, self.reader.clips(out), expected)
        machine.vidrec("verify", "--deep", out)
        if self.rng.random() < 0.6:
            self._killed(done.seconds, command, out)
        machine.counts[f"edits: {name}"] += 1
        self.path, self.clips = out, self.reader.clips(out)

    def _killed(self, seconds, command, new):
        """After each kill, a copy of what was there before is still that or the new one; in the end it is the new one."""
        target = self.machine.path("target")
        shutil.copytree(self.path, target)
        for _ in range(self.rng.randint(1, 3)):
            done = self.machine.vidrec(*command, "-o", target, "--overwrite", kill_within=seconds * 1.1)
            self._old_or_new(done.command, target, of(self.clips), of(self.reader.clips(new)))
        self.machine.vidrec(*command, "-o", target, "--overwrite")
        same_files(target, new)

    def _old_or_new(self, command, target, old, new):
        self.machine.vidrec("verify", "--deep", target)
        found = of(self.reader.clips(target))
        check(found in (old, new), f"`{command}` was killed, and {target} is neither the old nor the new")
        self.machine.counts["edits killed"] += 1

    def subset(self):
        # All draws of a video, or none.
        sources = sorted({clip["source"] for clip in self.clips})
        some = sources if len(sources) < 3 else self.rng.sample(sources, self.rng.randint(2, len(sources)))
        taken = [i for i, clip in enumerate(self.clips) if clip["source"] in some]
        numbers = ",".join(map(str, taken))
        shards = ["--shards", self.rng.choice([1, 2])] if self.rng.random() < 0.5 else []
        self._written("subset", ["subset", self.path, "--clips", numbers, *shards], [self.clips[i] for i in taken])

    def merge(self):
        other = self.rng.choice(self.others)
        self._written("merge", ["merge", self.path, other], self.clips + self.reader.clips(other))

    def split(self):
        """The parts have every clip once, whole sources each, in order; then merged again."""
        out, ratio = self.machine.path("parts"), self.rng.choice(["0.5,0.5", "0.7,0.3", "0.4,0.3,0.3"])
        names = ["a", "b", "c"][: ratio.count(",") + 1]
        command = ["split", self.path, "-o", out, "--ratio", ratio, "--names", ",".join(names), "--seed", self.rng.randrange(9)]
        done = self.machine.vidrec(*command)
        parts = {name: self.reader.clips(out / name) for name in names if (out / name / "dataset.json").exists()}
        all_clips = [clip for part in parts.values() for clip in part]
        check(Counter(of(all_clips)) == Counter(of(self.clips)), f"`{done.command}`: the parts are not the clips of the whole")
        places = {name: {clip["source"] for clip in part} for name, part in parts.items()}
        shared = [source for source, count in Counter(s for part in places.values() for s in part).items() if count > 1]
        check(not shared, f"`{done.command}`: clips of {shared} are in several parts")
        self._written("merge of parts", ["merge", *(out / name for name in parts)], all_clips)

    def append(self):
        """In place: killed, repeated, and repeated once more, which changes nothing."""
        base, other = self.machine.path("appended"), self.rng.choice(self.others)
        more = self.reader.clips(other)
        # It refuses classes that are not there, and does not add again what it has added.
        if not {clip["class"] for clip in more} <= {clip["class"] for clip in self.clips} or {*of(more)} & {*of(self.clips)}:
            return
        shutil.copytree(self.path, base)
        old, new = of(self.clips), of(self.clips + more)
        command = ["merge", other, "--append", "-o", base]
        for _ in range(self.rng.randint(0, 2)):
            done = self.machine.vidrec(*command, kill_within=0.3)
            self._old_or_new(done.command, base, old, new)
        for _ in range(2):
            done = self.machine.vidrec(*command)
            same_clips(done.command, self.reader.clips(base), self.clips + more)
        self.machine.counts["edits: append"] += 1
        self.path, self.clips = base, self.reader.clips(base)


def step(machine, reader, sets):
    """Random edits, one after another."""
    editor = Editor(machine, reader, sets)
    edits = [editor.subset, editor.merge, editor.split, editor.append]
    for edit in machine.rng.choices(edits, k=machine.rng.randint(3, 6)):
        edit()
    return editor.path, editor.clips
