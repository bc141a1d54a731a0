// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/graph/origin/module_path.h"
#include "core/graph/origin/stack_trace.h"

#include <string>
#include <vector>

namespace qs {

enum class OriginEvidence : uint8_t {
    None,
    Metadata, ///< of the exporter
    Documentation, ///< the node's doc_string, where exporters by TorchScript write the trace
    Name, ///< scopes in the node's name
};

/// The place in the exported program that a node came from, as the file tells it. Texts are bounded and can be shown.
struct ExporterOrigin {
    std::string path; ///< "block.0.conv1", "model/conv2d"; "" where it is not known, or the model itself
    OriginEvidence pathBy = OriginEvidence::None;
    std::vector<ModuleLevel> modules; ///< around the node, outermost first; empty where only the name tells the path
    std::string operation; ///< "aten.conv2d.default"
    std::vector<SourceFrame> frames; ///< outermost call first
    std::optional<size_t> frame; ///< the one to show (userFrame)
    OriginEvidence frameBy = OriginEvidence::None;
    std::string documentation; ///< a doc_string that is no trace
    std::string rewrittenBy; ///< rule of ONNX Script's optimizer that made the node of others; "" = none
    std::string toldBy; ///< the node whose metadata these are, where it is another one: a call, an If, a Loop

    bool known() const { return pathBy != OriginEvidence::None || frame.has_value(); }
    const SourceFrame* shownFrame() const { return frame ? &frames[*frame] : nullptr; }
    /// Class of the innermost module; "" where it is not known.
    std::string moduleType() const { return modules.empty() ? std::string() : modules.back().type; }
};

/// Of a node. Where the file says nothing of it, what it says of the call, If, Loop or Scan that it was taken out of
/// counts; last, its name.
ExporterOrigin exporterOrigin(const Node& node);
/// Of a node of the file that another came from.
ExporterOrigin exporterOrigin(const SourceNode& node);

/// "model.py:42", with the whole path of the file.
std::string sourceLine(const SourceFrame& frame);
/// As Python writes it, outermost call first.
std::string traceText(const std::vector<SourceFrame>& frames);

/// Names that ONNX Script's optimizer computed the value from (pkg.onnxscript.optimizer.folded_from).
std::vector<std::string> foldedFrom(const Metadata& value);

} // namespace qs
