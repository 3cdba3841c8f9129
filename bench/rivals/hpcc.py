#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of Debian's hpcc, whose HPL is a rival of apps/hpl: its rates, as JSON.

The launcher starts it once for each rank. It gives hpcc the kernels of OpenBLAS that apps/hpl
takes, and one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

# The example of the package, with other sizes; what follows the sizes is as it is there.
INPUT = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
{systems}    # of problems sizes (N)
{sizes}      Ns
1            # of NBs
{block}      NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{rows}       Ps
{columns}    Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
"""
_OF_A_JOB = ("OMPI_", "PMIX_", "PMI_", "ORTE_")
_WAIT_SECONDS = 30.0


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, required=True, help="N")
    parser.add_argument("--block", type=int, required=True, help="NB")
    parser.add_argument("--grid", required=True, help="P,Q")
    parser.add_argument("--systems", type=int, default=1, help="solved one after the other")
    parser.add_argument("--folder", type=Path, required=True, help="for its files, empty")
    parser.add_argument("--hpl", required=True, help="the program whose kernels are taken")
    parser.add_argument("--json", type=Path, required=True, help="where the rates go")
    return parser.parse_args()


def core_of(hpl: str) -> str:
    """Return the processor for which OpenBLAS computes in a program of our own, run by itself."""
    alone = {k: v for k, v in os.environ.items() if not k.startswith(_OF_A_JOB)}
    alone |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = [hpl, "--plain", "--size", "8", "--block", "8", "--repetitions", "1", "--json", "-"]
    done = subprocess.run(words, env=alone, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"hpcc: rank 0: {done.stderr.strip()}")
    return str(json.loads(done.stdout)["blas"]["core"])


def obstacle() -> str:
    """Return why the two cannot be compared; "" if they can."""
    program = shutil.which("hpcc")
    if program is None:
        return "it is not installed (tools/install-dependencies hpl)"
    if "OMPI_COMM_WORLD_RANK" not in os.environ:
        return "it is a program of Open MPI, this build has another MPI"
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    if "openblas" not in linked:
        return "its BLAS is not OpenBLAS (update-alternatives --config libblas.so.3-*)"
    return ""


def main() -> int:
    """Run one rank; the first one writes the input, and the rates that it finds in the output."""
    given = arguments()
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))
    why = obstacle()
    if why:
        if rank == 0:
            print(f"hpcc: rank 0: hpcc cannot be compared: {why}", file=sys.stderr)
        return 1
    rows, columns = given.grid.split(",")
    file = given.folder / "hpccinf.txt"
    if rank == 0:
        sizes = " ".join([str(given.size)] * given.systems)
        text = INPUT.format(systems=given.systems, sizes=sizes, block=given.block, rows=rows,
                            columns=columns)  # fmt: skip
        written = file.with_suffix(".new")
        written.write_text(text)
        written.rename(file)
    end = time.monotonic() + _WAIT_SECONDS
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.01)
    environment = os.environ | {
        "OPENBLAS_NUM_THREADS": "1",
        "OPENBLAS_CORETYPE": core_of(given.hpl),
    }
    code = subprocess.run(["hpcc"], cwd=given.folder, env=environment, check=False).returncode
    if rank != 0 or code != 0:
        return code
    output = (given.folder / "hpccoutf.txt").read_text()
    number = rf"^WR\S+\s+{given.size}\s+{given.block}\s+{rows}\s+{columns}\s+\S+\s+(\S+)$"
    rates = [float(found) for found in re.findall(number, output, re.MULTILINE)]
    if len(rates) != given.systems or output.count("PASSED") < given.systems:
        print(f"hpcc: rank 0: {given.systems} systems, rates {rates}\n{output}", file=sys.stderr)
        return 1
    about = {"program": "hpcc", "gflop_per_second_by_system": rates}
    given.json.write_text(json.dumps(about) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
