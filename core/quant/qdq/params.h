// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/qdq/marks.h"
#include "core/tensor/quant_params.h"

namespace qs {

/// Parameters of one marked tensor.
struct QdqParams {
    QuantParams own; ///< unless it shares another tensor's
    std::optional<QuantParams> converted; ///< for some readers (mixed precision)
    std::set<std::string> convertedReaders; ///< node names; empty: all
    bool convertsFor(const std::string& node) const
    {
        return converted && (convertedReaders.empty() || convertedReaders.contains(node));
    }
};

/// Parameters, and the tensor that they are named after.
struct NamedParams {
    const QuantParams* params = nullptr; ///< null: there are none
    std::string holder;
    bool converted = false; ///< the holder's second ones
};

/// Parameters of every tensor that QdqMarks gives its own, and conversions of those that share.
class QdqParameters {
public:
    /// Issues: a range is missing or no number, a constant cannot be quantized as asked.
    static Result<QdqParameters> make(const QdqMarks& marks);
    /// Null when it has neither parameters of its own nor a conversion.
    const QdqParams* find(const std::string& name) const;
    /// What the tensor is made with: its own parameters, or those that the node it shares with sees.
    NamedParams original(const std::string& name) const;
    /// What the node named `reader` sees of the tensor.
    NamedParams seenBy(const std::string& name, const std::string& reader) const;

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
