# The few shapes a folder of Heddle can have. Everything links MLIR and LLVM as HeddleLLVM (LinkLLVM.cmake).

# -DCMAKE_UNITY_BUILD=ON compiles the sources of a library eight at a time, which takes about half of the time.
# Without it less is compiled after a change. So a name that is local to a source is not another's in its library.

# Headers that nearly every file of the compiler includes are parsed once a build: parsing MLIR's
# is most of the time that a file takes. A source still includes what it uses;
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without, and shows what a source forgot.
#   heddle_precompiled(Name HEADERS [DEPENDS targets...]): Name can then be a library's PRECOMPILED.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE "-fPIC") # tools share it with libraries, so all have one kind of code
function(heddle_precompiled name headers)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp CONTENT "// The precompiled headers of ${name}.\n" @ONLY)
  add_library(${name} STATIC ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  heddle_compile_options(${name})
  target_precompile_headers(${name} PRIVATE ${headers})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# heddle_always_optimised(SOURCES...): loops over elements are optimised even in a debug build.
function(heddle_always_optimised)
  if(CMAKE_BUILD_TYPE STREQUAL Debug)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# heddle_library(Name SOURCES... [LINK libs...] [DEPENDS targets...] [PRECOMPILED name]): a static
# library of compiler code. Include path = repository path, sources and generated files alike.
function(heddle_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  heddle_compile_options(${name})
  heddle_reuse_precompiled(${name} ${ARG_PRECOMPILED})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} HeddleLLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# heddle_tool(name SOURCES... [LINK libs...]): an executable in build/bin.
function(heddle_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  heddle_compile_options(${name})
  heddle_reuse_precompiled(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} HeddleLLVM)
endfunction()

# heddle_tablegen(Target File.td -gen-x out.inc ...): one generated header per pair.
function(heddle_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args flags out)
    string(REPLACE " " ";" flags "${flags}")
    mlir_tablegen(${out} ${flags} EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

function(heddle_reuse_precompiled name)
  set(precompiled HeddlePrecompiled)
  if(ARGN)
    set(precompiled ${ARGN})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${precompiled})
endfunction()

function(heddle_compile_options name)
  target_include_directories(${name} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_include_directories(${name} SYSTEM PUBLIC
    ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC JSON_NOEXCEPTION _GLIBCXX_ASSERTIONS)
  # Clang lets libstdc++'s own use of std::get_temporary_buffer (in std::stable_sort) through as a warning.
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter -Wno-deprecated-declarations
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>) # for ccache
  if(HEDDLE_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  heddle_sanitized(${name})
endfunction()
