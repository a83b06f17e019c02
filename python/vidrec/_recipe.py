"""The options of a recipe, as types. ``scripts/python_options.py --update`` writes this file."""

from __future__ import annotations

from typing import Literal, Optional, Sequence, TypedDict, Union

from ._storage import Path
from .packing import FrameChoice, FrameSize


class RecipeOptions(TypedDict, total=False):
    """Options of :func:`vidrec.pack` and :func:`vidrec.plan` that determine a data set.

    They have the names and defaults of the program and of recipes. None is as if it were not given.

    Attributes
    ----------
    audio
        Also pack the sound of the videos, as the track "audio" of whole numbers of 16 bits, at this many
        samples a second, in step with the frames: gaps are filled with silence, overlaps cut. A clip of a
        segment has the segment's sound, any other the whole video's. A video without sound has no such track.
        16000 mixes all channels into one; 16000:stereo stores two. Sound is stored as FLAC, of which readers
        get the same samples; with :raw at the end, as it is; with :opus, as Opus, which takes far fewer bytes
        and changes the sound a little.
    caption_column
        The column of a manifest that is kept as the attribute caption. Default: caption
    classes
        A file with all class names in the order of their labels: one a line, or NUMBER NAME, or JSON. Default:
        those that occur, sorted
    cut : default False
        Where a video has more than the most frames, keep the first of them and their pace, instead of spreading
        them.
    decode_all : default False
        Decode whole videos, not only what the chosen frames need. The pictures of an intact video are the same.
        Damage anywhere in a video is found, as far as FFmpeg notices it (mostly in H.264, AV1, MPEG and FFV1;
        HEVC, VP8 and VP9 have to be in a Matroska file with checksums), and damaged frames do not count.
    draws : default 1
        Store this many draws of each video by a random rule, as clips side by side. An epoch then takes one of
        them.
    effort : default 1
        Work that a JPEG is worth: 1 makes JPEGs about a fifth smaller at the same PSNR; 0 encodes with libjpeg-
        turbo, which takes up to a tenth less time.
    end_column
        The column of a manifest that has the times at which segments end. Default: end, time_end
    frames : default 8
        Frames to take from each video: a number, "fps:RATE", "every:K", "all" or "keyframes".
    images : default False
        Each picture (.jpg, .jpeg, .png, .webp) of a folder is a clip of one frame, instead of a frame of its
        folder's clip; of an animated one, the first frame. Videos are then passed over.
    label_column
        The column of a manifest that has the labels, such as class. Default: label, labels
    max_failures
        The number of videos that may fail before the pack stops: a number, or a share of all such as 1%. What
        is done can be resumed. Default: any number
    max_frames
        If the number of frames is not fixed: take at most this many, spread evenly from the first to the last.
        Default: no limit
    max_pixels : default 268435456
        The most pixels that a picture of a video may have, width times height; a video with more fails.
    outside : default False
        Take also what lies outside the input folders: what links in them lead to, and absolute paths, paths
        with .. and URLs of lists that were found in them. Set it if you trust whoever made the folders, because
        such a list can name any file of this machine, and any server with your credentials. What you name
        yourself, a list or the root, may always lead anywhere.
    path_column
        The column of a manifest that has the paths. Default: path, or another of the names that docs/sources.md
        lists
    picture_fps
        The number of frames of a folder of frames that make a second. Default: unknown, and nothing can be
        chosen by time
    quality : default 90
        JPEG quality, 1 to 100.
    reduce_depth : default False
        Pack pictures of more than 12 bits a channel, such as depth maps, and keep the upper 8 of their bits.
        Without it, such a video fails.
    root
        The folder that the paths of a manifest are relative to, or a remote location, such as
        s3://bucket/videos. Default: the folder of the manifest
    sample : default 'uniform'
        Which frames, if their number is fixed: the centers of equal segments (uniform); first, last and evenly
        between (endpoints); one at random in each of equal segments (random); frames in a row from the middle
        (clip) or from anywhere (random-clip). clip:4 and random-clip:4 take every fourth frame.
    seed : default 0
        The seed of random rules.
    segments : default 'player'
        The moment that start and end of a manifest count from: what a player shows, which in MPEG transport and
        program streams and Ogg is the time since the first packet of sound or picture, and elsewhere the
        container's own time (player); or the time since the first frame of the video (first-frame). Or take
        whole files, whatever start and end there are (ignore).
    shards
        The number of shards to make, with the same number of videos each, in order; or each:N for N videos in
        each; or about how large, such as 1GiB, by an estimate. An interrupted pack loses the shard at work.
        Default: 256MB, or less where that takes two cores more than a minute
    short : default 'repeat-last'
        The action for a video of too few frames.
    shuffle_seed
        Store the clips in an order shuffled with this seed. Default: the order of the inputs
    size : default 256
        Size of the stored frames: the shorter side, such as 256; or 320x240; or original. If a number of pixels
        of the shorter side is given, smaller videos stay as they are; 256:enlarge enlarges them, too. 320x240
        is exactly this width and height, whatever the shape of the video.
    split
        Take only this split, as a manifest's column "split" names it. Default: all
    start_column
        The column of a manifest that has the times at which segments begin. Default: start, time_start
    timeout : default 600
        The longest time for one video, in seconds; one that takes longer fails.
    track
        Pack a track beside the frames, NAME=COLUMN,WORDS: a column of a manifest that names a file for each
        video (.npy, .npz, .csv, .tsv, .json; .png, a folder of these, or a video of depth) or holds a list. The
        words say how its values lie in time: rate=50 a second; times=T, the array or column that has them;
        spans, each with a start and an end; frames, one for each frame of the video, of which those of the
        packed frames are stored; every-frame, all of them. Also values=A+B, type=f32, size=640x480, unit=us,
        clock=segment, tolerance=0.5, partial, nan, list: see docs/tracks.md. Can be given several times.
    """

    audio: Union[float, str, None]
    caption_column: Optional[str]
    classes: Optional[Path]
    cut: Optional[bool]
    decode_all: Optional[bool]
    draws: Optional[int]
    effort: Optional[int]
    end_column: Optional[str]
    frames: Optional[FrameChoice]
    images: Optional[bool]
    label_column: Optional[str]
    max_failures: Union[float, str, None]
    max_frames: Optional[int]
    max_pixels: Optional[int]
    outside: Optional[bool]
    path_column: Optional[str]
    picture_fps: Union[float, str, None]
    quality: Optional[int]
    reduce_depth: Optional[bool]
    root: Optional[Path]
    sample: Optional[str]
    seed: Optional[int]
    segments: Optional[Literal["player", "first-frame", "ignore"]]
    shards: Union[float, str, None]
    short: Optional[Literal["repeat-last", "loop", "skip", "error"]]
    shuffle_seed: Optional[int]
    size: Optional[FrameSize]
    split: Optional[str]
    start_column: Optional[str]
    timeout: Optional[float]
    track: Optional[Union[str, Sequence[str]]]
