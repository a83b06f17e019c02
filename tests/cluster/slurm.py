"""A Slurm cluster of one node on the loopback, without systemd."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "remote"))
from process import free_port, start  # noqa: E402

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch"]
CONFIGURATION = """
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName=node NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=node Default=YES MaxTime=INFINITE State=UP
"""


def cannot_run():
    """Why there can be no such cluster, if so."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    return "another machine: Slurm's daemons are started as root" if os.geteuid() != 0 else None


class Slurm:
    """The daemons, and the environment in which Slurm's commands find them."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        (folder / "state").mkdir()
        (folder / "spool").mkdir()
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=folder, controller=free_port(), daemon=free_port())
        )
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o600)
        files = {"socket": "munge.socket", "key-file": "munge.key", "log-file": "munge.log", "pid-file": "munge.pid"}
        options = [f"--{option}={folder / file}" for option, file in (files | {"seed-file": "munge.seed"}).items()]
        self.processes = [self._start("munged", "--foreground", "--force", *options)]
        self.processes.append(self._start("slurmctld", "-D", "-c"))
        self.processes.append(self._start("slurmd", "-D", "-N", "node"))

    def _start(self, *command):
        with (self.folder / f"{command[0]}.out").open("wb") as output:
            return start(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self.environment)

    def run(self, *command):
        """What a command prints; None if it fails."""
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=self.environment)
        return done.stdout.strip() if done.returncode == 0 else None

    def is_up(self):
        return self.run("sinfo", "--noheader", "--format=%T") == "idle"

    def is_idle(self):
        """Whether every job has ended."""
        return self.run("squeue", "--noheader") == ""

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
