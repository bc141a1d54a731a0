// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/qdq/marks.h"
#include "core/tensor/quant_params.h"

namespace qs {

/// Parameters of one marked tensor.
struct QdqParams {
    QuantParams own;
    std::optional<QuantParams> converted; ///< for some readers (mixed precision)
    std::set<std::string> convertedReaders; ///< node names; empty: all
    bool convertsFor(const std::string& node) const
    {
        return converted && (convertedReaders.empty() || convertedReaders.contains(node));
    }
};

/// Parameters of every tensor that QdqMarks gives its own.
class QdqParameters {
public:
    /// Issues: a range is missing or no number, a constant cannot be quantized as asked.
    static Result<QdqParameters> make(const QdqMarks& marks);
    /// Of a marked tensor, its provider's when it shares; null when there are none.
    const QdqParams* find(const std::string& name) const;
    /// What the node named `reader` sees of the tensor.
    const QuantParams* seenBy(const std::string& name, const std::string& reader) const;
    /// The tensor whose parameters `name` uses: itself, or its provider.
    std::string provider(const std::string& name) const;

private:
    explicit QdqParameters(const QdqMarks& marks)
        : m_marks(&marks)
    {
    }
    Status adjustForBiases();
    const QdqMarks* m_marks;
    std::unordered_map<std::string, QdqParams> m_params;
};

} // namespace qs
