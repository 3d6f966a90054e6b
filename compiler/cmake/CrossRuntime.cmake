# The runtime for other architectures than that of this machine: `ninja runtime-aarch64` builds its archives into
# lib/aarch64, where `heddle compile --mcpu=` looks for them. It needs a cross toolchain and is no part of `all`.
foreach(architecture aarch64)
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL architecture)
    add_custom_target(runtime-${architecture}
      COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/runtime-${architecture} -G ${CMAKE_GENERATOR}
        -DCMAKE_TOOLCHAIN_FILE=${PROJECT_SOURCE_DIR}/compiler/cmake/${architecture}.cmake -DHEDDLE_RUNTIME_ONLY=ON
        -DHEDDLE_RUNTIME_DIR=${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${architecture} -DHEDDLE_WERROR=${HEDDLE_WERROR}
        -DHEDDLE_CCACHE=${HEDDLE_CCACHE}
      COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}/runtime-${architecture}
      USES_TERMINAL COMMENT "The runtime for ${architecture}" VERBATIM)
  endif()
endforeach()
