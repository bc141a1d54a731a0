# SPDX-License-Identifier: GPL-3.0-or-later

# qs_precompile(<target> headers ...): what many sources read anyway is read once; headers of ours by their path. Every
# source still includes what it uses: builds without QS_PCH show what is missing.
function(qs_precompile target)
    if(QS_PCH)
        list(TRANSFORM ARGN REPLACE "^(core|widgets|app)/" "${PROJECT_SOURCE_DIR}/\\1/")
        target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <optional> <string>
            <unordered_map> <vector> ${ARGN})
    endif()
endfunction()

# qs_library(<name> SOURCES ... [DEPS public targets ...] [PRIVATE targets ...] [PCH headers ...]): a static library
# qs_<name>. PCH: see qs_precompile.
function(qs_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE;PCH" ${ARGN})
    add_library(qs_${name} STATIC ${ARG_SOURCES})
    target_include_directories(qs_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(qs_${name} PUBLIC ${ARG_DEPS} PRIVATE qs_warnings ${ARG_PRIVATE})
    if(ARG_PCH)
        qs_precompile(qs_${name} ${ARG_PCH})
    endif()
endfunction()

# What every test runs with: no display, and what the sanitizers must know of third parties. Sanitized code is slow.
function(qs_test_environment test timeout)
    set(environment QT_QPA_PLATFORM=offscreen)
    if(QS_SANITIZE)
        set(support ${PROJECT_SOURCE_DIR}/tests/support)
        list(APPEND environment LSAN_OPTIONS=suppressions=${support}/lsan.supp:print_suppressions=0
            TSAN_OPTIONS=suppressions=${support}/tsan.supp:ignore_noninstrumented_modules=1 UBSAN_OPTIONS=print_stacktrace=1)
        math(EXPR timeout "${timeout} * 5")
    endif()
    if(QS_SANITIZE MATCHES thread)
        list(APPEND environment OMP_NUM_THREADS=1)
    endif()
    set_tests_properties(${test} PROPERTIES TIMEOUT ${timeout} ENVIRONMENT "${environment}")
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
    list(LENGTH ARG_SOURCES count)
    if(count GREATER 2) # for fewer it takes longer than it saves
        qs_precompile(test_${name} <QtTest>)
    endif()
    add_test(NAME ${name} COMMAND test_${name})
    qs_test_environment(${name} ${ARG_TIMEOUT})
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
endfunction()
