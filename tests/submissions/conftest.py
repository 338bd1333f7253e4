"""One workspace in which all three kinds were submitted and run, and one full of misbehaving submissions.

Each is made once a session with the real command line; tests that change files work on a copy.
"""

import io
import json
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bench.artifacts import artifact_digest
from bench.keys import unit_seed
from bench.store import Store
from tests.cli.conftest import Bench, run_bench

UNIT = {"task": "images.fidelity", "dataset": "digits", "size": "tiny"}
HOSTILE = "<script>alert(1)</script>[bold red]x[/] &amp; \"'`${7*7}{{7*7}} {% raw %} ../../etc"
ANSI, RTL = "\x1b[31mred\x1b]0;title\x07", "\u202eevil\u202c"


def seed_of(repeat: int, version: int = 1) -> int:
    return unit_seed(
        task=UNIT["task"], task_version=version, dataset=UNIT["dataset"], repeat=repeat, suite_seed=0
    )


def digits(n: int = 100, seed: int = 0) -> np.ndarray:
    """Noise in the shape of the data set `digits`."""
    return np.random.default_rng(seed).integers(0, 256, (n, 1, 8, 8), np.uint8)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """`bench(*args)` in an empty folder."""

    def call(*args: object, cwd: Path = tmp_path, **environ: str) -> subprocess.CompletedProcess[str]:
        return run_bench(*args, cwd=cwd, **environ)

    return call


def is_harmless(text: str) -> bool:
    """Whether a terminal shows `text` as it is written."""
    return all(c.isprintable() or c == "\n" for c in text)


@dataclass
class Workspace:
    """A folder with `submissions` and `results`, and what the command line said while they were made."""

    folder: Path
    said: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)

    def bench(self, name: str, *args: object, **environ: str) -> subprocess.CompletedProcess[str]:
        self.said[name] = run_bench(*args, cwd=self.folder, **environ)
        return self.said[name]

    def rows(self) -> dict[str, dict[str, Any]]:
        """The stored job of each model (each has one)."""
        found = Store.open(self.folder / "results").current().to_pylist()
        return {row["model"]: row for row in found}

    def copied(self, target: Path) -> "Workspace":
        shutil.copytree(self.folder, target, dirs_exist_ok=True)
        return Workspace(target, dict(self.said))


@pytest.fixture(scope="session")
def three_ways(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A class, a command and artifacts, each made, checked, submitted and run as a stranger would."""
    space = Workspace(tmp_path_factory.mktemp("three-ways"))
    for kind in ("class", "command", "artifacts"):
        space.bench(f"new {kind}", "new", "model", f"my-{kind}", "--kind", kind, "--size", "tiny")
    space.bench("export", "units", "--suite", "images", "--size", "tiny", "--export", "inputs")
    inputs = space.folder / "inputs/tiny/images.fidelity/digits/0"
    output = space.folder / "my-artifacts/artifacts/tiny/images.fidelity/digits/0"
    output.mkdir(parents=True)
    script = space.folder / "my-command/generate.py"
    subprocess.run([sys.executable, script, inputs, output, "7", "100"], check=True)
    space.bench("seal", "seal", "my-artifacts")
    for kind in ("class", "command", "artifacts"):
        space.bench(f"submit {kind}", "submit", f"my-{kind}")
    models = [word for kind in ("class", "command", "artifacts") for word in ("--model", f"my-{kind}")]
    space.bench("run", "run", "--suite", "all", "--size", "tiny", "--workers", 1, *models)
    return space


def write_submission(folder: Path, card: str, **files: str | bytes) -> Path:
    """A folder with submission.toml (`name` is the folder's) and `files`; "__" in a name stands for "."."""
    folder.mkdir(parents=True)
    text = f'name = "{folder.name}"\nversion = "1"\nfamilies = ["images"]\n{card}'
    (folder / "submission.toml").write_text(text)
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def command_card(*words: str, more: str = "") -> str:
    return f'kind = "command"\ncommand = {json.dumps(words)}\n{more}'


def shell(script: str, more: str = "") -> tuple[str, dict[str, str]]:
    return command_card("sh", "make.sh", "{input}", "{output}", "{seed}", "{n}", more=more), {
        "make__sh": script
    }


def artifact_table(
    folder: Path, path: str, *, repeat: int = 0, seed: int | None = None, sha: str = ""
) -> str:
    fields = {**UNIT, "repeat": repeat, "seed": seed_of(repeat) if seed is None else seed, "path": path}
    fields["sha256"] = sha or artifact_digest(folder / path)[0]
    return "\n[[units]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())


def bomb() -> bytes:
    """A PNG of 8,000 x 8,000 pixels in 60 kB."""
    import struct

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"\0" * (8_001 * 8_000))
    header = struct.pack(">IIBBBBB", 8_000, 8_000, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def png(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


BAD_COMMANDS: dict[str, str] = {
    "fails": r"printf '\033[31m<script>alert(2)</script>\n\342\200\256evil' >&2; "
    "yes '[red]word' | head -c 10000 >&2; exit 3",
    "dies": "kill -SEGV $$",
    "writes-nothing": "echo I had no idea >&2",
    "wrong-shape": 'cp wrong.npz "$2/images.npz"',
    "too-few": 'cp few.npz "$2/images.npz"',
    "soft-link": 'ln -s /etc/passwd "$2/images.npz"',
    "hard-link": 'ln good.npz "$2/images.npz" || cp -l good.npz "$2/images.npz"',
    "pipe": 'mkfifo "$2/images.npz"',
    "many-files": 'mkdir "$2/images"; i=0; while :; do i=$((i+1)); : > "$2/images/$i.png"; done',
    "huge-file": 'dd if=/dev/zero of="$2/images.npz" bs=1 count=1 seek=100G',
    "own-notes": 'cp good.npz "$2/images.npz"; echo "{\\"fits_on\\": \\"hold\\"}" > "$2/notes.json"',
    "two-forms": 'cp good.npz "$2/images.npz"; mkdir "$2/images"; cp picture.png "$2/images/"',
    "bomb": 'mkdir "$2/images"; cp bomb.png "$2/images/"',
    "damaged": 'mkdir "$2/images"; head -c 60 picture.png > "$2/images/0.png"',
    "nasty-name": 'mkdir "$2/images"; cp picture.png "$2/images/$(printf \'a\\033[31m\\nb\')"',
    "pickle": 'cp pickle.npz "$2/images.npz"',
}
GOOD_COMMANDS: dict[str, str] = {
    "reads-stdin": 'cat; cp good.npz "$2/images.npz"',
    "leaves-forks": 'cp good.npz "$2/images.npz"; (while :; do sleep 1; done) & sleep 1000 & echo started',
    "talks": "cp good.npz \"$2/images.npz\"; printf '\\033[2Jhello from sh\\n'; head -c 20000000 /dev/zero",
}


def _place_commands(submissions: Path) -> None:
    files: dict[str, str | bytes] = {
        "good__npz": npz(images=digits()),
        "few__npz": npz(images=digits(99)),
        "wrong__npz": npz(images=digits().transpose(0, 2, 3, 1)),
        "pickle__npz": npz(images=np.array([{}] * 100, dtype=object)),
        "picture__png": png(digits(1)[0, 0]),
    }
    more = f"title = {json.dumps(HOSTILE)}\nsummary = {json.dumps((HOSTILE * 20)[:1_000])}\n"
    for name, script in {**BAD_COMMANDS, **GOOD_COMMANDS}.items():
        card, script_file = shell(script, more)
        extra = {"bomb__png": bomb()} if name == "bomb" else {}
        write_submission(submissions / f"sh-{name}", card, **script_file, **files, **extra)
    card, script_file = shell(
        "sleep 1000 & trap '' TERM; while :; do sleep 1; done", "[resources]\ntimeout_s = 3\n"
    )
    write_submission(submissions / "sh-hangs", card, **script_file)
    card, script_file = shell("exit 0", 'programs = ["no-such-program-anywhere"]\n')
    write_submission(submissions / "sh-needs-program", card, **script_file)
    write_submission(submissions / "sh-not-there", command_card("./missing.sh", "{output}"))
    node = (
        "const fs = require('fs'), zlib = require('zlib');\n"
        "const [input, output, seed, n] = process.argv.slice(2);\n"
        "const unit = JSON.parse(fs.readFileSync(`${input}/unit.json`));\n"
        "if (unit.seed !== Number(seed) || unit.n !== Number(n)) process.exit(9);\n"
        "const [c, h, w] = unit.image_shape, table = Array.from({length: 256}, (_, k) => {\n"
        "  for (let i = 0; i < 8; i++) k = k & 1 ? 0xedb88320 ^ (k >>> 1) : k >>> 1; return k >>> 0; });\n"
        "const crc = b => (b.reduce((a, x) => table[(a ^ x) & 255] ^ (a >>> 8), -1) ^ -1) >>> 0;\n"
        "const u32 = v => { const b = Buffer.alloc(4); b.writeUInt32BE(v >>> 0); return b; };\n"
        "const chunk = (k, d) => { const b = Buffer.concat([Buffer.from(k), d]);\n"
        "  return Buffer.concat([u32(d.length), b, u32(crc(b))]); };\n"
        "let state = Number(seed) | 1;\n"
        "const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 24;\n"
        "fs.mkdirSync(`${output}/images`);\n"
        "for (let i = 0; i < unit.n; i++) {\n"
        "  const rows = Buffer.concat(Array.from({length: h}, () =>\n"
        "    Buffer.from([0, ...Array.from({length: w}, next)])));\n"
        "  fs.writeFileSync(`${output}/images/${String(i).padStart(5, '0')}.png`, Buffer.concat([\n"
        "    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),\n"
        "    chunk('IHDR', Buffer.concat([u32(w), u32(h), Buffer.from([8, 0, 0, 0, 0])])),\n"
        "    chunk('IDAT', zlib.deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]));\n"
        "}\n"
    )
    card = command_card("node", "make.js", "{input}", "{output}", "{seed}", "{n}")
    write_submission(submissions / "in-javascript", card, make__js=node)


def _place_classes(submissions: Path) -> None:
    source = (
        "import numpy as np\n"
        "from bench.adapters.images import ImageGenerator\n"
        "class Mine(ImageGenerator):\n"
        "    def sample(self, n, *, seed, labels=None, nfe=None):\n"
    )
    card = 'kind = "class"\nentry = "mine.py:Mine"\n' + f"title = {json.dumps(HOSTILE)}\n"
    good = "        return np.random.default_rng(seed).integers(0, 256, (n, 1, 8, 8), np.uint8)\n"
    write_submission(submissions / "cls-good", card, mine__py=source + good)
    bad = f"        raise ValueError({ANSI + RTL + HOSTILE + chr(10) + 'x' * 10_000!r})\n"
    write_submission(submissions / "cls-raises", card, mine__py=source + bad)


def _place_artifacts(submissions: Path) -> None:
    def place(name: str, make: Callable[[Path], None], **table: Any) -> None:
        folder = submissions / name
        (folder / "a").mkdir(parents=True)
        make(folder / "a")
        text = artifact_table(folder, "a", **table)
        head = f'kind = "artifacts"\nname = "{name}"\nversion = "1"\nfamilies = ["images"]\n'
        card = f"{head}title = {json.dumps(HOSTILE)}\n{text}"
        (folder / "submission.toml").write_text(card)

    def good(folder: Path) -> None:
        (folder / "images.npz").write_bytes(npz(images=digits()))

    def wrong(folder: Path) -> None:
        (folder / "images.npz").write_bytes(npz(images=digits() / 255))

    place("art-good", good)
    place("art-other-version", good, seed=seed_of(0, version=2))
    place("art-other-hash", good, sha="a" * 64)
    place("art-other-unit", good, repeat=5)
    place("art-wrong", wrong)


@pytest.fixture(scope="session")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Many bad submissions and a few good ones, put in place by hand and run together."""
    space = Workspace(tmp_path_factory.mktemp("misbehaving"))
    _place_commands(space.folder / "submissions")
    _place_artifacts(space.folder / "submissions")
    _place_classes(space.folder / "submissions")
    models = [word for glob in ("sh-*", "art-*", "cls-*", "in-*") for word in ("--model", glob)]
    space.bench("run", "run", "--suite", "images", "--size", "tiny", "--workers", 2, *models)
    return space
