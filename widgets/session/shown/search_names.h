// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/place.h"

#include <QString>

#include <string>
#include <vector>

namespace qs {

/// What a search offers to go to.
struct NamedPlace {
    QString name;
    QString note; ///< type of the operator, "weight" ...
    bool node = false; ///< else a tensor
    Place place;
};

/// Nodes that one box stands for, by name: "Conv_3", "Relu_4".
using NamedUnits = std::vector<std::vector<std::string>>;

/// All nodes and tensors of both models, those that make one unit as one entry, named by all of them. First what was
/// compared and nodes, then other tensors, last what belongs to quantizers; alphabetically in each. Takes a while for
/// large models; safe in a worker.
std::vector<NamedPlace> searchNames(const Snapshot& snapshot, const NamedUnits& units = {});

} // namespace qs
