# HeddleLLVM: what every program of the compiler links of MLIR and LLVM. With LLD these are Debian's archives, named in
# one linker script: a program then starts in 8 ms instead of 36 (no symbols are looked up in two shared libraries of
# 250 MB), compiles a small model in a tenth less time, and is linked in 1.5 s. Other linkers take far longer for 660
# archives and get the two shared libraries. Never both: a process must hold MLIR once.
find_package(Threads REQUIRED)
add_library(HeddleLLVM INTERFACE)
find_library(HEDDLE_ZLIB z)
find_library(HEDDLE_ZSTD zstd) # both of LLVM's support library
if(CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=lld" AND HEDDLE_ZLIB AND HEDDLE_ZSTD)
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER archives EXCLUDE REGEX "CAPI") # MLIR for C
  list(JOIN archives "\n" archives)
  set(script ${PROJECT_BINARY_DIR}/llvm.ld)
  file(CONFIGURE OUTPUT ${script} CONTENT "GROUP(\n${archives}\n)\n" @ONLY)
  target_link_libraries(HeddleLLVM INTERFACE ${script} ${HEDDLE_ZLIB} ${HEDDLE_ZSTD} ${CMAKE_DL_LIBS} Threads::Threads m)
  target_link_options(HeddleLLVM INTERFACE -Wl,--gc-sections -no-pie) # else a start first relocates 100,000 pointers
else()
  target_link_libraries(HeddleLLVM INTERFACE MLIR LLVM)
endif()
