"""A Slurm cluster of one machine for tests: munged, slurmctld and two slurmd, in a private folder and on free ports.  It needs no systemd,
no cgroups and no accounting; it runs as root or as anybody.  Unavailable tells why it cannot be started here."""
import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time

PATIENCE_S = 300
CONF = """
ClusterName=tactus
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port[0]}
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool-%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd-%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
MailProg=/bin/true
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=20
SlurmdTimeout=10
MinJobAge=300
NodeName=one,two NodeHostname={host} NodeAddr=127.0.0.1 CPUs=16 Port=[{port[1]},{port[2]}] State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 State=UP
"""


class Unavailable(Exception):
    """Slurm cannot be started on this machine, and why."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return sorted(ports)


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Cluster:
    def __init__(self, home):
        """Starts the daemons; home: a new folder."""
        self.home, self.daemons = home, {}
        for name in ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel"):
            if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
                raise Unavailable("%s is not installed (jobs/lib/install test)" % name)
        os.makedirs(home + "/state")
        for node in ("one", "two"):
            os.makedirs(home + "/spool-" + node)
        os.chmod(home, 0o755)
        with open(home + "/munge.key", "wb") as file:
            file.write(os.urandom(128))
        os.chmod(home + "/munge.key", 0o400)
        # The ports of the nodes follow each other in the list; any two will do.
        with open(home + "/slurm.conf", "w") as file:
            file.write(CONF.format(home=home, host=socket.gethostname(), user=getpass.getuser(), port=free_ports(3)))
        with open(home + "/mpi.conf", "w") as file: # else it would find what another cluster's jobs of the same number left in /tmp
            file.write("PMIxCliTmpDirBase=%s\n" % home)
        self.environment = dict(os.environ, SLURM_CONF=home + "/slurm.conf", PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def daemon(self, name, *command):
        with open("%s/%s.out" % (self.home, name), "ab") as out:
            self.daemons[name] = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                  start_new_session=True, preexec_fn=die_with_parent)

    def start(self):
        h = self.home
        self.daemon("munged", "munged", "--foreground", "--force", "--key-file=" + h + "/munge.key", "--socket=" + h + "/munge.socket",
                    "--pid-file=" + h + "/munged.pid", "--log-file=" + h + "/munged.log", "--seed-file=" + h + "/munge.seed")
        self.wait_start("munged", lambda: os.path.exists(h + "/munge.socket"))
        self.daemon("slurmctld", "slurmctld", "-D", "-i")
        self.wait_start("slurmctld", lambda: "UP" in self.ask("scontrol", "ping"))
        for node in ("one", "two"):
            self.start_node(node)
        self.wait_start("slurmd", lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"])
        try:
            said = self.call("srun", "-n", "1", "true")
        except subprocess.TimeoutExpired:
            raise Unavailable("srun hangs") from None
        if said.returncode:
            raise Unavailable("srun does not run: %s" % said.stderr.strip().split("\n")[0])

    def start_node(self, node):
        self.daemon("slurmd-" + node, "slurmd", "-D", "-N", node)

    def wait_start(self, name, ready):
        begin = time.monotonic()
        while not ready():
            for daemon, process in self.daemons.items():
                if process.poll() is not None:
                    raise Unavailable("%s ended with code %d: %s" % (daemon, process.returncode, self.last_words(daemon)))
            if time.monotonic() - begin > 60:
                raise Unavailable("%s does not answer: %s" % (name, self.last_words(name)))
            time.sleep(.1)

    def last_words(self, daemon):
        for ending in (".log", ".out"):
            try:
                with open(self.home + "/" + daemon + ending) as file:
                    lines = [line for line in file.read().split("\n") if line]
                if lines:
                    return lines[-1]
            except OSError:
                pass
        return "without a word"

    def call(self, *command, **more):
        """A command in the cluster's environment."""
        environment = dict(self.environment, **more)
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)

    def ask(self, *command):
        return self.call(*command).stdout

    def processes(self, **wanted):
        """Numbers of the processes of this cluster whose environment has these variables too."""
        found = []
        for pid in (name for name in os.listdir("/proc") if name.isdigit()):
            try:
                with open("/proc/%s/environ" % pid, "rb") as file:
                    variables = file.read().split(b"\0")
            except OSError:
                continue
            asked = dict(wanted, SLURM_CONF=self.home + "/slurm.conf")
            if int(pid) != os.getpid() and all(("%s=%s" % item).encode() in variables for item in asked.items()):
                found.append(int(pid))
        return found

    def stop(self):
        """Ends all that was started here."""
        if "slurmctld" in self.daemons:
            try:
                for job in self.ask("squeue", "-h", "-o", "%A").split():
                    self.call("scancel", "--signal=KILL", "--full", job)
                    self.call("scancel", job)
            except subprocess.TimeoutExpired:
                pass
        for process in self.daemons.values():
            process.terminate()
        for process in self.daemons.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
