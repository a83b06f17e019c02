"""Stored values of a track in a row, and values at times that are given, against those that the clip has."""
import numpy as np
import pytest
from test_tracks import robot, state_of  # noqa: F401

import vidrec


def loader(path, track, **options):
    return vidrec.Loader(path, 2, crop=16, tracks={"state": track}, output="numpy", **options)


def at(clip, seconds):
    """The stored value that stands for a time: the nearest one."""
    times, _ = state_of(clip)
    return int(np.abs(times - round(seconds * 1e9)).argmin())


@pytest.mark.parametrize("steps", [1, 5, range(-3, 4), range(2, 5)])
def test_steps_are_stored_values_in_a_row(robot, steps):  # noqa: F811
    offsets = np.arange(steps) if isinstance(steps, int) else np.array(steps)
    for batch in loader(robot, vidrec.track(steps=steps), frames=vidrec.Run(4), shuffle=True):
        assert batch.tracks["state"].shape == (len(batch), len(offsets), 2)
        for i, clip in enumerate(batch.clips.tolist()):
            _, values = state_of(clip)
            wanted = at(clip, batch.times[i][0]) + offsets
            there = (wanted >= 0) & (wanted < len(values))
            np.testing.assert_array_equal(batch.track_masks["state"][i], there)
            np.testing.assert_array_equal(batch.tracks["state"][i][there], values[wanted[there]])
            assert not batch.tracks["state"][i][~there].any()


def test_times_count_from_each_frame(robot):  # noqa: F811
    times = [-0.1, 0.0, 0.25]
    track = vidrec.track(times=times, anchor="each")
    for batch in loader(robot, track, frames=vidrec.Run(3)):
        assert batch.tracks["state"].shape == (len(batch), 3, 3, 2)
        for i, clip in enumerate(batch.clips.tolist()):
            stored, values = state_of(clip)
            for t, frame in enumerate(batch.times[i]):
                for k, offset in enumerate(times):
                    if stored[0] <= (frame + offset) * 1e9 <= stored[-1]:
                        np.testing.assert_array_equal(batch.tracks["state"][i, t, k], values[at(clip, frame + offset)])
