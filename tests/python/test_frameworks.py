"""Training loops of others, each with a loader as it is."""
import importlib.util
import inspect

import pytest

import vidrec

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.full


def patch_lightning(monkeypatch):
    """Lets Lightning begin with Debian's torch 1.13 on Python 3.11, which cannot import what this asks of it."""
    if importlib.util.find_spec("pytorch_lightning"):
        asks = "pytorch_lightning.LightningModule._register_sharded_tensor_state_dict_hooks_if_available"
        monkeypatch.setattr(asks, lambda self: None, raising=False)


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
            def __init__(self, estimates=False):
                super().__init__()
                self.model, self.seen, self.estimates = model(), [], estimates

            def training_step(self, batch, _):
                assert batch.frames.device == self.device
                self.seen.append(batch.clips.tolist())
                loss = loss_of(self.model, batch)
                self.log("loss", loss, on_epoch=True, batch_size=len(batch))
                return loss

            def configure_optimizers(self):
                if self.estimates:
                    assert self.trainer.estimated_stepping_batches == 18
                return torch.optim.SGD(self.parameters(), 1e-3)

        class Stop(lightning.Callback):
            def __init__(self, stop):
                self.stop = stop

            def on_train_batch_start(self, trainer, *_):
                if trainer.global_step == self.stop:
                    raise Stopped

        def fit(loader, *more, stop=None, resume=None, estimates=False, **options):
            checkpoint = lightning.callbacks.ModelCheckpoint
            steps = checkpoint(tmp_path, "{step}", every_n_train_steps=1, save_top_k=-1)
            epochs = checkpoint(tmp_path, "end-{epoch}", save_on_train_epoch_end=True, save_top_k=-1)
            quiet = dict(logger=False, enable_progress_bar=False, enable_model_summary=False)
            trainer = lightning.Trainer(accelerator="cpu", callbacks=[steps, epochs, Stop(stop)], **quiet, **options)
            module = fit.module = Module(estimates)
            # Files of our own are not only of weights.
            trusted = {"weights_only": False} if resume and "weights_only" in inspect.signature(trainer.fit).parameters else {}
            try:
                trainer.fit(module, loader, *more, ckpt_path=resume and tmp_path / f"{resume}.ckpt", **trusted)
            except Stopped:
                pass
            fit.trainer = trainer
            return module.seen

        return fit

    def test_epochs_are_those_of_a_plain_loop(self, ds, fit):
        assert fit(make(ds), max_epochs=3) == sum(expected(ds, 3), [])
        assert fit(make(ds), max_epochs=2, limit_train_batches=2) == sum((e[:2] for e in expected(ds, 2)), [])

    @pytest.mark.parametrize("estimates", [False, True])
    @pytest.mark.parametrize("checkpoint, step", [("step=3", 3), ("end-epoch=0", 6), ("step=10", 10)])
    def test_it_goes_on_from_a_checkpoint_of_its_own(self, ds, fit, checkpoint, step, estimates):
        whole = sum(expected(ds, 3), [])
        assert fit(make(ds), stop=step + 1, max_epochs=3) == whole[: step + 1]
        seen = fit(make(ds), resume=checkpoint, max_epochs=3, estimates=estimates)
        assert seen == whole[step:], "also in the middle of an epoch, and if Lightning looks at the loader before the checkpoint"

@pytest.mark.filterwarnings("ignore")
class TestTrainer:
    """That of transformers."""

    @pytest.fixture
    def trained(self, tmp_path):
        """Trains with a loader; the clips and the sum of the pixels of each batch."""
        transformers = pytest.importorskip("transformers")
        from vidrec.transformers import TrainerLoader

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model, self.seen = model(), []

            def forward(self, pixel_values, labels, clips=None):
                if self.training:
                    self.seen.append((clips.tolist(), pixel_values.double().sum().item()))
                logits = self.model(pixel_values.flatten(1))
                return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

        def trained(loader, resume=None, is_callback=True, **options):
            inputs = loader.map(lambda batch: dict(pixel_values=batch.frames, labels=batch.labels, clips=batch.clips))
            batches = TrainerLoader(inputs)

            class Clips(transformers.Trainer):
                def get_train_dataloader(self):
                    return batches

            options = {"save_steps": 1, "num_train_epochs": 3, "report_to": "none", "use_cpu": True, "disable_tqdm": True, **options}
            args = transformers.TrainingArguments(str(tmp_path / "run"), **options)
            trainer = Clips(Module(), args, callbacks=[batches] if is_callback else [])
            trainer.train(resume_from_checkpoint=resume and str(tmp_path / f"run/checkpoint-{resume}"))
            trained.trainer = trainer
            return trainer.model.seen

        return trained

    @staticmethod
    def batches(ds, epochs, **options):
        loader = make(ds, **options)
        return [[(b.clips.tolist(), b.frames.double().sum().item()) for b in loader] for _ in range(epochs)]

    @pytest.mark.parametrize("accumulated, step", [(1, 3), (1, 6), (2, 4)])
    def test_it_resumes_exactly(self, ds, trained, accumulated, step):
        options = {"crop": vidrec.RandomCrop(16)}
        whole = sum(self.batches(ds, 3, **options), [])
        assert trained(make(ds, **options), gradient_accumulation_steps=accumulated) == whole
        weights = [each.clone() for each in trained.trainer.model.parameters()]
        per_epoch = len(whole) // 3
        steps_per_epoch = -(-per_epoch // accumulated)
        done = step // steps_per_epoch * per_epoch + step % steps_per_epoch * accumulated
        assert trained(make(ds, **options), resume=step, gradient_accumulation_steps=accumulated) == whole[done:]
        assert all(torch.equal(a, b) for a, b in zip(weights, trained.trainer.model.parameters()))
        assert trained.trainer.state.epoch == 3

    def test_what_cannot_resume_says_so(self, ds, trained):
        with pytest.raises(vidrec.UsageError, match="as a callback, too"):
            trained(make(ds), is_callback=False)


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


    def test_skipping_batches_says_what_to_call(self, ds, accelerator):
        skip = pytest.importorskip("accelerate").skip_first_batches
        accelerator()
        with pytest.raises(vidrec.UsageError, match=r"loader.load_state_dict\(state\).*TrainerLoader"):
            skip(make(ds), 2)


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
