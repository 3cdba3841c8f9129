# SPDX-License-Identifier: BSD-3-Clause
# The commands of this repository; the builds themselves are CMake's (CMakePresets.json), under build/<preset>/.
PYTHON := /usr/bin/python3
JOBS ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export MPLBACKEND := Agg
sources = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.hpp')

.DEFAULT_GOAL := help
.PHONY: help
help: ## what can be done here
	@echo 'make <target>, where <target> is'
	@sed -n 's/^\([a-z0-9-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 14
	@echo 'Missing Debian packages are installed first (tools/install-dependencies).'

.PHONY: demo
demo: build/demo/build.ninja ## STREAM with and without output, in several ways: a table and a picture, in a few minutes
	cmake --build --preset demo --target demo_programs
	$(PYTHON) apps/demo/demo.py --build build/demo --out build/demo

CHECK ?= release
.PHONY: check
check: build-$(CHECK) ## build, test, verify what the programs wrote; of the long matrices a selection
	ctest --preset $(CHECK) -LE full
	@echo 'Not in it: the plugin for HDF5 programs (make check-hdf5-connector builds an HDF5 first), and what make check-all does.'

.PHONY: check-full
check-full: build-release ## every test, with the whole matrices of formats, modes, placements and faults
	ctest --preset release

FAULT_SECONDS ?= 600
.PHONY: check-faults
check-faults: check-simulation build/release/build.ninja ## simulated faults, then real jobs under real faults, from a seed; SEED=N repeats one, FAULT_SECONDS=N (600)
	cmake --build --preset release --target actor iocomp_command
	mkdir -p build/faults
	build/release/tools/iocomp torture build/faults --seconds $(FAULT_SECONDS) $(if $(SEED),--seed $(SEED))

# As ctest does: more ranks than cores, on any of them, also for root.
check-chains check-accepted check-reader check-hdf5-backend: export OMPI_MCA_rmaps_base_oversubscribe := 1
check-chains check-accepted check-reader check-hdf5-backend: export OMPI_MCA_hwloc_base_binding_policy := none
check-chains check-accepted check-reader check-hdf5-backend: export OMPI_ALLOW_RUN_AS_ROOT := 1
check-chains check-accepted check-reader check-hdf5-backend: export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

KILLS ?= 50
.PHONY: check-chains
check-chains: build/release/build.ninja ## heat, killed and gone on with KILLS=50 times in each format and mode, ends with the same bytes; CHAINS=hdf5-sync picks some
	cmake --build --preset release --target actor heat
	cd tests/system && IOCOMP_TEST_BUILD=$(CURDIR)/build/release/tests/actor/build.json IOCOMP_TEST_KILLS=$(KILLS) \
	  $(PYTHON) -m pytest -v --tb=short -p no:cacheprovider $(if $(CHAINS),-k "$(CHAINS)") test_heat.py

ACCEPTED ?= 5000
.PHONY: check-accepted
check-accepted: build-release ## ACCEPTED=5000 files of random definitions: refused in the call, or found by the format's own reader; SEED=N repeats some
	cd tests/conformance/files && IOCOMP_TEST_BUILD=$(CURDIR)/build/release/tests/actor/build.json IOCOMP_TEST_FILES=$(ACCEPTED) \
	  $(if $(SEED),IOCOMP_TEST_SEED=$(SEED)) $(PYTHON) -m pytest -q -s -p no:cacheprovider -o addopts= test_accepted.py

READER_FILES ?= 2000
.PHONY: check-reader
check-reader: build-release ## READER_FILES=2000 random files, also repacked and extended by other tools: read alike by C, Python, xarray and the format's own library; SEED=N repeats from there
	IOCOMP_TEST_BUILD=$(CURDIR)/build/release/tests/actor/build.json \
	  $(PYTHON) tests/same_reader/same_reader.py --files $(READER_FILES) $(if $(SEED),--from $(SEED))

.PHONY: bench
bench: programs ## the benchmarks in about ten minutes, into build/bench/results.json; BENCH=id,... runs some
	$(PYTHON) bench/run.py --build build/release --out build/bench $(if $(BENCH),--only $(BENCH),--short --least 1 --seconds 300)

.PHONY: bench-full
bench-full: programs ## the same with at least five rounds of every figure that has a goal, over half an hour
	$(PYTHON) bench/run.py --build build/release --out build/bench

.PHONY: evidence
evidence: build/release/build.ninja ## what README and docs claim about speed, measured here: build/evidence/evidence.md; an hour, goes on where it was stopped; EVIDENCE=id,... some figures; ANEW=1 begins anew
	$(MAKE) rivals || echo 'make evidence: goes on without the rival above, whose figures are "not measured" (make rivals gets it)' >&2
	cmake --build --preset release --target programs
	$(PYTHON) bench/run.py --build build/release --out build/evidence --evidence $(if $(EVIDENCE),--only $(EVIDENCE)) $(if $(ANEW),--anew)

STUDY_MINUTES ?= 9
.PHONY: study
study: programs ## every client in every way that fits here, beside the published figures of ARCHER2: build/study/report.html; ten minutes
	cmake --build --preset release --target iocomp_command
	$(if $(CONTINUE),,rm -rf build/study)
	build/release/tools/iocomp study run studies/here.toml --out build/study --minutes $(STUDY_MINUTES)
	build/release/tools/iocomp study import archer2 --out build/study/archer2
	build/release/tools/iocomp study plot build/study build/study/archer2 --out build/study/figures
	build/release/tools/iocomp study report build/study build/study/archer2 --out build/study/report.html

.PHONY: rivals
rivals: build/release/build.ninja ## build ADIOS2, for the back-end adios2 and as a rival in make bench, and fetch others; once, about 3 minutes
	tools/install-adios2 openmpi
	cmake --preset release
	tools/install-wheel zarr
	tools/install-wheel tensorstore

SECONDS_OF_SIMULATION ?= 600
.PHONY: check-simulation
check-simulation: build/simulation/build.ninja ## a million simulated faults in ten minutes, after every planted bug was found
	cmake --build --preset simulation --target simulation
	build/simulation/tests/simulation/simulation --bugs
	build/simulation/tests/simulation/simulation --sweep
	build/simulation/tests/simulation/simulation --kept tests/simulation/kept
	$(PYTHON) tests/simulation/read_files.py build/simulation/tests/simulation/simulation --seeds 200 --focus crash --from new
	build/simulation/tests/simulation/simulation --from new --seconds $(SECONDS_OF_SIMULATION) --jobs $(JOBS)

MUTANTS ?= 420
.PHONY: check-mutants
check-mutants: | needs-base needs-mutants ## MUTANTS=420 small changes of the library, one at a time: which tests see each; hours of one core, and goes on where it was stopped
	$(PYTHON) -m pytest -q -p no:cacheprovider tests/simulation/mutate
	nice -n 19 tests/simulation/mutate/mutate all --count $(MUTANTS)

PROGRAMS ?= 60
FLUSH_KILLS ?= 5
HDF5_VERSIONS ?= 1.14
HDF5_MPI ?= openmpi
.PHONY: check-hdf5-connector
check-hdf5-connector: | needs-base ## the plugin for HDF5 programs: traps, FLUSH_KILLS=5, PROGRAMS=60 from seeds; HDF5_VERSIONS="1.14 2", HDF5_MPI="openmpi mpich": others
	set -e; for mpi in $(HDF5_MPI); do for version in $(HDF5_VERSIONS); do \
	  build=build/connector-$$version-$$mpi; \
	  tools/install-hdf5 $$version $$mpi; \
	  cmake --preset connector -B $$build -DMPI_C_COMPILER=mpicc.$$mpi -DMPI_CXX_COMPILER=mpicxx.$$mpi \
	    -DIOCOMP_CONNECTOR_HDF5=$(CURDIR)/build/hdf5-$$version-$$mpi; \
	  cmake --build $$build --target connector_tests; \
	  IOCOMP_TEST_PROGRAMS=$(PROGRAMS) IOCOMP_TEST_KILLS=$(FLUSH_KILLS) ctest --test-dir $$build -L connector --output-on-failure; \
	done; done

.PHONY: check-hdf5-backend
check-hdf5-backend: | needs-base ## the back-end hdf5 with HDF5_VERSIONS="1.14 2": its files, read by h5py with Debian's HDF5 and by iocomp
	set -e; for version in $(HDF5_VERSIONS); do \
	  build=$(CURDIR)/build/backend-hdf5-$$version; \
	  tools/install-hdf5 $$version openmpi; \
	  cmake --preset release -B $$build -DHDF5_ROOT=$(CURDIR)/build/hdf5-$$version-openmpi -DIOCOMP_WITH_ADIOS2=OFF; \
	  cmake --build $$build --target actor dump_inputs formats_test iocomp_command iocomp_reader iocomp_links_hdf5 \
	    $$(printf 'iocomp_format_%s iocomp_source_%s ' hdf5 hdf5 posix posix zarr zarr); \
	  $$build/tests/unit/formats/formats_test --gtest_brief; \
	  export IOCOMP_TEST_BUILD=$$build/tests/actor/build.json; \
	  (cd tests/conformance/files && $(PYTHON) -m pytest -q -p no:cacheprovider test_matrix.py -m quick -k hdf5); \
	  (cd tests/system && $(PYTHON) -m pytest -q -p no:cacheprovider test_compression.py test_continue.py test_fill.py test_text.py -k hdf5); \
	  $(PYTHON) tests/same_reader/same_reader.py --files 200 --only hdf5; \
	done

SCALE_RANKS ?= 64,256
.PHONY: check-smpi
check-smpi: build/smpi/build.ninja ## what a step costs among simulated ranks; SCALE_RANKS=64,1024 takes other numbers than 64,256
	cmake --build --preset smpi --target smpi_client
	SCALE_RANKS=$(SCALE_RANKS) ctest --preset smpi

.PHONY: check-slurm
check-slurm: build/release/build.ninja build/release-mpich/build.ninja | needs-slurm ## as root: jobs under a Slurm of virtual nodes, by the lines of iocomp map
	cmake --build --preset release --target slurm_tests
	cmake --build --preset release-mpich --target slurm_tests
	IOCOMP_NEED_SLURM=1 ctest --preset release -R '^slurm$$'
	IOCOMP_NEED_SLURM=1 ctest --preset release-mpich -R '^slurm$$'

NODE_SECONDS ?= 120
.PHONY: check-nodes
check-nodes: build-release build-release-mpich ## as root: jobs over virtual nodes, with Open MPI and MPICH: random files, and NODE_SECONDS=120 of nodes that die and stop
	tools/install-wheel mpich
	mkdir -p build/nodes
	set -e; for preset in release release-mpich; do \
	  IOCOMP_TEST_NODES=3 ctest --preset $$preset -R '^files_random$$'; \
	  build/$$preset/tools/iocomp torture build/nodes --only kill-node stop-node --seconds $(NODE_SECONDS); done

.PHONY: check-gpu
check-gpu: build-release ## with a GPU of NVIDIA: puts from its memory, in all formats and ways (it has not run yet)
	IOCOMP_TEST_GPU=card ctest --preset release -R '^gpu_test'
	IOCOMP_TEST_GPU=broken GTEST_FILTER='*GpuFailures*cuda_kernel' ctest --preset release -R '^gpu_test'

.PHONY: check-all
check-all: check-full check-dev-mpich check-asan check-tsan check-hdf5-connector check-hdf5-backend ## check, the same with MPICH and under the sanitizers, and the plugin for HDF5

.PHONY: check-smt
check-smt: build/release/build.ninja needs-smt ## mappings on an emulated machine with SMT and two NUMA nodes, in minutes
	set -e; for preset in release $(patsubst build/%/build.ninja,%,$(wildcard build/release-mpich/build.ninja)); do \
	  cmake --build --preset $$preset --target smt_programs; done
	tests/smt/fetch_kernel build/smt
	$(PYTHON) -m pytest -v -rs --tb=short -p no:cacheprovider tests/smt

FUZZ_SECONDS ?= 60
.PHONY: check-fuzz
check-fuzz: build-fuzz ## fuzz whatever reads what others wrote, FUZZ_SECONDS=60 for each target; installs Clang 19 (120 MB)
	tests/fuzz/run.py --build build/fuzz --seconds $(FUZZ_SECONDS) --grow

.PHONY: docs
docs: build/release/build.ninja | needs-docs ## the pages as a site, build/site/html/index.html: tutorials, guides, reference
	cmake --build --preset release --target site

.PHONY: abi
abi: build/release/build.ninja | needs-abi ## compare the library's interface with that of the last release (packaging/abi)
	cmake --build --preset release --target iocomp
	tools/check_abi build/release

.PHONY: lint
lint: needs-lint build/dev/build.ninja ## formatting, layers, comments, clang-tidy
	tools/lint

.PHONY: format
format: needs-format ## put all sources into the agreed form
	clang-format-19 -i $(sources)

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build

# The rest serves the targets above.
.PHONY: programs
programs: build/release/build.ninja
	cmake --build --preset release --target programs

presets := dev release asan tsan dev-mpich release-mpich asan-mpich
trees := $(presets:%=build/%/build.ninja) $(patsubst %,build/%/build.ninja,fuzz simulation demo smpi)

.PHONY: $(presets:%=check-%) $(presets:%=build-%) build-fuzz
$(presets:%=check-%): check-%: build-%
	ctest --preset $*

$(presets:%=build-%) build-fuzz: build-%: build/%/build.ninja
	cmake --build --preset $*

# Ninja runs CMake again by itself when a CMakeLists.txt changes, but does not know the presets.
$(trees): build/%/build.ninja: CMakePresets.json
	cmake --preset $*
	@touch $@
build/demo/build.ninja: | needs-demo
$(filter-out build/demo/build.ninja,$(trees)): | needs-base
$(filter %-mpich/build.ninja,$(trees)): | needs-mpich
build/fuzz/build.ninja: | needs-fuzz
build/smpi/build.ninja: | needs-smpi

.PHONY: needs-demo needs-base needs-mpich needs-slurm needs-format needs-lint needs-smt needs-smpi needs-fuzz needs-mutants needs-docs needs-abi needs-package
needs-demo needs-base needs-mpich needs-slurm needs-format needs-lint needs-smt needs-smpi needs-fuzz needs-mutants needs-docs needs-abi needs-package: needs-%:
	@tools/install-dependencies $*
