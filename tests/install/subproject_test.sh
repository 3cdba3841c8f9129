#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the library alone: as part of another project (FetchContent, which is add_subdirectory), with the libraries that it
# compiles in taken from folders, with MPI and hwloc alone. Compare what the programs write.
#   subproject_test.sh [--plan] <source> <C compiler> <C++ compiler> <MPI C compiler> <MPI C++ compiler> <mpiexec>
# With --plan nothing is compiled: it checks what would be.
set -euo pipefail
only_plan=false
if [ "$1" = --plan ]; then
  only_plan=true
  shift
fi
source=$1 c_compiler=$2 cxx_compiler=$3 mpi_compiler=$4 mpi_cxx=$5 mpiexec=$6
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset IOCOMP_CONFIG

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

quietly() {
  "$@" >"$work/log" 2>&1 || { tail -50 "$work/log" >&2; fail "$*"; }
}

# As their sources would lie; another machine would let CMake fetch them.
mkdir "$work/sources"
headers=()
for each in FMT:fmt NLOHMANN_JSON:nlohmann TOMLPLUSPLUS:toml++ XXHASH:xxhash.h; do
  folder=$work/sources/${each%%:*}
  mkdir -p "$folder/include"
  cp -r "/usr/include/${each#*:}" "$folder/include/"
  headers+=("-DFETCHCONTENT_SOURCE_DIR_${each%%:*}=$folder")
done
cp /usr/include/xxh3.h "$work/sources/XXHASH/include/" 2>/dev/null || true

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
quietly cmake -S "$here/subproject" -B "$work/build" -G Ninja -DIOCOMP_SOURCE="$source" "${headers[@]}" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 \
  -DCMAKE_C_COMPILER="$c_compiler" -DCMAKE_CXX_COMPILER="$cxx_compiler" -DMPI_C_COMPILER="$mpi_compiler" \
  -DMPI_CXX_COMPILER="$mpi_cxx" -DIOCOMP_WITH_ADIOS2=OFF -DIOCOMP_WITH_FORTRAN=OFF \
  -DIOCOMP_WITH_HDF5=OFF -DIOCOMP_WITH_NETCDF=OFF -DIOCOMP_WITH_PNETCDF=OFF "${launcher[@]}"
grep -q '^\(FETCHCONTENT_SOURCE_DIR_\)\?\(CLI11\|GTest\|IOCOMP_PYTHON\)' "$work/build/CMakeCache.txt" && fail 'the library alone looks for more than it needs'
# The modules that the programs load at run time come with the library that they link.
ninja -C "$work/build" -t targets all | grep -o 'libiocomp_\(format\|source\)_[a-z0-9_]*\.so' | sort -u >"$work/modules"
[ "$(wc -l <"$work/modules")" -gt 4 ] || fail 'there are no back-ends'
cmake --build "$work/build" --target numbers_c -- -n >"$work/plan"
while read -r module; do
  grep -q "Linking.*$module" "$work/plan" || fail "the target iocomp::iocomp does not build $module"
done <"$work/modules"
grep -q 'Linking.*libiocomp_format_mpiio\.so' "$work/plan" || fail 'a back-end is not built'
if $only_plan; then
  echo 'A project that has the library inside builds each back-end with it.'
  exit
fi
# Nothing but the programs.
quietly cmake --build "$work/build" --target numbers_c numbers_cpp
[ -e "$work/build/_deps/iocomp-build/lib/iocomp/libiocomp_format_mpiio.so" ] || fail 'a back-end was not built'
[ ! -e "$work/build/_deps/iocomp-build/tools" ] || fail 'the library alone builds the command'
objdump -p "$work/build/_deps/iocomp-build/lib/libiocomp.so" | grep 'NEEDED.*\(fmt\|xxhash\)' &&
  fail 'the library needs what was compiled in'

for program in numbers_c numbers_cpp; do
  folder=$(mktemp -d -p "$work")
  (cd "$folder" && IOCOMP_PLACEMENT_SERVERS=1-per-1 quietly "$mpiexec" -n 2 "$work/build/$program")
  od -An -v -td8 -w8 "$folder/numbers.bin" | tr -d ' ' | cmp - <(seq 0 999) || fail "$program wrote other numbers"
done

quietly cmake --build "$work/build"
quietly cmake --install "$work/build" --prefix "$work/prefix"
quietly cmake -S "$here/user" -B "$work/user" -DCMAKE_PREFIX_PATH="$work/prefix" -DMPI_C_COMPILER="$mpi_compiler"
quietly cmake --build "$work/user"
echo 'The library alone serves a project that has it inside, and one that finds it installed.'
