# The few shapes a folder of Heddle can have. Everything links MLIR and LLVM as
# Debian's two shared libraries: naming single MLIR archives would load MLIR twice.

# heddle_library(Name SOURCES... [LINK libs...] [DEPENDS targets...]): a static library
# of compiler code. Include path = repository path, sources and generated files alike.
function(heddle_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  heddle_compile_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# heddle_tool(name SOURCES... [LINK libs...]): an executable in build/bin.
function(heddle_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  heddle_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
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

function(heddle_compile_options name)
  target_include_directories(${name} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_include_directories(${name} SYSTEM PUBLIC
    ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC JSON_NOEXCEPTION _GLIBCXX_ASSERTIONS)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  if(HEDDLE_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(HEDDLE_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=address,undefined -fno-sanitize=vptr)
    target_link_options(${name} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()
