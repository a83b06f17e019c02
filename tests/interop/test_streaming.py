"""vidrec on what MosaicML streaming writes. In a process of its own, because of the stubs."""
import json

import numpy as np
import pytest
import stubs
from conftest import clips, jpeg

vidrec = pytest.importorskip("vidrec", reason="not asked for: the Python package was not built")
stubs.install()
import streaming  # noqa: E402


@pytest.mark.parametrize("compression", [None, "gz:6"])
def test_what_streaming_writes_comes_in(tmp_path, compression):
    columns = {"frames": "bytes", "label": "int", "text": "str", "extra": "json", "vector": "ndarray:float32", "one": "float32"}
    pictures = [jpeg(n) for n in range(20)]
    with streaming.MDSWriter(out=str(tmp_path / "mds"), columns=columns, compression=compression, size_limit=1 << 15) as out:
        for n, picture in enumerate(pictures):
            vector = np.arange(n + 1, dtype=np.float32)
            out.write({"frames": picture, "label": n - 1, "text": f"ö{n}", "extra": {"n": [n]}, "vector": vector, "one": np.float32(n / 2)})
    vidrec.convert.from_mds(tmp_path / "mds", tmp_path / "set", frames="frames")
    expected = [
        ("", None if n == 0 else n - 1, "", {"text": f"ö{n}", "extra": {"n": [n]}, "vector": list(map(float, range(n + 1))), "one": n / 2}, [picture])
        for n, picture in enumerate(pictures)
    ]
    assert clips(tmp_path / "set") == expected
    assert len(json.loads((tmp_path / "mds/index.json").read_text())["shards"]) > 1
