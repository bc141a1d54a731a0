// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace qs {

/// What `info` says of one file.
struct ModelInfo {
    struct Port {
        std::string name;
        ValueType type;
    };
    struct Unsupported {
        std::string node, opType, reason;
    };
    std::vector<Port> inputs, outputs;
    size_t nodes = 0; ///< top-level nodes of the file
    std::map<std::string, size_t> nodeTypes; ///< "Conv", "com.microsoft.QGemm"
    std::map<std::string, size_t> innerTypes; ///< the same of nodes in bodies of If, Loop and Scan
    int64_t parameters = 0; ///< elements of float or dequantized constants, scales and zero points left out
    std::optional<int64_t> macs; ///< multiply-accumulates of one run; nullopt where sizes are unknown
    std::optional<int64_t> macsOfOne; ///< with a batch of one, where nothing but the inputs' first sizes is open
    QuantForm form = QuantForm::Float;
    std::set<std::string> activationTypes, weightTypes, granularity; ///< the last one of weights
    std::set<size_t> activationBits, weightBits; ///< of integer codes, those that a Clip leaves
    std::vector<Unsupported> unsupported;
    /// Nodes of the main graph, after functions were expanded, by what the file says of where they came from.
    struct Origins {
        size_t modulePath = 0; ///< the exporter's metadata name their module
        size_t stackTrace = 0; ///< a line of the program, of metadata or documentation
        size_t nameScope = 0; ///< their name alone has scopes
        size_t unknown = 0; ///< none of these
    } origins;
};
ModelInfo modelInfo(const LoadedModel& model);

} // namespace qs
