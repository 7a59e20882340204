"""A Debian 12 that boots, in which the service is tried: `python -m tests.installers vm`.

Made by debootstrap as the other places are, with a kernel and systemd beside; booted by qemu, which
emulates the processor, so that it needs no rights but takes a minute for what takes seconds. What
is done there stands in ``night``; it begins as a unit of the system, and its words come by the serial
line.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from tests.installers.night import FAILED, PASSED, TELLS
from tests.installers.tools import left_out
from tests.style.source import REPOSITORY

BASES = Path(os.environ.get("BASES", "/var/tmp"))
BASE = BASES / "debian12-boots"
NEEDS = (
    *("linux-image-cloud-amd64", "initramfs-tools", "systemd-sysv", "dbus", "udev", "kmod"),
    *("nodejs", "util-linux", "debconf-utils"),
)
SIZE, MEMORY_MB, LIMIT_S, SAID_MAX = "3G", "1500", 1500.0, 4_000
UNIT = """\
[Unit]
Description=Trial of the packages
After=multi-user.target
[Service]
Type=idle
ExecStart=/usr/bin/python3 /srv/trial/night.py
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
[Install]
WantedBy=graphical.target multi-user.target
"""


def boots(dist: Path) -> bool:
    """Try the packages of this folder, one below it for each version, in a machine that boots; tell
    whether all went right. Where a tool is missing, say so and leave it out."""
    if left_out("the machine that boots"):
        return True
    if not BASE.is_dir():
        make_base(dist)
    with tempfile.TemporaryDirectory(dir=BASES) as folder:
        image = make_image(dist, Path(folder))
        return run(image, Path(folder))


def make_base(dist: Path) -> None:
    """Make a Debian 12 that can boot, with all that the packages need: within, there is no network."""
    subprocess.run(["sh", "tests/places/fresh", "12", "true"], cwd=REPOSITORY, check=True)
    made = BASE.with_suffix(".part")
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run(["cp", "-a", str(BASES / "debian12"), str(made)], check=True)
    proxy = made / "etc/apt/apt.conf.d/90proxy"
    known = subprocess.run(
        ["apt-config", "dump"], capture_output=True, text=True, check=True
    ).stdout
    proxy.write_text(
        "".join(f"{each}\n" for each in known.splitlines() if "::proxy" in each.lower())
    )
    shutil.copy("/etc/resolv.conf", made / "etc/resolv.conf")
    package = next(dist.glob("*/wingbeat_*.deb"))
    words = ["dpkg-deb", "-f", str(package), "Depends"]
    depends = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    apt = ["chroot", str(made), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    for words in (["update"], ["satisfy", depends], ["install", *NEEDS]):
        subprocess.run(
            [*apt, "-y", "--no-install-recommends", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    proxy.unlink()
    made.rename(BASE)


def make_image(dist: Path, folder: Path) -> Path:
    """Make a disk of a copy of the base, with the package installed and the trial on it."""
    root = folder / "root"
    subprocess.run(["cp", "-a", str(BASE), str(root)], check=True)
    trial = root / "srv/trial"
    shutil.copytree(dist, trial / "dist")
    for each in ("night.py", "life.py"):
        shutil.copy(Path(__file__).with_name(each), trial)
    shutil.copytree(REPOSITORY / "tests/workflow/documents", trial / "documents")
    units = root / "etc/systemd/system"
    (units / "trial.service").write_text(UNIT)
    (units / "multi-user.target.wants").mkdir(exist_ok=True)
    (units / "multi-user.target.wants/trial.service").symlink_to("../trial.service")
    words = ["chroot", str(root), "env", "DEBIAN_FRONTEND=noninteractive"]
    subprocess.run([*words, "python3", "/srv/trial/night.py", "install"], check=True)
    image = folder / "disk"
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", str(root), str(image), SIZE], check=True)
    shutil.rmtree(root)
    return image


def run(image: Path, folder: Path) -> bool:
    """Boot it, pass on what the trial says, and wait until it is off; tell whether that was good."""
    said = folder / "said"
    process = subprocess.Popen(qemu(image, said), stdin=subprocess.DEVNULL)
    told: list[str] = []
    until_s = time.monotonic() + LIMIT_S
    try:
        while process.poll() is None and FAILED not in told and time.monotonic() < until_s:
            threading.Event().wait(1.0)
            told = pass_on(said, len(told))
    finally:
        process.kill()
        process.wait()
    told += pass_on(said, len(told))
    if PASSED not in told:
        print(said.read_text("utf-8", "replace")[-SAID_MAX:])
    return PASSED in told


def pass_on(said: Path, already: int) -> list[str]:
    """Print what the trial has said beyond so many lines; return all that it said."""
    lines = said.read_text("utf-8", "replace").splitlines() if said.exists() else []
    told = [each.partition(TELLS)[2].strip() for each in lines if TELLS in each]
    for line in told[already:]:
        print(f"  {line}", flush=True)
    return told


def qemu(image: Path, said: Path) -> list[str]:
    """The command that boots the disk, without a network, its serial line to a file."""
    boot = BASE / "boot"
    kernel, initrd = next(boot.glob("vmlinuz-*")), next(boot.glob("initrd.img-*"))
    words = [
        "qemu-system-x86_64",
        "-accel",
        "tcg",
        "-m",
        MEMORY_MB,
        "-smp",
        "2",
        "-display",
        "none",
    ]
    words += ["-kernel", str(kernel), "-initrd", str(initrd), "-nic", "none"]
    words += ["-append", "root=/dev/vda rw console=ttyS0 quiet systemd.show_status=0"]
    return [*words, "-drive", f"file={image},if=virtio,format=raw", "-serial", f"file:{said}"]
