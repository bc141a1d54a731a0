# SPDX-License-Identifier: GPL-3.0-or-later

# qs_unity(<target>): compiles its sources several at a time where QS_UNITY asks for it. What two of them both name in an
# unnamed namespace is an error then: share it, or give it a name that says more.
function(qs_unity target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${QS_UNITY})
endfunction()

# qs_library(<name> SOURCES ... [DEPS public targets ...] [PRIVATE targets ...] [NO_UNITY]): a static library qs_<name>.
# NO_UNITY: its sources cannot be compiled together.
function(qs_library name)
    cmake_parse_arguments(ARG "NO_UNITY" "" "SOURCES;DEPS;PRIVATE" ${ARGN})
    add_library(qs_${name} STATIC ${ARG_SOURCES})
    target_include_directories(qs_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(qs_${name} PUBLIC ${ARG_DEPS} PRIVATE qs_warnings ${ARG_PRIVATE})
    if(NOT ARG_NO_UNITY)
        qs_unity(qs_${name})
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

# What every test is compiled with. Where it lies is not told to it (QFINDTESTDATA is not used): a precompiled header
# serves only who has the same definitions.
function(qs_test_options target)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${target} PRIVATE QS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_compile_options(${target} PRIVATE -UQT_TESTCASE_BUILDDIR -UQT_TESTCASE_SOURCEDIR $<$<CONFIG:Release>:-Og>)
endfunction()

# qs_precompiled_tests(<name> DEPS ...): compiles tests/support/precompiled/<name>.h for the tests that depend on the same.
function(qs_precompiled_tests name)
    cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
    set(folder ${PROJECT_SOURCE_DIR}/tests/support/precompiled)
    add_library(qs_${name} OBJECT ${folder}/headers.cpp)
    target_link_libraries(qs_${name} PRIVATE qs_warnings Qt6::Test ${ARG_DEPS})
    qs_test_options(qs_${name})
    set_target_properties(qs_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_precompile_headers(qs_${name} PRIVATE ${folder}/${name}.h)
endfunction()

# qs_test_moc(<target> <sources>): what moc makes of each source with Q_OBJECT, for its `#include "<source>.moc"`. CMake's
# AUTOMOC would start two programs and compile one more file for every test.
function(qs_test_moc target)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_moc)
    file(MAKE_DIRECTORY ${folder})
    foreach(source ${ARGN})
        get_filename_component(path ${source} ABSOLUTE)
        file(STRINGS ${path} found REGEX "^ *Q_OBJECT" LIMIT_COUNT 1)
        if(found)
            get_filename_component(name ${source} NAME_WE)
            qt6_generate_moc(${path} ${folder}/${name}.moc)
            target_sources(${target} PRIVATE ${folder}/${name}.moc)
        endif()
    endforeach()
    target_include_directories(${target} PRIVATE ${folder})
endfunction()

# qs_test(<name> SOURCES ... DEPS ... [NO_UNITY]): a Qt Test executable test_<name>; it links only what DEPS name. Tests
# take longer to compile than to run: they are optimized a little only.
function(qs_test name)
    cmake_parse_arguments(ARG "NO_UNITY" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    add_executable(test_${name} ${ARG_SOURCES})
    set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(test_${name} PRIVATE qs_warnings Qt6::Test ${ARG_DEPS})
    qs_test_options(test_${name})
    qs_test_moc(test_${name} ${ARG_SOURCES})
    if(QS_PRECOMPILE AND ARG_DEPS MATCHES "qs_views")
        target_precompile_headers(test_${name} REUSE_FROM qs_window_tests)
    elseif(QS_PRECOMPILE AND NOT ARG_DEPS MATCHES "qs_(models|session|plots)|onnx_proto|Qt6::")
        target_precompile_headers(test_${name} REUSE_FROM qs_core_tests)
    endif()
    if(NOT ARG_NO_UNITY)
        qs_unity(test_${name})
    endif()
    add_test(NAME ${name} COMMAND test_${name})
    qs_test_environment(${name} ${ARG_TIMEOUT})
    if(NOT ARG_DEPS MATCHES "qs_(models|session|plots|views)|Qt6::")
        list(APPEND ARG_LABELS core)
        add_dependencies(core_tests test_${name})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
endfunction()
