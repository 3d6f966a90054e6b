# `cmake --install` gives bin/heddle, bin/heddle-opt, lib/libheddle_rt.a and
# lib/libheddle_pictures.a, the runtime's headers, and find_package(Heddle) with heddle_compile(NAME MODEL).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

foreach(tool heddle heddle-opt)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(TARGETS heddle_rt heddle_pictures ARCHIVE DESTINATION lib)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/heddle
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/compiler/cmake/HeddleConfig.cmake
  DESTINATION lib/cmake/Heddle)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HeddleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HeddleConfigVersion.cmake
  DESTINATION lib/cmake/Heddle)
