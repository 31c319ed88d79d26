# SPDX-License-Identifier: GPL-2.0-or-later
# lib.bash - runs `onespine check` on a machine that is not there
#
# Needs ONESPINE (the program), and FAKES (the folder of the fake libraries, BUILD/tests/fake/.libs).
# shellcheck shell=bash

FAKE_SOURCE=$(cd "${BASH_SOURCE[0]%/*}" && pwd -P)

# fake_prepare FOLDER: a healthy node in FOLDER/node, the fakes of NVML, CUDA, cuBLASLt and NCCL in FOLDER/lib
fake_prepare() {
	FAKE=$1
	"$FAKE_SOURCE/node" "$FAKE/node"
	mkdir -p "$FAKE/lib"
	cp "$FAKES/libnvml.so" "$FAKE/lib/libnvidia-ml.so.1"
	cp "$FAKES/libcuda.so" "$FAKE/lib/libcuda.so.1"
	local major # a node may have several
	for major in 11 12 13; do
		cp "$FAKES/libcublaslt.so" "$FAKE/lib/libcublasLt.so.$major"
	done
	cp "$FAKES/libnccl.so" "$FAKE/lib/libnccl.so.2"
}

# fake_check NODE [OPTION]...: the faults come in ONESPINE_FAKE_NVML, _CUDA and _SYSTEM. It hears an interrupt, also
# where the tests were begun in the background by a shell that lets them ignore it.
fake_check() {
	local node=$1
	shift
	env --default-signal=INT ONESPINE_TEST_ROOT="$node" ONESPINE_TEST_DATA="$FAKE_SOURCE/../../etc" LD_LIBRARY_PATH="${FAKE_LIB-$FAKE/lib}" LD_PRELOAD="$FAKES/libsystem.so${ONESPINE_TEST_PRELOAD:+:$ONESPINE_TEST_PRELOAD}" \
		ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0" "$ONESPINE" check "$@"
}
