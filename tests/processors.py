"""The suite as other processors would run it, one after the other: `make test-processors`.

Each setting is one run of pytest with these variables; one line says what it gave. Arguments go to pytest.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

SETTINGS: dict[str, dict[str, str]] = {
    "torch without vectors": {"ATEN_CPU_CAPABILITY": "default"},
    "torch with AVX2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "MKL with SSE4.2": {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "MKL with AVX2": {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "Numba for any processor": {"NUMBA_CPU_NAME": "generic"},
    "one thread": {"OMP_NUM_THREADS": "1"},
    "four threads": {"OMP_NUM_THREADS": "4"},
}
ROOT = Path(__file__).parents[1]


def run(setting: dict[str, str], arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """One run of pytest under a setting; one thread per process unless it says otherwise."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **setting}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def main() -> int:
    """Run every setting; the exit code is 1 if one of them failed."""
    arguments = sys.argv[1:] or ["-n", "2", "-m", "not slow"]
    failed = False
    for name, setting in SETTINGS.items():
        began = time.monotonic()
        done = run(setting, arguments)
        failed = failed or done.returncode != 0
        lines = done.stdout.splitlines() or ["no output"]
        variables = " ".join(f"{key}={value}" for key, value in setting.items())
        print(f"{name} ({variables}): {lines[-1]} [{time.monotonic() - began:.0f} s]", flush=True)
        for line in lines if done.returncode else ():
            if line.startswith(("FAILED", "ERROR")):
                print(f"    {line}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
