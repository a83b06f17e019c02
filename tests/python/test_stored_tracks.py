"""Tracks of the test vectors, as arrays."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import vidrec

VECTORS = Path(__file__).parents[2] / "format-spec" / "vectors"


def test_tracks_are_arrays_of_their_types_and_shapes():
    data = vidrec.open(VECTORS / "good" / "tracks.vidx")
    assert data.tracks["gaze"].shape == (1, 2) and data.tracks["never"].timing == "times"
    clip = data[0]
    assert "never" not in clip.track_names and clip.track("never") is None
    state = clip.track("state")
    assert state.values.shape == (2, 2) and state.values.dtype == np.float32
    assert state.values[0].tolist() == [0.5, -1.0] and not state.values.flags.writeable
    assert state.times.tolist() == [0, 200_000_000]
    caption = clip.track("caption")
    assert caption.values == ["größer", ""] and caption.ends.tolist() == [5, 1_000_000_000]
    sound = clip.track("sound")
    assert sound.rate == Fraction(16_000) and sound.times.tolist() == [-5, 62_495, 124_995]
    done = clip.track("done").values
    assert done.dtype == np.bool_ and done.tolist() == [False, True]
    assert len(data[1].track("caption")) == 0 and data[1].track("gaze").values.shape == (0, 1, 2)


def test_a_damaged_track_is_an_error():
    clip = vidrec.open(VECTORS / "bad" / "track-crc.vidx")[0]
    assert clip.track("caption").values == ["up", "ü"], "the other track is intact"
    with pytest.raises(vidrec.FormatError, match="track-crc"):
        clip.track("state")


def test_coded_pictures_are_arrays_as_any_others():
    data = vidrec.open(VECTORS / "good" / "coded-pictures")
    depth, color = data[1].track("depth").values, data[1].track("color")
    assert depth.dtype == np.uint16
    assert depth.tolist() == [[[256, 2, 65535], [257, 3, 65280]], [[2313, 2314, 2315], [2314, 2315, 2316]]]
    assert color.values.shape == (2, 2, 3, 3) and color.values[1, 1].tolist() == [[200] * 3] * 3
    assert color.times.tolist() == [-5, 7]


def test_coded_sound_is_an_array_as_any_other():
    clip = vidrec.open(VECTORS / "good" / "coded-sound")[1]
    sound, stereo = clip.track("sound").values, clip.track("stereo").values
    expected = [i % 97 * (i % 31) * 8 - 9000 + i for i in range(4100)]
    assert sound.dtype == np.int16 and sound.tolist() == expected
    assert stereo.shape == (64, 2) and stereo[:, 0].tolist() == expected[:64]
