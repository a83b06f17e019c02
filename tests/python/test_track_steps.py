"""A number of values of a track, and values at times that are given, against the plain model of windows."""
import numpy as np
import pytest
from test_tracks import model, robot  # noqa: F401

import vidrec


def loader(path, tracks, **options):
    return vidrec.Loader(path, 2, crop=16, frames=vidrec.Run(4), tracks=tracks, shuffle=True, output="numpy", **options)


@pytest.mark.parametrize("how", ["nearest", "linear", "previous"])
@pytest.mark.parametrize("steps", [1, 5, range(-3, 4), range(2, 5)])
def test_steps_are_a_number_of_values_at_a_rate(robot, steps, how):  # noqa: F811
    offsets = np.arange(steps) if isinstance(steps, int) else np.array(steps)
    for batch in loader(robot, {"state": vidrec.track(steps=steps, rate=10, how=how)}):
        assert batch.tracks["state"].shape == (len(batch), len(offsets), 2)
        for i, clip in enumerate(batch.clips.tolist()):
            frame = round(batch.times[i][0] * 1e9)
            values, there = model(clip, how, frame + offsets * 100_000_000)
            np.testing.assert_array_equal(batch.track_masks["state"][i], there)
            np.testing.assert_array_equal(batch.tracks["state"][i], values)


def test_steps_of_a_track_with_a_rate_are_those_that_are_stored(robot):  # noqa: F811
    for batch in loader(robot, {"sound": vidrec.track(steps=range(-2, 250))}):
        assert batch.tracks["sound"].shape == (len(batch), 252)
        for i, clip in enumerate(batch.clips.tolist()):
            at = round(batch.times[i][0] * 1000) + np.arange(-2, 250)
            there = (at >= 0) & (at < 2000)
            np.testing.assert_array_equal(batch.track_masks["sound"][i], there)
            np.testing.assert_array_equal(batch.tracks["sound"][i], np.where(there, at + clip, 0))
    with pytest.raises(vidrec.UsageError, match="rate"):
        loader(robot, {"state": vidrec.track(steps=5)})


@pytest.mark.parametrize("anchor", ["current", "last", "each"])
def test_times_count_from_a_frame(robot, anchor):  # noqa: F811
    times = [0.25, -0.1, 0]
    for batch in loader(robot, {"state": vidrec.track(times=times, anchor=anchor)}):
        for i, clip in enumerate(batch.clips.tolist()):
            frames = np.rint(batch.times[i] * 1e9).astype(np.int64)
            at = {"current": frames[0], "last": frames[-1], "each": frames[:, None]}[anchor]
            values, there = model(clip, "nearest", at + np.rint(np.array(times) * 1e9).astype(np.int64))
            np.testing.assert_array_equal(batch.track_masks["state"][i], there)
            np.testing.assert_array_equal(batch.tracks["state"][i], values)
