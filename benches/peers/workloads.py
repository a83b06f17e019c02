"""What is measured, and where things lie. Needs no package."""
import os
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("VIDREC_PEERS_CACHE", REPOSITORY / "target/peers")).absolute()
DATA = CACHE / "data"     # clips are named relative to this
VIDEOS = DATA / "videos"  # a link to the folder that was given
PACKED = DATA / "packed"  # what `vidrec pack` made of it
PLAIN = DATA / "plain"    # the same pictures as ordinary JPEGs, for everybody else
STORES = DATA / "stores"  # what each peer made of those

sys.path.append(str(REPOSITORY / "format-spec"))
import reader  # noqa: E402, F401: the format's own reader, which needs nothing but Python

BATCH, FRAMES = 16, 8
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Workload:
    """Batches of 16 clips with 8 frames each: a random resized crop and flip, one draw a clip, or the center."""
    text: str
    size: int     # width and height of the pictures
    random: bool  # random resized crop (scale 0.08 to 1, ratio 3/4 to 4/3, bilinear) and flip; else center crop
    dtype: str    # float32 is normalized
    layout: str   # of a clip

    @property
    def clip_shape(self):
        return tuple({"T": FRAMES, "C": 3, "H": self.size, "W": self.size}[axis] for axis in self.layout)

    @property
    def shape(self):
        return (BATCH, *self.clip_shape)


WORKLOADS = {
    "W1": Workload("random resized crop to 224, flip, normalized f32, BTCHW", 224, True, "float32", "TCHW"),
    "W1u8": Workload("random resized crop to 224, flip, u8, BTHWC", 224, True, "uint8", "THWC"),
    "W1-112": Workload("random resized crop to 112, flip, normalized f32, BTCHW", 112, True, "float32", "TCHW"),
    "W2": Workload("center crop of 224, u8, BTCHW", 224, False, "uint8", "TCHW"),
    "W3": Workload("from video files: 8 uniform frames, center crop of 224, u8, BTHWC", 224, False, "uint8", "THWC"),
}
