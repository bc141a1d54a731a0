// SPDX-License-Identifier: GPL-3.0-or-later
// What most tests of the core read; compiled once for all of them (qs_precompiled_tests). No test relies on it.
#pragma once

#include "core/graph/graph.h"
#include "core/tensor/convert.h"
#include "tests/support/tensors.h"

#include <QTemporaryDir>
#include <QtTest>

#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
