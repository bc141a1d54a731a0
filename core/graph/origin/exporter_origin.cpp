// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/origin/exporter_origin.h"

#include "core/graph/origin/bounded_text.h"
#include "core/graph/origin/name_scopes.h"
#include "core/graph/origin/python_text.h"

namespace qs {

namespace {

/// Where PyTorch's modules among these are written: "batchnorm.py" of "torch.nn.modules.batchnorm.BatchNorm1d". Some
/// traces tell no folders of the files.
std::vector<std::string> filesOfPyTorch(const std::vector<ModuleLevel>& modules)
{
    std::vector<std::string> files;
    for (const ModuleLevel& level : modules) {
        const size_t end = level.type.rfind('.');
        const size_t begin = end == 0 || end == std::string::npos ? end : level.type.rfind('.', end - 1);
        if (begin != std::string::npos && level.type.starts_with("torch."))
            files.push_back(level.type.substr(begin + 1, end - begin - 1) + ".py");
    }
    if (!files.empty())
        files.push_back("functional.py"); // what those modules call
    return files;
}

void setFrames(ExporterOrigin& origin, std::vector<SourceFrame> frames, OriginEvidence by)
{
    if (frames.empty())
        return;
    origin.frames = std::move(frames);
    origin.frame = userFrame(origin.frames, filesOfPyTorch(origin.modules));
    origin.frameBy = by;
}

ExporterOrigin toldBy(const Metadata& metadata)
{
    ExporterOrigin origin;
    ModulePath modules = modulePathOf(metadata);
    if (!modules.levels.empty()) {
        origin.path = modules.levels.back().path;
        origin.pathBy = OriginEvidence::Metadata;
        origin.modules = std::move(modules.levels);
        origin.operation = std::move(modules.operation);
    }
    setFrames(origin, stackFrames(metadata.find("pkg.torch.onnx.stack_trace")), OriginEvidence::Metadata);
    origin.rewrittenBy = boundedName(metadata.find("pkg.onnxscript.rewriter.rule_name").substr(0, kMostEntryBytes));
    if (metadata.docString.empty() || origin.frame)
        return origin;
    setFrames(origin, stackFrames(metadata.docString), OriginEvidence::Documentation);
    if (!origin.frame)
        origin.documentation = boundedName(metadata.docString.substr(0, kMostEntryBytes));
    return origin;
}

void addName(ExporterOrigin& origin, const std::string& name)
{
    if (origin.pathBy != OriginEvidence::None)
        return;
    // TensorFlow joins scopes by slashes, PyTorch's modules are written with dots.
    const bool slashes = !name.starts_with('/') && name.find('/') != std::string::npos;
    for (const std::string& scope : nameScopes(name))
        origin.path += (origin.path.empty() ? "" : slashes ? "/" : ".") + scope;
    origin.path = boundedName(origin.path);
    if (!origin.path.empty())
        origin.pathBy = OriginEvidence::Name;
}

} // namespace

ExporterOrigin exporterOrigin(const SourceNode& node)
{
    ExporterOrigin origin = node.metadata ? toldBy(*node.metadata) : ExporterOrigin();
    addName(origin, node.name);
    return origin;
}

ExporterOrigin exporterOrigin(const Node& node)
{
    const NodeOriginPtr& from = node.cameFrom;
    ExporterOrigin origin = from && from->metadata ? toldBy(*from->metadata) : ExporterOrigin();
    for (DerivationPtr way = from ? from->derivation : nullptr; way && !origin.known(); way = way->outer) {
        if (way->nodes.empty() || !way->nodes.front().metadata)
            continue;
        const std::string documentation = std::move(origin.documentation);
        origin = toldBy(*way->nodes.front().metadata);
        origin.toldBy = origin.known() ? way->nodes.front().name : std::string();
        origin.documentation = documentation;
    }
    addName(origin, node.name);
    return origin;
}

std::string sourceLine(const SourceFrame& frame) { return frame.file + ":" + std::to_string(frame.line); }

std::string traceText(const std::vector<SourceFrame>& frames)
{
    std::string text;
    for (const SourceFrame& frame : frames) {
        text += "  File \"" + frame.file + "\", line " + std::to_string(frame.line);
        text += frame.function.empty() ? "\n" : ", in " + frame.function + "\n";
        text += frame.code.empty() ? "" : "    " + frame.code + "\n";
    }
    return text;
}

std::vector<std::string> foldedFrom(const Metadata& value)
{
    std::vector<std::string> names
        = pythonStrings(value.find("pkg.onnxscript.optimizer.folded_from").substr(0, kMostEntryBytes));
    for (std::string& name : names)
        name = boundedName(name);
    return names;
}

} // namespace qs
