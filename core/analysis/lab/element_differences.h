// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"
#include "core/data/data_source.h"

#include <optional>
#include <string>
#include <vector>

/// Two models element by element: which elements differ by more than a tolerance, and where the first of them lies.
namespace qs {

/// Elements a and b are equal within it where |b - a| <= absolute + relative * |a|. NaN equals NaN.
struct ElementTolerance {
    double relative = 0, absolute = 0;
    bool operator==(const ElementTolerance&) const = default;
};

/// One of the two models. Codes are compared as the reals that they stand for.
struct ElementSide {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const QuantView> quant;
};

/// Two values of the same meaning.
struct ElementPair {
    std::string name; ///< in the float file, else in the first one
    ValueId a, b;
    bool output = false; ///< of the graph
};

/// What is compared.
struct ElementRequest {
    ElementSide a, b;
    std::shared_ptr<const Plan> fed; ///< the data follow this model's inputs
    std::vector<ElementPair> pairs;
    const DataSource* data = nullptr;
    ElementTolerance tolerance;
};

/// An element of a pair.
struct ElementPlace {
    size_t sample = 0;
    Shape at; ///< of the tensor's rank, batch axis included
    double a = 0, b = 0;
};

/// One pair over all samples.
struct ElementRow {
    std::string name, aName, bName;
    bool output = false;
    uint64_t elements = 0, beyond = 0; ///< compared; of them beyond the tolerance
    double largest = 0; ///< difference of finite elements
    std::optional<ElementPlace> first; ///< beyond the tolerance, by sample and then in row-major order
    double share() const { return elements ? double(beyond) / double(elements) : 0; }
};

struct ElementDifferences {
    ElementTolerance tolerance;
    std::vector<ElementRow> rows; ///< outputs first, then in the order of the request
    std::vector<std::string> unlike; ///< pairs left out, since their tensors differ in size
};

/// The first quantized model of one float model against the second: what both have a partner for. Values that exist in
/// one of them only before a rounding are left out.
std::vector<ElementPair> elementPairs(const ComparePair& a, const ComparePair& b);
/// The first model against the second, whatever they are: what the next node sees, so behind a quantizer of the first
/// (`firstQuant`) where there is one.
std::vector<ElementPair> elementPairs(const ComparePair& pair, const QuantView& firstQuant);

Result<ElementDifferences> compareElements(const ElementRequest& request, const WorkContext& work = {});

} // namespace qs
