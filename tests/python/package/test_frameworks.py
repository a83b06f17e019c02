"""Training loops of others, each with a loader as it is."""
import pytest
from conftest import patch_lightning

import vidrec

torch = pytest.importorskip("torch")


def make(ds, **options):
    return vidrec.Loader(ds, 2, **{"frames": 2, "crop": 16, "dtype": "float32", "shuffle": True, "threads": 1, **options})


def model():
    return torch.nn.Linear(2 * 3 * 16 * 16, 2)


def loss_of(model, batch):
    return torch.nn.functional.cross_entropy(model(batch.frames.flatten(1)), batch.labels)


def clips(batches):
    return [batch.clips.tolist() for batch in batches]


def expected(ds, epochs):
    loader = make(ds)
    return [clips(loader) for _ in range(epochs)]


class Stopped(Exception):
    pass


@pytest.mark.filterwarnings("ignore")
class TestLightning:
    @pytest.fixture
    def lightning(self, monkeypatch):
        patch_lightning(monkeypatch)
        return pytest.importorskip("pytorch_lightning")

    @pytest.fixture
    def fit(self, lightning, tmp_path):
        """Trains with a loader; the clips of each step. Ends with an exception before step ``stop``."""

        class Module(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.model, self.seen = model(), []

            def training_step(self, batch, _):
                assert batch.frames.device == self.device
                self.seen.append(batch.clips.tolist())
                loss = loss_of(self.model, batch)
                self.log("loss", loss, on_epoch=True, batch_size=len(batch))
                return loss

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 1e-3)

        class Stop(lightning.Callback):
            def __init__(self, stop):
                self.stop = stop

            def on_train_batch_start(self, trainer, *_):
                if trainer.global_step == self.stop:
                    raise Stopped

        def fit(loader, stop=None, resume=None, **options):
            checkpoint = lightning.callbacks.ModelCheckpoint
            steps = checkpoint(tmp_path, "{step}", every_n_train_steps=1, save_top_k=-1)
            epochs = checkpoint(tmp_path, "end-{epoch}", save_on_train_epoch_end=True, save_top_k=-1)
            trainer = lightning.Trainer(
                accelerator="cpu",
                logger=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                callbacks=[steps, epochs, Stop(stop)],
                **options,
            )
            module = Module()
            try:
                trainer.fit(module, loader, ckpt_path=resume and tmp_path / f"{resume}.ckpt")
            except Stopped:
                pass
            return module.seen

        return fit

    def test_epochs_are_those_of_a_plain_loop(self, ds, fit):
        assert fit(make(ds), max_epochs=3) == sum(expected(ds, 3), [])
        assert fit(make(ds), max_epochs=2, limit_train_batches=2) == sum((e[:2] for e in expected(ds, 2)), [])

    @pytest.mark.parametrize("checkpoint, step", [("step=3", 3), ("end-epoch=0", 6), ("step=10", 10)])
    def test_it_goes_on_from_a_checkpoint_of_its_own(self, ds, fit, checkpoint, step):
        whole = sum(expected(ds, 3), [])
        assert fit(make(ds), stop=step + 1, max_epochs=3) == whole[: step + 1]
        assert fit(make(ds), resume=checkpoint, max_epochs=3) == whole[step:], "also in the middle of an epoch"


class TestAccelerate:
    @pytest.fixture
    def accelerator(self, tmp_path):
        accelerate = pytest.importorskip("accelerate")
        return lambda: accelerate.Accelerator(cpu=True, project_dir=tmp_path)

    def test_a_loop_saves_and_loads_the_place_of_the_loader(self, ds, accelerator, tmp_path):
        whole = expected(ds, 2)

        def begin():
            accelerated, loader, plain = accelerator(), make(ds), model()
            optimizer = torch.optim.SGD(plain.parameters(), 1e-3)
            prepared, optimizer, same = accelerated.prepare(plain, optimizer, loader)
            assert same is loader, "it is no DataLoader, and shares the clips among ranks by itself"
            accelerated.register_for_checkpointing(loader)
            return accelerated, loader, prepared, optimizer

        accelerated, loader, prepared, optimizer = begin()
        seen = []
        for epoch in range(2):
            for batch in loader:
                batch = batch.to(accelerated.device)
                accelerated.backward(loss_of(prepared, batch))
                optimizer.step()
                optimizer.zero_grad()
                seen.append(batch.clips.tolist())
                if (epoch, batch.number) == (1, 1):
                    accelerated.save_state(tmp_path / "state")
        assert seen == sum(whole, [])
        assert accelerated.gather(batch.labels).shape == (2,)

        accelerated, loader, *_ = begin()
        accelerated.load_state(tmp_path / "state")
        assert loader.epoch == 1 and clips(loader) == whole[1][2:]


class TestStatefulDataLoader:
    """torchdata's."""

    @pytest.fixture
    def stateful(self):
        return pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader

    @pytest.mark.parametrize("workers", [0, 2])
    def test_batches_go_on_where_they_stopped(self, ds, stateful, workers):
        from vidrec.torch import IterableDataset

        def begin():
            return stateful(IterableDataset(make(ds)), batch_size=None, num_workers=workers)

        whole = expected(ds, 1)[0]
        assert clips(begin()) == whole
        first = begin()
        batches = iter(first)
        assert clips([next(batches), next(batches)]) == whole[:2]
        second = begin()
        second.load_state_dict(first.state_dict())
        assert clips(second) == whole[2:]
        assert clips(second) == whole, "and then all of them again"

    def test_single_samples_go_on_where_they_stopped(self, ds, stateful):
        from vidrec.torch import MapDataset

        def begin():
            torch.manual_seed(1)
            return stateful(MapDataset(ds, frames=2, crop=vidrec.RandomCrop(16)), batch_size=5, shuffle=True)

        def sums(batches):
            return [frames.flatten(1).sum(1).tolist() for frames, _ in batches]

        whole = sums(begin())
        first = begin()
        next(iter(first))
        second = begin()
        second.load_state_dict(first.state_dict())
        assert sums(second) == whole[1:]
