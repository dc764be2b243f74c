# A toolchain file: builds for 64-bit Arm with Debian's cross compiler and runs tests in qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# `max` has every instruction set that there is a level for.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max)
