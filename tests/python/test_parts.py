"""Packing in parts: plans, their parts in any order, and the data set."""

import json

import pytest
from programs import files
import vidrec


def test_parts_in_any_order_give_the_files_of_one_pack(videos, tmp_path):
    options = {"frames": 3, "size": None, "quality": 80, "root": tmp_path, "shards": 3}
    whole = vidrec.pack(videos, tmp_path / "whole", threads=2, **options)
    assert whole.clips > 0 and len(list((tmp_path / "whole").glob("*.rec"))) == 3
    plan = tmp_path / "plan"
    planned = vidrec.plan(videos, plan, **options)
    assert planned.parts == 3 and planned.videos == whole.clips and planned.missing == 0
    assert vidrec.plan_status(plan).missing == (0, 1, 2)
    with pytest.raises(vidrec.UsageError, match="not done"):
        vidrec.publish(plan)
    seen = []
    for part in (2, 0, 1):
        packed = vidrec.pack_part(plan, part, threads=2, isolate=part != 0, progress=lambda done, total: seen.append(total))
        assert not packed.unchanged and packed.failed == 0
        assert vidrec.pack_part(str(plan), part).unchanged
    assert seen and None not in seen
    status = vidrec.plan_status(plan)
    assert status.done == 3 and status.videos_done == whole.clips and status.missing == ()
    published = vidrec.publish(plan, read_all=True)
    assert published.clips == whole.clips
    assert files(plan) == files(tmp_path / "whole") and not (plan / ".vidrec.pack").exists()
    assert vidrec.plan_status(plan).missing == ()
    with pytest.raises(vidrec.UsageError, match="no plan"):
        vidrec.publish(plan)


def test_missing_parts_can_be_allowed(videos, tmp_path):
    plan = tmp_path / "plan"
    vidrec.plan([videos], plan, shards=2, frames=2)
    vidrec.pack_part(plan, 1)
    report = vidrec.publish(plan, allow_missing=True)
    lines = (plan / report.failures_file).read_text().splitlines()
    assert {json.loads(line)["stage"] for line in lines} == {"missing"}
    assert report.failed == len(lines) > 0
    # The plan stays for the missing part.
    vidrec.pack_part(plan, 0)
    with pytest.raises(vidrec.UsageError, match="already"):
        vidrec.publish(plan)
    assert vidrec.publish(plan, overwrite=True).failed == 0
    vidrec.pack(videos, tmp_path / "whole", shards=2, frames=2)
    assert files(plan) == files(tmp_path / "whole")
