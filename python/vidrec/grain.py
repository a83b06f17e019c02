"""What `Grain <https://google-grain.readthedocs.io>`_ takes: packed clips as a source of single samples.

:class:`vidrec.Loader` needs no Grain: it shuffles, draws and makes batches ahead, without a copy. This is for pipelines
that are Grain's. It does not import Grain, and suits whatever asks for samples by their index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, SupportsIndex, Union

from . import _samples
from ._storage import Path
from .dataset import Dataset
from .mixing import Mix

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import SampleKeywords


class Source:
    """One sample at a time, as NumPy arrays, for ``grain.MapDataset.source`` and ``grain.DataLoader``.

    A sample is a dict of ``frames``, ``label`` and ``frame_mask``; with cameras also ``camera_mask``, of a mix also ``source``.
    With the option ``fields`` or ``tracks`` it has a dict of them under that name; tracks have their mask beside them as
    ``NAME_mask``, and the times of texts as ``NAME_times``. With :class:`vidrec.AllFrames`, samples differ in length.

    Parameters
    ----------
    dataset : vidrec.Dataset, vidrec.Mix or path
    **options
        As :class:`vidrec.Loader` takes them, except those for batches and their order.

    Examples
    --------
    >>> from vidrec.grain import Source
    >>> source = Source("train", crop=64, dtype="float32")
    >>> sample = source[7]
    >>> sample["frames"].shape, sample["label"]
    ((8, 3, 64, 64), 1)
    """

    def __init__(self, dataset: Union[Dataset, Mix, Path], **options: Unpack[SampleKeywords]) -> None:
        # Grain asks from several threads or processes, and frames of one sample are little work to share.
        self._loader = _samples.loader_of(dataset, "numpy", {"threads": 1, **options})

    def __len__(self) -> int:
        return self._loader._ready().batches_in(0)

    def __getitem__(self, index: SupportsIndex) -> Dict[str, Any]:
        """Sample ``index``, with the crop and the frames that are drawn for epoch 0."""
        return self.sample(index, 0)

    def sample(self, index: SupportsIndex, epoch: SupportsIndex) -> Dict[str, Any]:
        """Sample ``index`` with the crop, flip, colors and frames that are drawn for it in an epoch.

        Any number from 0 is an epoch. So one that Grain draws makes each pass over the clips different::

            samples = grain.MapDataset.range(len(source)).seed(0).shuffle().repeat(10)
            samples = samples.random_map(lambda index, rng: source.sample(index, rng.integers(1 << 31)))

        Parameters
        ----------
        index, epoch : int
            Which, counted from 0.
        """
        return _samples.items(self._loader, int(epoch), [int(index)])[0]

    def __repr__(self) -> str:
        # Grain resumes a run only where this is the same.
        digest = self._loader.state_dict()["dataset"]["digest"]
        return f"<vidrec.grain.Source of data set {digest[:16]}: {len(self)} samples of {self._loader.shape[1:]}>"
