# `cmake --install` gives bin/heddle, bin/heddle-opt, the archives of the runtime in lib (those for
# other architectures in folders of their names), its headers, and find_package(Heddle) with heddle_compile(NAME MODEL).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

foreach(tool heddle heddle-opt)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(TARGETS heddle_main heddle_base heddle_inflate heddle_core heddle_program heddle_tokenizer heddle_device heddle_media heddle_pictures
  heddle_json heddle_generate heddle_encode heddle_bench heddle_template heddle_chat heddle_serve ARCHIVE DESTINATION lib)
install(FILES ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libheddle.dirs DESTINATION lib)
foreach(architecture aarch64) # where it was built (CrossRuntime.cmake)
  install(DIRECTORY ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${architecture} DESTINATION lib OPTIONAL)
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/heddle
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/compiler/cmake/HeddleConfig.cmake
  DESTINATION lib/cmake/Heddle)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HeddleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HeddleConfigVersion.cmake
  DESTINATION lib/cmake/Heddle)
