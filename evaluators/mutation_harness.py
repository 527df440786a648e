"""Runs a submitted pytest suite where it stands in the workspace, and tells the driver what happened. Loaded by path.

It is made of the parts of `pytest_harness`, which lies beside it. A hidden suite has a folder of its own; this one runs
as a candidate runs it: with the workspace as root, its own conftests, and pytest's usual way of importing test modules.
No bytecode is read from the workspace: a module of the same size and time may be another one.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluators import pytest_harness as harness
else:
    sys.path.insert(0, str(Path(__file__).parent))
    import pytest_harness as harness

    del sys.path[0]


def arguments(task: harness.Task) -> list[str]:
    """Give pytest's arguments: conftests of the workspace, and no configuration."""
    root = task.directory
    return [
        *("-c", os.devnull, "--rootdir", root, "--confcutdir", root),
        *("-p", "no:cacheprovider", "-q", "--tb=short", "--color=no"),
        *(str(Path(root, module)) for module in task.modules),
    ]


def main() -> None:
    """Run the suite; never return into anything that it could have left for the end."""
    send, task = harness.read_task()
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "PYTHON"))]:
        del os.environ[name]
    # This interpreter ignores them (-I); programs that tests start need them.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join([*task.imports, *task.toolchain])
    runner = harness.import_pytest(task.toolchain)
    for hook in (harness.Reporter.pytest_runtest_call, harness.Reporter.pytest_runtest_makereport):
        runner.hookimpl(wrapper=True, tryfirst=True)(hook)
    os.chdir(task.directory)
    reporter = harness.Reporter(send, Path(task.directory))
    send({"kind": "started"})
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp()
    sys.path += task.imports
    status = runner.main(arguments(task), plugins=[reporter])
    send({"kind": "finished", "status": int(status)})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
