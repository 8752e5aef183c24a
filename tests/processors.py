"""The suite as other processors would run it, one after the other: `make test-processors`.

Each setting is one run of pytest with these variables; one line says what it gave. Arguments go to pytest.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

SETTINGS: dict[str, dict[str, str]] = {
    "an old processor, one thread": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "NUMBA_CPU_NAME": "generic",
        "OMP_NUM_THREADS": "1",
    },
    "a processor with AVX2, four threads": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OMP_NUM_THREADS": "4",
    },
}
"""Each library is switched by a variable of its own, so two runs cover all of them; what fails is run again with one
variable at a time to see whose it is."""
ROOT = Path(__file__).parents[1]


def run(setting: dict[str, str], arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """One run of pytest under a setting; one thread per process unless it says otherwise."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **setting}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def report(name: str, setting: dict[str, str], arguments: list[str]) -> list[str]:
    """Run a setting, say in one line what it gave, and return the tests that failed."""
    began = time.monotonic()
    done = run(setting, arguments)
    lines = done.stdout.splitlines() or ["no output"]
    variables = " ".join(f"{key}={value}" for key, value in setting.items())
    print(f"{name} ({variables}): {lines[-1]} [{time.monotonic() - began:.0f} s]", flush=True)
    red = [line for line in lines if done.returncode and line.startswith(("FAILED ", "ERROR "))]
    failed = [line.split(" - ")[0].partition(" ")[2] for line in red]
    for test in failed:
        print(f"    {test}", flush=True)
    return failed or (["pytest itself"] if done.returncode else [])


def main() -> int:
    """Run every setting; the exit code is 1 if one of them failed."""
    arguments = sys.argv[1:] or ["-n", "2", "-m", "not slow"]
    red = False
    for name, setting in SETTINGS.items():
        failed = report(name, setting, arguments)
        red = red or bool(failed)
        for key, value in setting.items() if failed and failed != ["pytest itself"] else ():
            report("    of these, with one variable", {key: value}, failed)
    return int(red)


if __name__ == "__main__":
    sys.exit(main())
