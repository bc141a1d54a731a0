// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/stored_bytes.h"

#include "core/onnx/files/file_mapping.h"
#include "core/onnx/files/proto.h"
#include "core/onnx/files/wire_scanner.h"

#include <filesystem>
#include <set>

namespace qs {

namespace {

namespace fs = std::filesystem;

/// Names of the files beside a model in which its tensors lie.
class Locations {
public:
    void add(const onnx::TensorProto& tensor)
    {
        if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
            return;
        for (const auto& entry : tensor.external_data())
            if (entry.key() == "location")
                m_names.insert(entry.value());
    }
    void add(const onnx::SparseTensorProto& tensor)
    {
        add(tensor.values());
        add(tensor.indices());
    }
    void add(const onnx::GraphProto& graph)
    {
        for (const auto& tensor : graph.initializer())
            add(tensor);
        for (const auto& tensor : graph.sparse_initializer())
            add(tensor);
        addNodes(graph.node());
    }
    template <class Nodes> void addNodes(const Nodes& nodes)
    {
        for (const auto& node : nodes)
            for (const auto& attribute : node.attribute())
                add(attribute);
    }
    const std::set<std::string>& names() const { return m_names; }

private:
    void add(const onnx::AttributeProto& attribute)
    {
        add(attribute.t());
        add(attribute.sparse_tensor());
        for (const auto& tensor : attribute.tensors())
            add(tensor);
        if (attribute.has_g())
            add(attribute.g());
        for (const auto& graph : attribute.graphs())
            add(graph);
    }

    std::set<std::string> m_names;
};

/// Of all tensors; nullopt where it is no model.
std::optional<Locations> locationsIn(std::span<const std::byte> bytes)
{
    auto stripped = WireScanner(bytes).strip(MessageKind::Model);
    onnx::ModelProto proto;
    if (!stripped || !parseStripped(*stripped, proto))
        return std::nullopt;
    Locations locations;
    locations.add(proto.graph());
    for (const auto& function : proto.functions())
        locations.addNodes(function.node());
    return locations;
}

std::optional<uint64_t> bytesBeside(const std::string& modelPath, const std::string& name)
{
    std::error_code error;
    // model caches link to a store, where the other files may lie
    for (const fs::path& model : { fs::path(modelPath), fs::weakly_canonical(modelPath, error) })
        if (const auto size = fs::file_size(model.parent_path() / name, error); !error)
            return size;
    return std::nullopt;
}

} // namespace

Result<std::vector<std::string>> externalNames(const std::string& modelPath)
{
    std::error_code error;
    const fs::file_status status = fs::status(modelPath, error);
    if (status.type() == fs::file_type::not_found || (!error && !fs::is_regular_file(status)))
        return std::vector<std::string>();
    QS_TRY(const auto file, FileMapping::open(modelPath));
    const auto locations = locationsIn(file->bytes());
    return locations ? std::vector(locations->names().begin(), locations->names().end()) : std::vector<std::string>();
}

std::optional<uint64_t> storedBytes(const std::string& modelPath)
{
    const auto file = FileMapping::open(modelPath);
    if (!file)
        return std::nullopt;
    const auto locations = locationsIn((*file)->bytes());
    if (!locations)
        return std::nullopt;
    uint64_t total = (*file)->bytes().size();
    for (const std::string& name : locations->names()) {
        const auto bytes = bytesBeside(modelPath, name);
        if (!bytes)
            return std::nullopt;
        total += *bytes;
    }
    return total;
}

} // namespace qs
