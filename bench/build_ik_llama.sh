#!/usr/bin/env bash
# Builds ik_llama.cpp's llama-bench and llama-server for this machine's processor, to race against.
# Source: the source package ik-llama-cpp-python 0.1.5 of the Python package index (its wheel is
# built for AVX2 alone, which would be no rival). About 40 minutes on one core.
#
#     bench/build_ik_llama.sh FOLDER      -> FOLDER/build/bin/{llama-bench,llama-server}
set -euo pipefail
folder=${1:?usage: build_ik_llama.sh FOLDER}
jobs=${JOBS:-1}
package=ik_llama_cpp_python-0.1.5
mkdir -p "$folder"
cd "$folder"
if [ ! -d "$package" ]; then
  python3 -m pip download --quiet --no-deps --no-binary ik-llama-cpp-python -d . \
    ik-llama-cpp-python==0.1.5
  tar -xzf "$package.tar.gz"
fi
# The package lacks the step that writes down what was built.
step=$package/vendor/ik_llama.cpp/common/cmake/build-info-gen-cpp.cmake
mkdir -p "$(dirname "$step")"
cat > "$step" <<'END'
file(WRITE common/build-info.cpp "int LLAMA_BUILD_NUMBER = 0;
char const *LLAMA_COMMIT = \"unknown\";
char const *LLAMA_COMPILER = \"unknown\";
char const *LLAMA_BUILD_TARGET = \"native\";
")
END
# Attention kernels for quantised caches of keys and values, which nobody uses here, take longest.
cmake -S "$package/vendor/ik_llama.cpp" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DGGML_NATIVE=ON -DGGML_IQK_FA_ALL_QUANTS=OFF -DLLAMA_BUILD_TESTS=OFF > cmake.log 2>&1
nice -n 10 ninja -C build -j "$jobs" llama-bench llama-server > ninja.log 2>&1
echo "built $PWD/build/bin"
