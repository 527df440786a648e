"""What a unit tries by itself: to be more than its account, to call the kernel, to see and write the host. Data."""

from errno import EACCES, EAFNOSUPPORT, EINVAL, ELOOP, ENOENT, ENOSYS, ENOTDIR, ENOTTY, ENXIO, EPERM, EROFS, ESPIPE
from signal import SIGSEGV, SIGSYS

from sandbox.answers import called, facts, failed, found_nothing, listed, own_account, refused, words
from sandbox.proofs import Area, table
from sandbox.spec import Role

ALL = tuple(Role)
INSIDE = tuple(role for role in Role if role is not Role.GATEWAY)
WITH_IP = (Role.CANDIDATE, Role.JUDGE, Role.GATEWAY)
WITHOUT_IP = tuple(role for role in Role if role not in WITH_IP)
_UNLESS_INSPECTION = tuple(role for role in Role if role is not Role.INSPECTION)

ARGUMENT = "$HOME ${PATH} $$ %n %% \\x20 'a' \"b\" ; | ünïcode"
"""An argument that a manager or a shell would change."""

_NOTHING, _READS_ALL = "0" * 16, "0" * 15 + "4"
_CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
_KERNEL_CALLS = words(
    "acct adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsmount "
    "fsopen fspick init_module io_uring_enter io_uring_register io_uring_setup kcmp kexec_file_load kexec_load mbind "
    "memfd_secret migrate_pages mount mount_setattr move_mount move_pages name_to_handle_at open_by_handle_at "
    "open_tree perf_event_open personality pidfd_getfd pivot_root process_madvise process_mrelease process_vm_readv "
    "process_vm_writev ptrace quotactl quotactl_fd reboot sched_setattr set_mempolicy setdomainname sethostname "
    "settimeofday swapoff swapon syslog umount2 userfaultfd vhangup"
)
_FAMILIES = words("netlink packet rds can tipc bluetooth alg vsock kcm qipcrtr xdp")
_UNSHARED = ("mount", "control group", "uts", "ipc", "user", "process", "network")
_HOST_FILES = words(
    "/boot /etc/crontab /etc/machine-id /etc/shadow /etc/ssh /etc/sudoers /run/systemd/private /run/user /srv /var/lib "
    "/var/log /var/spool"
)
_KERNEL_FILES = words(
    "/proc/1 /proc/cmdline /proc/kallsyms /proc/kcore /proc/key-users /proc/keys /proc/kmsg /proc/modules "
    "/proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sysvipc/shm /proc/version /sys/class /sys/fs/cgroup"
)
_DEVICES = words("/dev/fuse /dev/kmsg /dev/kvm /dev/loop-control /dev/loop0 /dev/mem /dev/net/tun /dev/tty0 /dev/vda")
_FOLDERS = words("/ /etc /home /opt /opt/probes /opt/launcher /proc /run /sys /usr /usr/bin /var")
_FILES = words("/etc/passwd /etc/ld.so.cache /opt/launcher/launcher.py /usr/bin/python3 /proc/self/exe")
_LISTINGS = {
    "/": "bin dev etc home lib lib32 lib64 libx32 opt proc root run sbin sys tmp usr var work",
    "/dev": "char core fd full hugepages log mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero",
    "/dev/hugepages": "",
    "/dev/mqueue": "",
    "/etc": "alternatives group hostname hosts ld.so.cache nsswitch.conf passwd resolv.conf ssl",
    "/home": "agent",
    "/opt": "launcher probes",
    "/run": "systemd",
    "/usr/local": "",
}

_ACCOUNT = table(
    Area.SANDBOX,
    (
        "own-account", (1, 8, 36), ALL,
        "ask for the own user and groups, beside those of two units that are there too",
        "one account of its own, no other group",
        "look/account", own_account,
    ),
    (
        "no-capability", (30,), _UNLESS_INSPECTION,
        "read the capabilities it holds and could come to hold",
        "none, nothing new by running a program, a system call filter",
        "look/status", facts(**dict.fromkeys(_CAPABILITIES, _NOTHING), NoNewPrivs="1", Seccomp="2"),
    ),
    (
        "one-capability", (30,), (Role.INSPECTION,),
        "read the capabilities it holds and could come to hold",
        "reading whatever the modes say and nothing else, nothing new, a system call filter",
        "look/status", facts(**dict.fromkeys(_CAPABILITIES, _READS_ALL), NoNewPrivs="1", Seccomp="2"),
    ),
    (
        "become-another", (30,), ALL,
        "call setuid, setgid, setgroups and setresuid for root",
        "EPERM",
        "look/identity-changes", refused(("setuid(0)", "setgid(0)", "setgroups([0])", "setresuid(0, 0, 0)"), EPERM),
    ),
    (
        "set-id-left-behind", (26, 31), ALL,
        "make set-user-id and set-group-id files, file capabilities and devices",
        "EPERM",
        "look/set-id",
        refused(
            ("a set-user-id file", "a set-group-id file", "file capabilities", "a character device", "a block device"),
            EPERM,
        ),
    ),
    (
        "privileged-programs", (20, 30), ALL,
        "run sudo, su, pkexec, mount, newuidmap, unshare and chroot",
        "each fails or is not there",
        "look/privileged-programs", failed(("sudo", "su", "pkexec", "mount", "newuidmap", "unshare", "chroot")),
    ),
    (
        "priority", (173,), ALL,
        "take a negative nice value, real-time scheduling and reads, an out-of-memory score below zero",
        "EPERM or EACCES",
        "look/priority",
        refused(
            (
                "a negative nice value",
                "real-time scheduling",
                "real-time reads and writes",
                "an out-of-memory score of -1",
                "an out-of-memory score of -1000",
            ),
            EPERM, EACCES,
        ),
    ),
    (
        "raise-limits", (6, 176), ALL,
        "raise the hard limits on file size, descriptors, processes and core files",
        "EPERM",
        "look/limits-raised", refused(("FSIZE", "NOFILE", "NPROC", "CORE"), EPERM),
    ),
    (
        "core-dump", (35,), ALL,
        "crash a process",
        "no core is dumped, no file is left",
        "look/crash", facts(signal=SIGSEGV.value, dumped=0, left=0),
    ),
    (
        "terminal", (34,), ALL,
        "open a terminal, and type into the streams",
        "there is none",
        "look/terminal",
        refused(
            (
                "open /dev/tty",
                "open /dev/console",
                "type into standard input",
                "type into standard output",
                "type into standard error",
            ),
            ENXIO, ENOENT, ENOTTY, EACCES, EPERM,
        ),
    ),
)  # fmt: skip

_CALLS = table(
    Area.SANDBOX,
    (
        "kernel-calls", (2, 19, 20), ALL,
        f"make {len(_KERNEL_CALLS)} system calls that no program here needs, as mount, ptrace, bpf and io_uring",
        "EPERM or ENOSYS",
        "look/kernel-calls", refused(_KERNEL_CALLS, EPERM, ENOSYS),
    ),
    (
        "key-rings", (19, 22), ALL,
        "make the system calls on the kernel's key rings",
        "EPERM or ENOSYS",
        "look/key-calls", refused(("add_key", "keyctl", "request_key"), EPERM, ENOSYS),
    ),
    (
        "new-namespaces", (18, 20), ALL,
        "make every kind of namespace by unshare, clone and clone3, and enter one by setns",
        "EPERM or ENOSYS",
        "look/new-namespaces",
        refused(
            (*(f"unshare: {name}" for name in _UNSHARED), "clone: user", "clone3", "setns: user", "setns: network"),
            EPERM, ENOSYS,
        ),
    ),
    (
        "other-call-tables", (18,), ALL,
        "call the kernel by its 32-bit and x32 entries, which a filter may not cover",
        "killed, EPERM or ENOSYS",
        "look/other-tables",
        refused(("32-bit entry", "x32 entry"), EPERM, ENOSYS, -SIGSYS.value, -SIGSEGV.value),
    ),
    (
        "address-families", (15,), ALL,
        "open sockets of families that reach kernel, hypervisor or wire: netlink, packet, alg, vsock and others",
        "EAFNOSUPPORT",
        "look/families", refused(_FAMILIES, EAFNOSUPPORT),
    ),
    (
        "ip-sockets", (3, 15), WITHOUT_IP,
        "open IP sockets",
        "EAFNOSUPPORT",
        "look/ip-families", refused(("inet", "inet6"), EAFNOSUPPORT),
    ),
    (
        "raw-sockets", (15, 196), ALL,
        "open raw IP sockets",
        "EPERM or EAFNOSUPPORT",
        "look/raw-sockets", refused(("icmp", "raw", "icmpv6"), EPERM, EACCES, EAFNOSUPPORT),
    ),
)  # fmt: skip

_SIGHTS = table(
    Area.SANDBOX,
    (
        "strange-files", (4, 10, 26, 44), ALL,
        "list /, /dev, /etc, /home, /opt, /run and /usr/local",
        "nothing beside what every unit is given",
        "look/listings", listed(_LISTINGS, there=("/", "/dev", "/etc", "/opt")),
    ),
    (
        "host-files", (4, 8, 37, 44, 62), ALL,
        "open files of the host's by path, and through the roots of other processes, two canaries among them",
        "ENOENT",
        "look/host-files", refused(_HOST_FILES, ENOENT, ENOTDIR),
    ),
    (
        "kernel-files", (7, 23, 27), ALL,
        "open the kernel's tables of machine and processes in /proc and /sys",
        "they are not there, or shut",
        "look/kernel-files", refused(_KERNEL_FILES, ENOENT, ENOTDIR, EACCES),
    ),
    (
        "devices", (26,), ALL,
        "open disks, loop devices, memory, kvm, fuse, tun and consoles",
        "they are not there",
        "look/devices", refused(_DEVICES, ENOENT, ENOTDIR),
    ),
    (
        "write-outside", (4, 38), ALL,
        "make files outside the own places, write the own program, launcher and interpreter",
        "EROFS, or no right to",
        "look/writing",
        refused(
            (*(f"a new file in {path}" for path in _FOLDERS), *(f"write {path}" for path in _FILES)),
            EROFS, EACCES, EPERM, ENOENT,
        ),
    ),
    (
        "control-group-files", (6, 29), ALL,
        "open the own control group's limits and members for writing",
        "they are not there, or shut",
        "look/control-groups",
        refused(
            ("cgroup.procs", "cgroup.freeze", "cpu.max", "memory.max", "pids.max", "tasks"),
            ENOENT, ENOTDIR, EACCES, EPERM, EROFS,
        ),
    ),
    (
        "telling-name", (27,), ALL,
        "read the own unit's name",
        "letters and digits without a meaning",
        "look/group-name", called(r"job-[0-9a-f]{16}\.service"),
    ),
    (
        "things-from-before", (24, 36, 44), ALL,
        "list home and the folders for temporary files at the very start",
        "they are empty",
        "look/places", found_nothing(least=3),
    ),
    (
        "secrets-in-sight", (8, 44), ALL,
        "look for a secret of the host's in the environment and arguments of every process in sight",
        "it is nowhere",
        "look/secrets", found_nothing(least=5),
    ),
    (
        "descriptors", (17,), INSIDE,
        "list every open descriptor",
        "three pipes",
        "look/descriptors", facts(**{"0": "pipe", "1": "pipe", "2": "pipe"}, cwd="/work"),
    ),
    (
        "gateway-descriptors", (17,), (Role.GATEWAY,),
        "list every open descriptor",
        "a socket to the runner and two pipes",
        "look/descriptors", facts(**{"0": "socket", "1": "pipe", "2": "pipe"}, cwd="/work"),
    ),
    (
        "environment", (44,), ALL,
        "list the names in the environment",
        "the four that are set for it",
        "look/environment", facts(names=["HOME", "LANG", "PATH", "TMPDIR"]),
    ),
    (
        "expanded-argument", (41,), ALL,
        "be started with an argument that a manager or a shell would change",
        "it arrives as it was given",
        "look/argument", facts(argument=[ARGUMENT]),
    ),
    (
        "followed-links", (37, 38, 62), (Role.INSPECTION,),
        "open links to the host that a candidate left in its workspace",
        "ELOOP or ENOENT",
        "look/links",
        refused(("link-1", "link-2", "link-etc", "link-up-1", "link-up-2"), ELOOP, ENOENT),
    ),
)  # fmt: skip

_STREAMS = table(
    Area.ARTIFACT,
    (
        "rewrite-output", (39, 163), ALL,
        "go back in standard output and error, and cut them",
        "they are pipes, which only go on",
        "look/streams",
        refused(
            ("seek in standard output", "cut standard output", "seek in standard error", "cut standard error"),
            ESPIPE, EINVAL,
        ),
    ),
    (
        "read-output-back", (17, 163), _UNLESS_INSPECTION,
        "open standard output and error again to read what was written",
        "EACCES",
        "look/reopened", refused(("standard output", "standard error"), EACCES, EPERM),
    ),
)  # fmt: skip

WITHIN = (*_ACCOUNT, *_CALLS, *_SIGHTS, *_STREAMS)
"""All of them."""
