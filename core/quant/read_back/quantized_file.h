// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/qdq/quant_view.h"

namespace qs {

/// Float names by names of the quantized file, for values that are called otherwise there.
using ValueNames = std::map<std::string, std::string>;

/// What a quantized file says of one value of the float model.
struct FileTensor {
    QuantRole role = QuantRole::Activation;
    bool constant = false; ///< of weights, biases and constant operands
    bool weight = false; ///< a constant that a product or a normalization multiplies with
    QuantParams params;
    DType real = DType::Float32; ///< type of the scale
    std::string scaleName; ///< value that holds the scale; empty where nothing names it
    std::string provider; ///< value whose parameters it shares; empty: its own
    Tensor codes; ///< of a constant
    std::string codesName; ///< value that holds these; empty: packed in another form
    bool exchanged = false; ///< products read the codes with rows and columns exchanged
    size_t pairs = 0; ///< QuantizeLinear nodes that read it
    bool ambiguous = false; ///< several quantizers of it have other parameters than this one
    bool clipped = false; ///< a Clip leaves only some of the codes of its type
    std::vector<std::string> floatReaders; ///< of an activation: nodes of the file that read it before its quantizer
    std::optional<QuantParams> converted; ///< second quantization for some readers
    std::vector<std::string> convertedReaders; ///< node names; empty: all
};

/// Type, scales, zero points, axis and blocks are the same to the bit. An axis of length 1 is none.
bool sameParameters(const QuantParams& a, const QuantParams& b);

/// A quantized file in the float model's names.
struct QuantizedFile {
    std::shared_ptr<const Model> model;
    QuantForm form = QuantForm::Float;
    std::map<std::string, FileTensor> tensors; ///< by the float value's name
    std::map<std::string, NodeId> nodes; ///< by name
    std::map<std::string, NodeId> producers; ///< by the float name of the value made, as floats or codes
    std::optional<Issue> fault; ///< of a quantizer that can be none; the rest says nothing then
    bool ownNames = false; ///< it calls values otherwise than the float model

    static QuantizedFile read(const std::shared_ptr<const Model>& model, const ValueNames& names);
    /// Null when the file does not quantize it.
    const FileTensor* find(const std::string& name) const;
    const Node* producer(const std::string& name) const;
};

} // namespace qs
