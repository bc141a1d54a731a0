// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/write/export.h"

#include "core/base/files/atomic_file.h"
#include "core/base/files/file_identity.h"
#include "core/onnx/files/external_data.h"
#include "core/onnx/files/imported_models.h"
#include "core/onnx/files/stored_bytes.h"
#include "core/onnx/read/functions.h"
#include "core/onnx/write/proto_writer.h"
#include "core/tensor/convert.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <filesystem>
#include <new>

namespace qs {

namespace {

constexpr int kOldestWrittenIr = 4; ///< constants need not be inputs
constexpr size_t kExternalBytes = 1024; ///< smaller constants stay inside

/// The IR version that brought an element type.
int64_t firstIrOf(DType type)
{
    switch (type) {
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
        return 9;
    case DType::UInt4:
    case DType::Int4:
        return 10;
    case DType::Float4E2M1:
        return 11;
    case DType::Float8E8M0:
        return 12;
    case DType::UInt2:
    case DType::Int2:
        return 13;
    default:
        return kOldestWrittenIr;
    }
}

/// The source file once more, with the bytes its stripped tensors lack.
class SourceFile {
public:
    static Result<SourceFile> open(const std::string& path)
    {
        SourceFile source;
        if (path.empty())
            return source;
        QS_TRY(source.m_mapping, FileMapping::open(path));
        WireScanner scanner(source.m_mapping->bytes());
        auto stripped = scanner.strip(MessageKind::Model);
        if (!stripped || !parseStripped(*stripped, source.proto) || !source.proto.has_graph())
            return badInput("has changed since it was opened", path, "open it again");
        source.m_payloads = std::move(stripped->payloads);
        source.m_external = ExternalData::besideModel(path);
        return source;
    }
    onnx::ModelProto proto;

    /// What was read of it is what it held.
    Status unchanged() const
    {
        if (!m_mapping)
            return {};
        QS_CHECK(m_mapping->file()->unchanged());
        return qs::unchanged(m_external->files());
    }

    /// Puts back the payloads of all tensors below the message.
    Status restore(google::protobuf::Message& message)
    {
        if (auto* tensor = dynamic_cast<onnx::TensorProto*>(&message))
            return restoreTensor(*tensor);
        if (auto* node = dynamic_cast<onnx::NodeProto*>(&message))
            restoreNotes(*node);
        std::vector<const google::protobuf::FieldDescriptor*> fields;
        const auto* reflection = message.GetReflection();
        reflection->ListFields(message, &fields);
        for (const auto* field : fields) {
            if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE)
                continue;
            if (!field->is_repeated()) {
                QS_CHECK(restore(*reflection->MutableMessage(&message, field)));
                continue;
            }
            for (int i = 0; i < reflection->FieldSize(message, field); ++i)
                QS_CHECK(restore(*reflection->MutableRepeatedMessage(&message, field, i)));
        }
        return {};
    }

private:
    Status restoreTensor(onnx::TensorProto& tensor)
    {
        if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
            size_t count = 1;
            for (int64_t d : tensor.dims())
                count *= static_cast<size_t>(d);
            const auto type = static_cast<DType>(tensor.data_type());
            QS_TRY(const SharedBytes raw, m_external->read(tensor, storageBytes(type, count)));
            tensor.set_raw_data(raw.bytes.data(), raw.bytes.size());
            tensor.clear_external_data();
            tensor.clear_data_location();
        } else if (const auto index = payloadIndex(tensor); index && *index < m_payloads.size()) {
            const Payload& p = m_payloads[*index];
            tensor.set_raw_data(m_mapping->bytes().data() + p.offset, p.length);
        }
        tensor.mutable_unknown_fields()->DeleteByNumber(static_cast<int>(kPayloadField));
        return {};
    }
    void restoreNotes(onnx::NodeProto& node)
    {
        const std::vector<size_t> indices = noteIndices(node);
        node.mutable_unknown_fields()->DeleteByNumber(static_cast<int>(kPayloadField));
        for (const size_t index : indices) {
            if (index >= m_payloads.size())
                continue;
            const auto bytes = m_mapping->bytes().subspan(m_payloads[index].offset, m_payloads[index].length);
            node.MergeFromString({ reinterpret_cast<const char*>(bytes.data()), bytes.size() });
        }
    }
    std::shared_ptr<const FileMapping> m_mapping;
    std::vector<Payload> m_payloads;
    std::optional<ExternalData> m_external;
};

class ModelWriter {
public:
    ModelWriter(const GraphDraft& draft, SourceFile source)
        : m_draft(draft)
        , m_source(std::move(source))
    {
    }
    /// `external`: constants of at least kExternalBytes go there.
    Status make(AtomicFile* external, const std::string& externalName);
    const onnx::ModelProto& model() const { return m_model; }
    Status sourceUnchanged() const { return m_source.unchanged(); }

private:
    void header();
    Status nodes();
    Status node(onnx::NodeProto& out, const DraftNode& draft, onnx::NodeProto* file);
    Status constants(AtomicFile* external, const std::string& externalName);
    Status constant(onnx::TensorProto& out, const std::string& name, AtomicFile* external, const std::string& location);
    void inputs();
    void valueInfos();

    const GraphDraft& m_draft;
    SourceFile m_source;
    onnx::ModelProto m_model;
    std::unordered_map<std::string, onnx::TensorProto*> m_fileConstants;
    uint64_t m_externalBytes = 0;
};

void ModelWriter::header()
{
    int64_t ir = std::max<int64_t>(m_draft.source().irVersion, kOldestWrittenIr);
    for (const std::string& name : m_draft.constants())
        ir = std::max(ir, firstIrOf(m_draft.constant(name)->dtype()));
    m_model.set_ir_version(ir);
    m_model.clear_opset_import();
    for (const auto& [domain, version] : m_draft.opsets) {
        auto& import = *m_model.add_opset_import();
        import.set_domain(domain);
        import.set_version(version);
    }
    if (m_draft.producer != m_draft.source().producer) {
        const size_t space = m_draft.producer.find(' ');
        m_model.set_producer_name(m_draft.producer.substr(0, space));
        m_model.set_producer_version(space == std::string::npos ? "" : m_draft.producer.substr(space + 1));
    }
    m_model.clear_metadata_props();
    for (const auto& [key, value] : m_draft.metadata) {
        auto& entry = *m_model.add_metadata_props();
        entry.set_key(key);
        entry.set_value(value);
    }
}

Status ModelWriter::node(onnx::NodeProto& out, const DraftNode& draft, onnx::NodeProto* file)
{
    const Graph& graph = m_draft.source().graph;
    const bool renamed = !draft.origin.valid() || draft.name != graph.node(draft.origin).name;
    const NodeOriginPtr& from
        = draft.cameFrom || !draft.namedAfter.valid() ? draft.cameFrom : graph.node(draft.namedAfter).cameFrom;
    if (file)
        out = std::move(*file);
    else if (from && from->metadata)
        writeMetadata(out, *from->metadata);
    if (!file || renamed)
        out.set_name(draft.name);
    out.set_op_type(draft.opType);
    if (!draft.domain.empty() || !file)
        out.set_domain(draft.domain);
    out.clear_input();
    out.clear_output();
    for (const std::string& in : draft.inputs)
        out.add_input(in);
    for (const std::string& name : draft.outputs)
        out.add_output(name);
    if (!file || draft.attributesChanged)
        return writeAttributes(out, draft.attributes, draft.name);
    return {};
}

Status ModelWriter::nodes()
{
    auto& graph = *m_source.proto.mutable_graph();
    // Functions were expanded and nodes sorted, so a node is found again by what it makes.
    std::unordered_map<std::string, onnx::NodeProto*> byOutput;
    std::unordered_set<std::string> unnamed;
    for (auto& fileNode : *graph.mutable_node())
        for (const std::string& name : fileNode.output())
            if (!name.empty()) {
                byOutput.emplace(safeText(name), &fileNode);
                if (fileNode.name().empty())
                    unnamed.insert(safeText(name));
            }
    const Graph& source = m_draft.source().graph;
    const auto firstOutput = [&](NodeId id) {
        const auto outputs = id.valid() ? std::span(source.node(id).outputs) : std::span<const ValueId>();
        const auto it = std::ranges::find_if(outputs, [](ValueId out) { return out.valid(); });
        return it == outputs.end() ? std::string() : source.value(*it).name;
    };
    for (const DraftNode& draft : m_draft.nodes) {
        const auto found = byOutput.find(firstOutput(draft.origin));
        const bool same = found != byOutput.end() && safeText(found->second->op_type()) == draft.opType
            && safeDomain(found->second->domain()) == draft.domain;
        onnx::NodeProto& out = *m_model.mutable_graph()->add_node();
        QS_CHECK(node(out, draft, same ? found->second : nullptr));
        if (unnamed.contains(firstOutput(draft.namedAfter)))
            out.clear_name();
    }
    return {};
}

Status ModelWriter::constant(
    onnx::TensorProto& out, const std::string& name, AtomicFile* external, const std::string& location)
{
    const Tensor& tensor = *m_draft.constant(name);
    const auto file = m_fileConstants.find(name);
    if (file != m_fileConstants.end() && (m_draft.isSourceConstant(name) || !tensor.valid()))
        out = *file->second; // with its documentation and unknown fields
    out.mutable_unknown_fields()->DeleteByNumber(static_cast<int>(kPayloadField));
    if (!tensor.valid()) {
        QS_CHECK(m_source.restore(*file->second));
        out = *file->second;
        return {};
    }
    if (!external || tensor.dtype() == DType::String || tensor.byteCount() < kExternalBytes) {
        writeTensor(out, name, tensor);
        return {};
    }
    writeTensorHeader(out, name, tensor);
    out.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto entry = [&](const char* key, const std::string& value) {
        auto& e = *out.add_external_data();
        e.set_key(key);
        e.set_value(value);
    };
    const Tensor plain = toPlain(tensor);
    const auto bytes = plain.bytes();
    constexpr uint64_t kAlignment = 64;
    const std::string padding((kAlignment - m_externalBytes % kAlignment) % kAlignment, '\0');
    QS_CHECK(external->write(padding));
    m_externalBytes += padding.size();
    entry("location", location);
    entry("offset", std::to_string(m_externalBytes));
    entry("length", std::to_string(bytes.size()));
    QS_CHECK(external->write({ reinterpret_cast<const char*>(bytes.data()), bytes.size() }));
    m_externalBytes += bytes.size();
    return {};
}

Status ModelWriter::constants(AtomicFile* external, const std::string& externalName)
{
    for (auto& tensor : *m_source.proto.mutable_graph()->mutable_initializer())
        m_fileConstants.emplace(safeText(tensor.name()), &tensor);
    for (const std::string& name : m_draft.constants())
        QS_CHECK(constant(*m_model.mutable_graph()->add_initializer(), name, external, externalName));
    return {};
}

void ModelWriter::inputs()
{
    auto& graph = *m_model.mutable_graph();
    const auto& file = m_source.proto.graph();
    const Graph& source = m_draft.source().graph;
    const auto copy = [&](const auto& fromFile, const std::vector<std::string>& names, auto&& add) {
        for (const std::string& name : names) {
            const auto known = std::ranges::find_if(
                fromFile, [&](const onnx::ValueInfoProto& info) { return safeText(info.name()) == name; });
            onnx::ValueInfoProto& info = *add();
            const auto declared = m_draft.isInput(name) ? m_draft.types.find(name) : m_draft.types.end();
            if (known != fromFile.end() && declared == m_draft.types.end()) {
                info = *known;
                continue;
            }
            info.set_name(name);
            const ValueType& type
                = declared == m_draft.types.end() ? source.value(source.findValue(name)).type : declared->second;
            if (canWrite(type))
                writeType(*info.mutable_type(), type);
        }
    };
    // Constants that the file lists as inputs, too, would be mere defaults.
    copy(file.input(), m_draft.inputs(), [&] { return graph.add_input(); });
    copy(file.output(), m_draft.outputs(), [&] { return graph.add_output(); });
}

void ModelWriter::valueInfos()
{
    std::unordered_set<std::string> made;
    for (const DraftNode& draft : m_draft.nodes)
        made.insert(draft.outputs.begin(), draft.outputs.end());
    for (auto& info : *m_source.proto.mutable_graph()->mutable_value_info()) {
        const std::string name = safeText(info.name());
        if (made.contains(name) && !m_draft.types.contains(name) && !m_draft.isOutput(name))
            *m_model.mutable_graph()->add_value_info() = std::move(info);
    }
    for (const auto& [name, type] : m_draft.types)
        if (made.contains(name) && canWrite(type)) {
            auto& info = *m_model.mutable_graph()->add_value_info();
            info.set_name(name);
            writeType(*info.mutable_type(), type);
        }
}

Status ModelWriter::make(AtomicFile* external, const std::string& externalName)
{
    // Everything of the file but the graph's contents, which are made anew.
    m_model.Clear();
    onnx::GraphProto contents;
    contents.mutable_node()->Swap(m_source.proto.mutable_graph()->mutable_node());
    contents.mutable_initializer()->Swap(m_source.proto.mutable_graph()->mutable_initializer());
    contents.mutable_sparse_initializer()->Swap(m_source.proto.mutable_graph()->mutable_sparse_initializer());
    contents.mutable_value_info()->Swap(m_source.proto.mutable_graph()->mutable_value_info());
    contents.mutable_input()->Swap(m_source.proto.mutable_graph()->mutable_input());
    contents.mutable_output()->Swap(m_source.proto.mutable_graph()->mutable_output());
    m_model = m_source.proto;
    m_source.proto.mutable_graph()->Swap(&contents);
    if (m_model.graph().name().empty())
        m_model.mutable_graph()->set_name(
            m_draft.source().graph.name().empty() ? "graph" : m_draft.source().graph.name());
    header();
    QS_CHECK(nodes());
    QS_CHECK(m_source.restore(m_model));
    QS_CHECK(constants(external, externalName));
    inputs();
    valueInfos();
    return {};
}

uint64_t constantBytes(const GraphDraft& draft)
{
    uint64_t sum = 0;
    for (const std::string& name : draft.constants())
        sum += draft.constant(name)->byteCount();
    return sum;
}

/// Where external data go that do not take the place of those of the model that is replaced.
struct ExternalTarget {
    std::string name;
    std::string former; ///< path of those that only that model has; empty: there are none of ours
};

Result<ExternalTarget> externalTarget(const std::string& modelPath)
{
    const std::filesystem::path target = resolvedPath(modelPath);
    const auto beside = filesBeside(target.string());
    QS_TRY(const auto used, externalNames(target.string()));
    const auto nameOf = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
    const bool taken = std::ranges::find(used, nameOf(beside[0])) != used.end();
    const bool takenToo = std::ranges::find(used, nameOf(beside[1])) != used.end();
    return ExternalTarget { nameOf(beside[taken ? 1 : 0]), taken ? beside[0] : takenToo ? beside[1] : std::string() };
}

Result<std::vector<AtomicFile>> writeModel(
    const GraphDraft& draft, const std::string& path, const ExportOptions& options)
{
    QS_TRY(SourceFile source, SourceFile::open(draft.source().path));
    const uint64_t rest = source.proto.ByteSizeLong();
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    std::optional<AtomicFile> external;
    ExternalTarget target;
    if (constantBytes(draft) + rest > options.inlineLimit) {
        QS_TRY(target, externalTarget(path));
        const auto folder = std::filesystem::path(resolvedPath(path)).parent_path();
        QS_TRY(AtomicFile data, AtomicFile::create((folder / target.name).string()));
        external.emplace(std::move(data));
        if (!target.former.empty())
            file.removeAfterwards(target.former);
    }
    ModelWriter writer(draft, std::move(source));
    const Status made = writer.make(external ? &*external : nullptr, target.name);
    QS_CHECK(writer.sourceUnchanged()); // which would be why
    QS_CHECK(unchanged(ImportedModels::all().of(&draft.source())));
    QS_CHECK(made);
    google::protobuf::io::FileOutputStream stream(file.fd());
    if (!writer.model().SerializeToZeroCopyStream(&stream) || !stream.Flush())
        return stream.GetErrno() != 0
            ? file.writeIssue(stream.GetErrno())
            : badInput("exceeds what an ONNX file can hold, 2 GiB", path, "leave out weights");
    std::vector<AtomicFile> files;
    if (external)
        files.push_back(std::move(*external));
    files.push_back(std::move(file));
    return files;
}

} // namespace

Result<std::vector<AtomicFile>> stageModel(
    const GraphDraft& draft, const std::string& path, const ExportOptions& options)
{
    try {
        return writeModel(draft, path, options);
    } catch (const std::bad_alloc&) {
        return noMemory("needs more memory than there is to be written", path, "close other programs");
    }
}

Status exportModel(const GraphDraft& draft, const std::string& path, const ExportOptions& options)
{
    QS_TRY(std::vector<AtomicFile> files, stageModel(draft, path, options));
    return AtomicFile::commitAll(files);
}

std::vector<std::string> filesBeside(const std::string& path) { return { path + ".data", path + ".2.data" }; }

Result<std::string> exportToBytes(const GraphDraft& draft)
{
    QS_TRY(SourceFile source, SourceFile::open(draft.source().path));
    ModelWriter writer(draft, std::move(source));
    QS_CHECK(writer.make(nullptr, {}));
    return writer.model().SerializeAsString();
}

} // namespace qs
