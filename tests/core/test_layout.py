"""The shape of the tree: one import package, three linked folders, arrows that go one way."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINKED = ("metrics", "datasets", "leaderboard")
HEAVY = ("torch", "pandas", "pyarrow", "rdkit", "sklearn", "plotly", "numpy", "scipy")


def python(code: str, cwd: Path = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, env={**os.environ, **environ}
    )


@pytest.mark.parametrize("name", LINKED)
def test_linked_folders_are_reached_through_links_and_have_no_init(name: str) -> None:
    link = ROOT / "bench" / name
    assert link.is_symlink()
    assert os.readlink(link) == f"../{name}"
    assert not (ROOT / name / "__init__.py").exists()


def test_an_installed_package_named_datasets_wins_over_our_folder(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "__init__.py").write_text("whose = 'theirs'\n")
    done = python("import datasets; print(datasets.whose)", PYTHONPATH=str(tmp_path))
    assert done.stdout.strip() == "theirs", done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "import bench",
        "import bench.registry; bench.registry.load()",
        "import bench.cli.app",
        *(f"import sys; sys.argv = ['bench', 'list', '{kind}']; import bench.cli.app as a; a.app(standalone_mode=False)"
          for kind in ("models", "tasks", "datasets", "suites")),
        "import sys; sys.argv = ['bench', 'run', '--help']; import bench.cli.app as a; a.app(standalone_mode=False)",
    ],
)  # fmt: skip
def test_listing_and_help_load_nothing_heavy(code: str) -> None:
    done = python(f"{code}\nimport sys\nprint('HEAVY', [m for m in {HEAVY!r} if m in sys.modules])")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def imports_of(file: Path) -> set[str]:
    """Modules of ours that `file` imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{a.name}" for a in node.names}
    return {n for n in names if n == "bench" or n.startswith("bench.")}


def is_below(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(module + ".") for module in modules)


ARROWS = {
    "metrics": ("bench.metrics",),
    "datasets": ("bench.datasets", "bench.errors"),
    "bench/adapters": (
        "bench.adapters", "bench.spec", "bench.errors", "bench.artifacts", "bench.datasets.tabular.schema",
        "bench.datasets.packaged",  # weights that several families share
    ),
    "bench/models": (
        "bench.models", "bench.adapters", "bench.spec", "bench.errors", "bench.datasets.tabular.schema",
    ),
    "bench/tasks": (
        "bench.tasks", "bench.metrics", "bench.datasets", "bench.adapters", "bench.spec", "bench.errors",
        "bench.artifacts",
    ),
    "bench/stats": ("bench.stats",),
    "leaderboard": (
        "bench.leaderboard", "bench.store", "bench.stats", "bench.registry", "bench.spec", "bench.schema",
        "bench.errors", "bench.work",
    ),
}  # fmt: skip


@pytest.mark.parametrize("folder", ARROWS)
def test_arrows_go_one_way(folder: str) -> None:
    files = [f for f in (ROOT / folder).rglob("*.py") if "__pycache__" not in f.parts]
    assert files
    allowed = ARROWS[folder]
    wrong = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for name in imports_of(file)
        if not is_below(name, allowed)
    }
    assert not wrong


PLUGINS = ("bench.tasks", "bench.models", "bench.adapters", "bench.metrics", "bench.datasets")
CORE = ("", "artifacts", "catalog", "cli", "engine", "store", "submissions")  # folders of bench
# Plain data that a catalogue lists; that they load nothing heavy is tested above.
CARDS = ("bench.datasets.tabular.cards", "bench.datasets.tabular.dataset", "bench.datasets.tabular.openml")
# Folder of the core -> what stands above it and may not be imported there.
ABOVE = {
    "": ("bench.cli", "bench.leaderboard"),
    "artifacts": ("bench.cli", "bench.leaderboard", "bench.engine", "bench.store", "bench.plan", "bench.runner"),
    "engine": ("bench.cli", "bench.leaderboard", "bench.store", "bench.plan", "bench.runner", "bench.coordinator"),
    "store": ("bench.cli", "bench.leaderboard", "bench.engine", "bench.plan", "bench.runner", "bench.coordinator"),
    "submissions": ("bench.cli", "bench.leaderboard", "bench.engine", "bench.store", "bench.runner"),
}  # fmt: skip


@pytest.mark.parametrize("folder", CORE)
def test_the_core_reaches_tasks_and_models_through_the_registry_only(folder: str) -> None:
    files = sorted((ROOT / "bench" / folder).glob("*.py"))
    assert files
    wrong = {
        f"{file.name}: {name}"
        for file in files
        if file.name not in ("selftest.py", "__main__.py")  # a family of its own; the way in
        for name in imports_of(file)
        if is_below(name, (*PLUGINS, *ABOVE.get(folder, ())))
        and not is_below(name, ("bench.datasets.cache",))  # where files are kept; knows no data set
        and not (folder == "catalog" and is_below(name, CARDS))
    }
    assert not wrong


def test_no_module_is_named_like_one_of_the_standard_library() -> None:
    files = [f for top in ("bench", *LINKED) for f in (ROOT / top).rglob("*.py")]
    clashes = {str(f.relative_to(ROOT)) for f in files if f.stem in {"site", "queue", "statistics", "random"}}
    assert not clashes


def test_files_stay_small() -> None:
    files = [f for top in ("bench", *LINKED) for f in (ROOT / top).rglob("*.py")]
    long = {str(f.relative_to(ROOT)): n for f in files if (n := len(f.read_text().splitlines())) > 400}
    assert not long
