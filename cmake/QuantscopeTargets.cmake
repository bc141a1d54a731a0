# SPDX-License-Identifier: GPL-3.0-or-later

# qs_library(<name> SOURCES ... [DEPS public targets ...] [PRIVATE targets ...] [PCH headers ...]): a static library
# qs_<name>. PCH: headers that most sources read and that take long, precompiled where QS_PCH is on.
function(qs_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE;PCH" ${ARGN})
    add_library(qs_${name} STATIC ${ARG_SOURCES})
    target_include_directories(qs_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(qs_${name} PUBLIC ${ARG_DEPS} PRIVATE qs_warnings ${ARG_PRIVATE})
    if(QS_PCH AND ARG_PCH)
        target_precompile_headers(qs_${name} PRIVATE ${ARG_PCH})
    endif()
endfunction()

# qs_test(<name> SOURCES ... DEPS ...): a Qt Test executable test_<name>; it links only what DEPS name.
function(qs_test name)
    cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    add_executable(test_${name} ${ARG_SOURCES})
    set_target_properties(test_${name} PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(test_${name} PRIVATE qs_warnings Qt6::Test ${ARG_DEPS})
    target_compile_definitions(test_${name} PRIVATE QS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "QT_QPA_PLATFORM=offscreen" LABELS "${ARG_LABELS}")
endfunction()
