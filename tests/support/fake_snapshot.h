// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

/// Snapshots without a run: a chain of Conv nodes whose tensors get worse and worse. For tests of models and views.
namespace qs::fake {

struct Options {
    size_t tensors = 5; ///< activations, the graph input included
    size_t samples = 2;
    double offsetDb = 0; ///< added to every accumulated SQNR
    bool accuracy = true;
    bool partial = false;
    std::string prefix = "layer";
};

SnapshotPtr comparison(const Options& options = {});
/// Only the float model, nothing compared.
SnapshotPtr floatOnly();

} // namespace qs::fake
