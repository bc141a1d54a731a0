# SPDX-License-Identifier: GPL-3.0-or-later
# Compiler settings for every target, and the libraries of architecture, section 2.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set_property(GLOBAL PROPERTY USE_FOLDERS ON)

# What computes over elements adds -O3 in its folder. What only asks and shows is content with -Og: as fast there as with
# -O1 and no larger, and it takes a fifth to a quarter less to compile.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

option(QS_WERROR "Treat warnings as errors" OFF)
# Sources of a target are compiled several at a time, which reads each header once for all of them, and what most tests
# read is compiled once. A compiler cache, and who changes one file again and again, do better without.
if(CMAKE_CXX_COMPILER_LAUNCHER)
    set(QS_BUILD_ONCE OFF)
else()
    set(QS_BUILD_ONCE ON)
endif()
option(QS_UNITY "Compile several sources at a time" ${QS_BUILD_ONCE})
# Headers are two thirds of the work: few large batches cost least in all, more of them keep more cores busy. Those of 64
# take 2 GB each, and four are compiled at once on two cores.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)
math(EXPR megabytes_per_core "${memory} / ${cores}")
if(cores GREATER 4)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 16 CACHE STRING "How many")
elseif(megabytes_per_core GREATER 6000)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 64 CACHE STRING "How many")
else()
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 48 CACHE STRING "How many")
endif()
# Compilers collect their garbage for a tenth of their time, and need not where there is room.
if(QS_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND megabytes_per_core GREATER 3000)
    add_compile_options("SHELL:--param ggc-min-heapsize=1000000")
endif()
option(QS_PRECOMPILE "Compile what most tests include once" ${QS_BUILD_ONCE})
set(QS_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
option(QS_LIBFUZZER "Build the targets of tests/fuzz for libFuzzer, which needs clang" OFF)

add_library(qs_warnings INTERFACE)
target_compile_options(qs_warnings INTERFACE -Wall -Wextra -Wpedantic $<IF:$<BOOL:${QS_UNITY}>,-Wshadow=local,-Wshadow> -Wnon-virtual-dtor -Wno-missing-field-initializers -Wno-restrict
    $<$<BOOL:${QS_WERROR}>:-Werror>)
if(QS_UNITY) # a source that is included by another is taken for a header
    target_compile_options(qs_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(QS_SANITIZE)
    add_compile_options(-fsanitize=${QS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${QS_SANITIZE})
endif()
# Floats must not depend on contraction choices of the compiler.
add_compile_options(-ffp-contract=off)

find_package(PkgConfig REQUIRED)
find_package(Qt6 6.4 REQUIRED COMPONENTS Core Gui Widgets Svg SvgWidgets Test DBus PrintSupport)
find_package(QCustomPlotQt6 REQUIRED)
find_package(ONNX REQUIRED)
find_package(Protobuf REQUIRED)
find_package(dnnl REQUIRED)
find_package(Eigen3 REQUIRED)
# Our own threads share the work; what one of them computes must not depend on their number.
set_property(TARGET Eigen3::Eigen APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS EIGEN_DONT_PARALLELIZE)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenMP REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED) # used as headers alone, with limits of our own
pkg_check_modules(GRAPHVIZ REQUIRED IMPORTED_TARGET libgvc libcgraph)
