"""Tables out of runs: a row is the median of its rounds."""
from statistics import median

MODES = {"cold": "cold", "warm": "from a full cache", "quarter": "cache of a quarter, second epoch"}


def text(results, contestants):
    m, job, runs = results["machine"], results["job"], results["runs"]
    parts = [f"{m['cpu']}; contestants on CPU {m['cpus']}, server on CPU {m['server_cpus']}; {m['system']}; vidrec {m['vidrec']}",
             f"{job['clips']:,} clips, {job['frames']:,} frames, {job['bytes'] / 1e9:.2f} GB of JPEGs, "
             f"{job['bytes'] / job['frames']:.0f} bytes a frame; peers' shards of {job['shard_bytes'] / 1e6:.0f} MB"]
    for mode, words in MODES.items():
        if own := [r for r in runs if r["mode"] == mode]:
            parts.append(f"### {words}\n\n" + table(own, contestants, local_speeds(runs)))
    return "\n\n".join([*parts, versions(runs)])


def rows_of_results(results, contestants):
    """Columns and rows, as benches/results has them. A cell of a run that failed says why."""
    local, rows = local_speeds(results["runs"]), []
    for c in contestants:
        if c.key in local:
            continue
        of = {mode: [r for r in results["runs"] if (r["contestant"], r["mode"]) == (c.key, mode)] for mode in MODES}
        if not of["cold"]:
            continue
        speeds = [round(median(r["frames_per_second"] for r in own)) if own else None for own in of.values()]
        first, memory = (median(r[key] for r in of["cold"]) for key in ("first_batch_seconds", "memory"))
        values = [round(local[c.local]) if c.local in local else None, *speeds, round(first, 1), round(memory / 1e9, 1)]
        rows.append({"name": c.name, "values": values, "notes": [None, *(note(c, mode, of[mode], results) for mode in MODES), None, None]})
    return ["local files", *MODES.values(), "first batch, cold", "memory"], rows


def note(c, mode, own, results):
    if own:
        beyond = mode == "quarter" and median(r["disk"] for r in own) > 0.3 * results["job"]["bytes"]
        return "with a cache beyond its limit" if beyond else None
    return next((f["why"].splitlines()[0][:40] for f in results["failed"] if (f["contestant"], f["mode"]) == (c.key, mode)), None)


def local_speeds(runs):
    """Of those who read files on this machine, by key."""
    found = {}
    for r in runs:
        if r["contestant"].endswith("-local"):
            found.setdefault(r["contestant"], []).append(r["frames_per_second"])
    return {key: median(speeds) for key, speeds in found.items()}


def table(runs, contestants, local):
    lines = ["| | workers | frames/s (least–most) | of local | first batch, s | bytes a frame | requests per 1000 frames "
             "| memory, MB | of it no files, MB | disk, MB |", "|---|---|---|---|---|---|---|---|---|---|"]
    for c, own in rows(runs, contestants):
        speeds = sorted(r["frames_per_second"] for r in own)
        middle = lambda value: median(map(value, own))  # noqa: E731
        lines.append(row(
            c.name, own[0]["workers"], f"{median(speeds):.0f} ({speeds[0]:.0f}–{speeds[-1]:.0f})",
            f"{100 * median(speeds) / local[c.local]:.0f} %" if c.local in local else "",
            f"{middle(lambda r: r['first_batch_seconds']):.2f}", f"{middle(lambda r: r['bytes'] / r['frames']):.0f}",
            f"{middle(lambda r: 1000 * r['requests'] / r['frames']):.2f}", *used(own)))
    return "\n".join(lines)


def rows(runs, contestants):
    found = [(c, [r for r in runs if r["contestant"] == c.key]) for c in contestants]
    return [(c, own) for c, own in found if own]


def used(own):
    return [f"{median(r[name] for r in own) / 1e6:.0f}" for name in ("memory", "own_memory", "disk")]


def row(*cells):
    return f"| {' | '.join(map(str, cells))} |"


def versions(runs):
    found = {}
    for r in runs:
        found |= r.get("versions", {})
    return ", ".join(f"{name} {version}" for name, version in sorted(found.items()))
