#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Install a build into an empty prefix, build a C, a C++ and a Fortran program against it in both ways that users have, run them
# on 2 ranks with and without servers, and look at what they wrote.
#   install_test.sh <build> <C compiler> <C++ compiler> <MPI C compiler> <mpiexec> <libdir> [<MPI Fortran compiler>]
set -euo pipefail
build=$1 c_compiler=$2 cxx_compiler=$3 mpi_compiler=$4 mpiexec=$5 libdir=$6 fortran=${7-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
unset IOCOMP_CONFIG # nothing but the programs' own settings

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# quietly <command>...: its output only if it fails
quietly() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }
}

# check_run <program>: 1000 numbers in file order, whoever wrote them
check_run() {
  local mode folder
  for mode in async sync; do
    folder=$(mktemp -d -p "$work")
    (cd "$folder" && IOCOMP_MODE=$mode IOCOMP_PLACEMENT_SERVERS=1-per-1 quietly "$mpiexec" -n 2 "$1")
    od -An -v -td8 -w8 "$folder/numbers.bin" | tr -d ' ' | cmp - <(seq 0 999) ||
      fail "$1 in mode $mode wrote other numbers than 0 to 999"
  done
}

quietly cmake --install "$build" --prefix "$prefix"

echo 'Visible symbols'
visible=$(nm --dynamic --defined-only "$prefix/$libdir/libiocomp.so" | awk '$2 != "A" {print $3}')
grep -q '^iocomp_init' <<<"$visible" || fail 'libiocomp.so does not export iocomp_init'
! grep -v '^iocomp_' <<<"$visible" || fail 'libiocomp.so exports more than its interface (above)'

grep -q '@@IOCOMP_0\.3$' <(nm --dynamic --with-symbol-versions "$prefix/$libdir/libiocomp.so") ||
  fail 'its functions have no version'

echo 'By find_package'
quietly cmake -S "$here/user" -B "$work/by_cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$c_compiler" \
  -DCMAKE_CXX_COMPILER="$cxx_compiler" -DMPI_C_COMPILER="$mpi_compiler"
quietly cmake --build "$work/by_cmake"
check_run "$work/by_cmake/numbers_c"
check_run "$work/by_cmake/numbers_cpp"
if [ -n "$fortran" ]; then
  quietly cmake -S "$here/fortran_user" -B "$work/fortran" -DCMAKE_PREFIX_PATH="$prefix" \
    -DMPI_C_COMPILER="$mpi_compiler" -DMPI_Fortran_COMPILER="$fortran"
  quietly cmake --build "$work/fortran"
  check_run "$work/fortran/numbers_fortran"
fi

echo 'By pkg-config, from a tree that was moved'
mv "$prefix" "$work/moved"
prefix=$work/moved
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs iocomp) -Wl,-rpath,$prefix/$libdir"
quietly "$c_compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/user/numbers.c" -o "$work/numbers_c" "${flags[@]}"
quietly "$cxx_compiler" -std=c++20 -Wall -Wextra -Wpedantic -Werror \
  "$here/user/numbers.cpp" -o "$work/numbers_cpp" "${flags[@]}"
! "$cxx_compiler" -std=c++17 -c "$here/user/numbers.cpp" -o "$work/numbers.o" "${flags[@]}" 2>"$work/log" ||
  fail 'iocomp.hpp is taken as C++17'
grep -m 1 'error' "$work/log" | grep -q 'needs C++20' || { cat "$work/log" >&2; fail 'no error tells what it needs'; }
check_run "$work/numbers_c"
check_run "$work/numbers_cpp"
if [ -n "$fortran" ]; then
  read -ra flags <<<"$(pkg-config --cflags --libs iocomp-fortran) -Wl,-rpath,$prefix/$libdir"
  quietly "$fortran" -Wall -Wextra -Werror "$here/fortran_user/numbers.f90" -o "$work/numbers_fortran" "${flags[@]}"
  check_run "$work/numbers_fortran"
fi
echo 'The module file, in the tree that was moved'
modulecmd=$(command -v modulecmd.tcl || echo /usr/lib/$(uname -m)-linux-gnu/environment-modules/libexec/modulecmd.tcl)
if [ -e "$modulecmd" ]; then
  (
    unset PKG_CONFIG_PATH
    eval "$("$modulecmd" bash use "$prefix/share/iocomp/modulefiles")"
    eval "$("$modulecmd" bash load iocomp)"
    [ "$IOCOMP_ROOT" = "$prefix" ] || fail "the module sets IOCOMP_ROOT to ${IOCOMP_ROOT-nothing}"
    [ "$(command -v iocomp)" = "$prefix/bin/iocomp" ] || fail 'with the module there is no command iocomp'
    pkg-config --exists iocomp || fail 'with the module pkg-config does not find iocomp'
    LD_LIBRARY_PATH=$LD_LIBRARY_PATH check_run "$work/numbers_c"
  )
fi
echo 'A program of the first iocomp, compiled as then: ../include and ../lib'
mkdir "$work/client"
cp "$here/../compat/stream_v1.c" "$work/client"
ln -s "$prefix/$libdir/iocomp/v1/include" "$work/include"
ln -s "$prefix/$libdir/iocomp/v1/lib" "$work/lib"
(cd "$work/client" && quietly "$mpi_compiler" stream_v1.c -L../lib -liocomp -o stream_v1 &&
  LD_LIBRARY_PATH=$prefix/$libdir quietly "$mpiexec" -n 2 ./stream_v1 ht 0 2 &&
  [ "$(stat -c %s A_2.dat)" = 8000 ]) || fail 'a program of the first iocomp does not run'
echo 'The command torture, with the programs that were installed'
quietly "$prefix/bin/iocomp" torture "$work" --seed 1 --seconds 4 --jobs 1 --only no-write
grep -q ' faults in [1-9]' "$work/log" || fail 'iocomp torture has tried nothing'
echo "The installed tree serves C, C++${fortran:+ and Fortran} programs."
