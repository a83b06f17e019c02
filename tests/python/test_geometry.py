"""Boxes, points, flow and camera matrices that follow the crop: against torchvision's transforms v2, and the pixels of the batch."""
import numpy as np
import pytest

import vidrec

SIZES = [(48, 64), (60, 40), (57, 33), (30, 90)]
FRAMES, BOXES, POINTS = 6, 5, 7
SWAP = [(1, 2), (6, 3)]


def made(clip):
    """The tracks of a clip, of whose frames the first box is white."""
    rng, (height, width) = np.random.default_rng(clip), SIZES[clip % len(SIZES)]
    size = np.array([width, height])
    corners = np.sort(rng.uniform(-0.3, 1.3, (FRAMES, BOXES, 2, 2)), axis=2)
    corners[:, 0] = np.round(np.clip([[[0.3, 0.25], [0.7, 0.8]]] * FRAMES, 0, 1) * size) / size
    boxes = (corners * size).reshape(FRAMES, BOXES, 4)
    boxes[0, 4], boxes[1, 4] = np.nan, boxes[1, 4, [2, 3, 0, 1]]
    points = rng.uniform(-0.1, 1.1, (FRAMES, POINTS, 2)) * size
    camera = np.array([[50.0, 0.5, width / 2], [0, 60, height / 2], [0, 0, 1]])
    return {
        "boxes": boxes.astype(np.float32),
        "relative": boxes / np.tile(size, 2),
        "points": points.astype(np.float32),
        "pose": np.concatenate([points, rng.integers(0, 3, (FRAMES, POINTS, 1))], axis=2),
        "intrinsics": np.tile(camera, (FRAMES, 1, 1)),
        "flow": rng.normal(size=(FRAMES, 9, 12, 2)).astype(np.float32),
        "half": rng.normal(size=(FRAMES, 8, 8, 2)).astype(np.float16),
        "heat": rng.normal(size=(FRAMES, 10, 11, 7)),
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("geometry") / "set"
    with vidrec.Writer(path, quality=100, nan=["boxes", "relative"]) as writer:
        for clip in range(16):
            tracks = made(clip)
            frames = np.zeros((FRAMES, *SIZES[clip % len(SIZES)], 3), np.uint8)
            left, top, right, bottom = np.round(tracks["boxes"][0, 0]).astype(int)
            frames[:, top:bottom, left:right] = 255
            writer.add(frames, tracks=tracks, fields={"episode": clip // 8 * 4 + clip % 4, "camera": "ab"[clip // 4 % 2]})
    return path


def torchvision(frame, params, size, xy, is_box):
    """What transforms v2 make of (N, 4) boxes or (N, 2) points: resize and crop, then a flip."""
    left, top, width, height = params.window
    x, y = size[1] / width, size[0] / height
    resized = np.array([frame[0] * y, frame[1] * x, top * y, left * x])
    if (np.abs(resized - np.round(resized)) < 1e-6).all():
        steps = [("resize", round(frame[0] * y), round(frame[1] * x)), ("crop", round(top * y), round(left * x), *size)]
    else:
        # Its crops are whole pixels: those of a frame that was enlarged a thousand times, where the crop itself has parts of them.
        by = 1 if all(float(each).is_integer() for each in params.window) else 1000
        window = [round(by * each) for each in (top, left, height, width)]
        steps = [("resize", by * frame[0], by * frame[1]), ("crop", *window), ("resize", *size)]
    steps += ["flip"] * params.flip
    try:
        from torchvision import tv_tensors
        from torchvision.transforms.v2 import functional
    except ImportError:
        return as_torchvision(frame, steps, xy.astype(np.float64), is_box)
    if is_box:
        moved = tv_tensors.BoundingBoxes(xy, format="XYXY", canvas_size=frame)
    else:
        # Points are kept as the numbers of pixels, whose centers are whole.
        moved = tv_tensors.KeyPoints(xy - 0.5, canvas_size=frame)
    for step in steps:
        if step == "flip":
            moved = functional.horizontal_flip(moved)
        else:
            moved = getattr(functional, step[0])(moved, *([list(step[1:])] if step[0] == "resize" else step[1:]))
    return functional.clamp_bounding_boxes(moved).numpy() if is_box else moved.numpy() + 0.5


def as_torchvision(canvas, steps, xy, is_box):
    """The same in the words of its functional.crop_bounding_boxes and others, for versions that lack them."""
    shift = 0.0 if is_box else 0.5
    xy = (xy - shift).reshape(len(xy), -1, 2)
    for step in steps:
        if step == "flip":
            xy[..., 0] = canvas[1] - 2 * shift - xy[..., 0]
            xy = xy[:, ::-1]
            if is_box:
                xy[..., 1] = xy[:, ::-1, 1]
        elif step[0] == "crop":
            xy, canvas = xy - [step[2], step[1]], step[3:]
            xy = np.clip(xy, 0, [canvas[1], canvas[0]]) if is_box else xy
        else:
            xy, canvas = xy * [step[2] / canvas[1], step[1] / canvas[0]], step[1:]
    return (np.clip(xy, 0, [canvas[1], canvas[0]]) if is_box else xy + shift).reshape(len(xy), -1)


TRACKS = {
    "boxes": vidrec.track(geometry="boxes"),
    "relative": vidrec.track(geometry="boxes", size=1),
    "points": vidrec.track(geometry="points", size="frames"),
    "pose": vidrec.track(geometry="points", swap=SWAP),
    "intrinsics": vidrec.track(geometry="intrinsics"),
    "flow": vidrec.track(geometry="flow"),
    "half": vidrec.track(geometry="flow", size="frames"),
    "heat": vidrec.track(geometry="mask"),
}
CROPS = [
    vidrec.CenterCrop(20),
    vidrec.CenterCrop((24, 16), resize=28),
    vidrec.CenterCrop(100),
    vidrec.RandomCrop(17, resize=(20, 40)),
    vidrec.RandomResizedCrop((19, 27)),
    vidrec.MultiScaleCrop(24),
    vidrec.ThreeCrop(16, resize=18),
    vidrec.Cover((30, 30)),
    vidrec.Cover((12, 40), random=True),
    vidrec.Cover(sizes=[(24, 32), (30, 20)]),
    vidrec.SmartResize(8, min_pixels=64, max_pixels=1024),
]


@pytest.mark.parametrize("crop", CROPS, ids=repr)
def test_boxes_points_and_cameras_are_where_torchvision_puts_them(path, crop):
    flips, left_picture = set(), 0
    for batch in vidrec.Loader(path, 3, frames=2, crop=crop, flip=0.5, tracks=TRACKS, seed=5, output="numpy", last="keep"):
        size, masks = batch.frames.shape[-2:], batch.track_masks
        assert masks["boxes"].shape == (len(batch), 2, BOXES) and masks["pose"].shape == (len(batch), 2, POINTS)
        assert batch.tracks["boxes"].dtype == np.float32 and batch.tracks["relative"].dtype == np.float64
        for b, params in enumerate(batch.params):
            frame, clip = SIZES[batch.clips[b] % len(SIZES)], made(int(batch.clips[b]))
            matrix = np.array(params.matrix)
            flips.add(params.flip)
            # torchvision resizes points as if they counted from a corner of pixels, and mirrors them as if from a center.
            half = 0.5 + 0.5 * max(abs(abs(matrix[0, 0]) - 1), abs(matrix[1, 1] - 1))
            for t, f in enumerate(params.frames):
                found, mask = batch.tracks["boxes"][b, t], masks["boxes"][b, t]
                expected = torchvision(frame, params, size, clip["boxes"][f], True)
                sides = expected[:, 2:] - expected[:, :2]
                sure = ~np.isnan(sides).any(1) & (np.abs(sides) > 0.5).all(1)
                np.testing.assert_allclose(found[mask], expected[mask], atol=0.5)
                assert (mask | ~sure | (sides < 0).any(1)).all() and (found[~mask] == 0).all() and not mask[np.isnan(sides).any(1)].any()
                np.testing.assert_allclose(batch.tracks["relative"][b, t], found, atol=1e-3)
                left_picture += (~mask).sum()

                found, mask = batch.tracks["points"][b, t], masks["points"][b, t]
                expected = torchvision(frame, params, size, clip["points"][f], False)
                np.testing.assert_allclose(found[mask], expected[mask], atol=half)
                by_matrix = clip["points"][f] @ matrix[:2, :2].T + matrix[:2, 2]
                inside = ((by_matrix >= 0) & (by_matrix < [size[1], size[0]])).all(1)
                np.testing.assert_allclose(found, np.where(inside[:, None], by_matrix, 0), atol=1e-3)
                assert (mask == inside).all()

                order = np.arange(POINTS)
                for one, other in SWAP if params.flip else ():
                    order[[one, other]] = other, one
                np.testing.assert_allclose(batch.tracks["pose"][b, t, :, :2], found[order], atol=1e-3)
                assert (batch.tracks["pose"][b, t, :, 2] == np.where(mask, clip["pose"][f, :, 2], 0)[order]).all()
                np.testing.assert_allclose(batch.tracks["intrinsics"][b, t], matrix @ clip["intrinsics"][f], atol=1e-9)
    assert flips == {False, True} and left_picture


@pytest.mark.parametrize("crop", CROPS, ids=repr)
def test_a_box_lies_around_what_it_lies_around_in_the_video(path, crop):
    tracks = {"boxes": TRACKS["boxes"]}
    for batch in vidrec.Loader(path, 4, frames=1, crop=crop, flip=0.5, tracks=tracks, seed=1, output="numpy", shuffle=False):
        for b, params in enumerate(batch.params):
            rows, columns = np.nonzero(batch.frames[b, 0].mean(0) > 127)
            if not batch.track_masks["boxes"][b, 0, 0]:
                assert rows.size == 0
                continue
            shown = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            scale = np.abs(np.diag(params.matrix)[:2]).max()
            np.testing.assert_allclose(batch.tracks["boxes"][b, 0, 0], shown, atol=max(1, scale / 2))


@pytest.mark.parametrize("crop", [vidrec.RandomResizedCrop((19, 27)), vidrec.CenterCrop((24, 16), resize=28)], ids=repr)
def test_flow_is_scaled_and_mirrored_and_heat_maps_are_copied(path, crop):
    for batch in vidrec.Loader(path, 4, frames=2, crop=crop, flip=0.5, tracks=TRACKS, seed=2, output="numpy", shuffle=False):
        height, width = batch.frames.shape[-2:]
        assert batch.tracks["heat"].shape == (4, 2, height, width, 7) and batch.tracks["heat"].dtype == np.float64
        for b, params in enumerate(batch.params):
            frame, clip, matrix = SIZES[batch.clips[b] % len(SIZES)], made(int(batch.clips[b])), np.array(params.matrix)
            centers = np.stack(np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5), -1) - matrix[:2, 2]
            stored = centers / np.diag(matrix)[:2] / [frame[1], frame[0]]
            scale = np.diag(matrix)[:2]
            for name, scale in (("flow", scale * [frame[1] / 12, frame[0] / 9]), ("half", scale), ("heat", 1.0)):
                pictures = clip[name][list(params.frames)]
                places = stored * [pictures.shape[2], pictures.shape[1]]
                # Between two pixels it may be either.
                sure = (np.abs(places - np.round(places)) > 1e-6).all(-1)
                x, y = places[sure].astype(int).T
                tolerance = 1e-3 if name == "half" else 1e-6
                np.testing.assert_allclose(batch.tracks[name][b][:, sure], pictures[:, y, x] * scale, rtol=tolerance, atol=tolerance)
                assert sure.mean() > 0.3 and batch.tracks[name].dtype == pictures.dtype


def test_values_follow_the_camera_that_they_name(path):
    cameras = vidrec.Cameras(["a", "b"], own={"a": vidrec.Camera(flip=0.0), "b": vidrec.Camera(flip=1.0)}, crop="own")
    tracks = {"boxes": vidrec.track(geometry="boxes", camera="b"), "points": vidrec.track(geometry="points")}
    options = {"crop": vidrec.RandomResizedCrop(24), "cameras": cameras, "output": "numpy", "shuffle": False, "frames": 1}
    only = vidrec.Loader(path, 8, tracks={"boxes": vidrec.track(geometry="boxes")}, **{**options, "cameras": None, "flip": 1.0, "crop": vidrec.Cover(24)})
    (batch,) = vidrec.Loader(path, 8, tracks=tracks, **{**options, "crop": vidrec.Cover(24)})
    alone = {int(clip): boxes for whole in only for clip, boxes in zip(whole.clips, whole.tracks["boxes"])}
    for b, clip in enumerate(batch.clips):
        assert not batch.params[b].flip
        # Both cameras of an episode have frames of the same size.
        mask = batch.track_masks["boxes"][b, 0]
        flipped = np.array(made(int(clip))["boxes"][batch.params[b].frames[0]])
        matrix = np.array(batch.params[b].matrix)
        x = 24 - (flipped[:, [2, 0]] * matrix[0, 0] + matrix[0, 2]).clip(0, 24)
        np.testing.assert_allclose(batch.tracks["boxes"][b, 0][:, [0, 2]][mask], x[mask], atol=1e-3)
        np.testing.assert_allclose(alone[int(clip)][0], batch.tracks["boxes"][b, 0], atol=1e-3)
    with pytest.raises(vidrec.UsageError, match="camera.*no such camera.*a, b"):
        vidrec.Loader(path, 8, tracks={"boxes": vidrec.track(geometry="boxes", camera="c")}, **options)


def test_coordinates_of_a_resized_video_need_to_say_whose_they_are(videos, tmp_path):
    """Frames of 64x48, of a video of 96x72."""
    (tmp_path / "list.csv").write_text(f'path,box\n{next(videos.glob("*/*.mp4"))},"{[[30, 18, 66, 36]] * 12}"\n')
    vidrec.pack(tmp_path / "list.csv", tmp_path / "set", size=48, track=["box=box,frames"])
    options = {"batch_size": 1, "crop": (48, 64), "output": "numpy", "frames": 1}

    def box(**more):
        (batch,) = vidrec.Loader(tmp_path / "set", tracks={"box": vidrec.track(geometry="boxes", **more)}, **options)
        return batch.tracks["box"][0, 0].tolist()

    assert box(size="source") == box(size=(72, 96)) == [20, 12, 44, 24] and box(size="frames") == [30, 18, 64, 36]
    with pytest.raises(vidrec.UsageError, match="frames of 64x48, a video of 96x72.*size"):
        box()


def test_a_geometry_that_makes_no_sense_is_refused(path):
    for named, track in [
        ("geometry", {"geometry": "boxes", "normalize": vidrec.TrackNormalize((0.0,) * 20, (1.0,) * 20)}),
        ("geometry", {"geometry": "intrinsics"}),
        ("geometry", {"geometry": "flow"}),
        ("swap", {"geometry": "boxes", "swap": [(0, 1)]}),
        ("swap", {"geometry": "points", "swap": [(0, 1), (1, 2)]}),
        ("size", {"geometry": "mask", "size": 1}),
        ("size", {"geometry": "boxes", "size": 0}),
        ("size", {"geometry": "boxes", "size": "video"}),
        ("camera", {"camera": "front"}),
    ]:
        with pytest.raises(vidrec.UsageError, match=named):
            vidrec.Loader(path, 2, tracks={"boxes": vidrec.track(**track)})
    with pytest.raises(vidrec.UsageError, match="swap.*numbers below 7.*6 and 7"):
        vidrec.Loader(path, 2, tracks={"points": vidrec.track(geometry="points", swap=[(6, 7)])})
