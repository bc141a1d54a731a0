// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/import.h"

#include "core/base/work/long_work.h"
#include "core/onnx/files/imported_models.h"
#include "core/onnx/read/graph_reader.h"
#include "core/onnx/read/moved_attributes.h"
#include "core/onnx/read/value_reader.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace qs {

namespace {

constexpr int kOldestIrVersion = 3;
/// What a byte of the file beside weights becomes: nodes and values with their names, and the plan made of them.
constexpr uint64_t kBytesOfMessageByte = 32;

std::string_view asText(std::span<const std::byte> bytes)
{
    return { reinterpret_cast<const char*>(bytes.data()), bytes.size() };
}

Issue notAModel(std::span<const std::byte> bytes)
{
    if (asText(bytes).starts_with("version https://git-lfs"))
        return badInput("is not an ONNX model but a placeholder of Git LFS", {}, "fetch the file with 'git lfs pull'");
    return badInput("is not an ONNX model", {}, "give an .onnx file");
}

Issue scanIssue(const ScanError& error, std::span<const std::byte> bytes)
{
    // Every writer puts the IR version, a small number, first.
    const bool plausible = bytes.size() >= 2 && bytes[0] == std::byte(0x08) && bytes[1] < std::byte(0x80);
    if (!plausible)
        return notAModel(bytes);
    switch (error.kind) {
    case ScanError::Kind::Truncated:
        return badInput("is cut off: its " + std::to_string(bytes.size()) + " bytes end inside of a field", {},
            "copy or export the file again");
    case ScanError::Kind::TooDeep:
        return badInput("nests its subgraphs too deeply to be read", {}, "simplify the model");
    case ScanError::Kind::TooLarge:
        return badInput("has more than 2 GiB beside its weights", {}, "store the weights as raw or external data");
    case ScanError::Kind::Malformed:
        break;
    }
    return badInput("is damaged at byte " + std::to_string(error.offset), {}, "copy or export the file again");
}

std::string joined(const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + " " + b; }

Status checkHeader(const onnx::ModelProto& proto, std::span<const std::byte> bytes)
{
    if (!proto.has_graph()) {
        Issue issue = notAModel(bytes);
        if (proto.has_ir_version())
            issue.what = "is not an ONNX model, or is cut off: it has no graph";
        return issue;
    }
    if (proto.ir_version() < kOldestIrVersion)
        return badInput("has IR version " + std::to_string(proto.ir_version()) + ", but only 3 and later can be opened",
            {}, "convert it with a recent exporter");
    if (proto.opset_import_size() == 0)
        return badInput("imports no operator set, or is cut off", {}, "copy or export the file again");
    return {};
}

Result<std::shared_ptr<const Model>> readModel(
    const std::string& path, SharedBytes file, ExternalData external, uint64_t memoryLimit)
{
    if (file.bytes.empty())
        return badInput("the file is empty", {}, "copy or export the file again");
    WireScanner scanner(file.bytes);
    auto stripped = scanner.strip(MessageKind::Model);
    if (!stripped)
        return scanIssue(scanner.error(), file.bytes);
    const uint64_t graphBytes = kBytesOfMessageByte * stripped->bytes.size();
    if (memoryLimit > 0 && graphBytes > memoryLimit)
        return badInput("the graph needs about " + std::to_string(graphBytes) + " bytes, more than the memory limit of "
                + std::to_string(memoryLimit),
            {}, "use a larger --memory-limit");
    onnx::ModelProto proto;
    if (!parseStripped(*stripped, proto)) {
        Issue issue = notAModel(file.bytes);
        issue.what += ", or is damaged";
        return issue;
    }
    ReadingBudget budget(stripped->bytes.size(), file.bytes.size());
    stripped->bytes = {};
    QS_CHECK(checkHeader(proto, file.bytes));

    const std::shared_ptr<Model> model = ImportedModels::all().make();
    model->path = path;
    model->graphBytes = graphBytes;
    model->irVersion = proto.ir_version();
    model->producer = safeText(joined(proto.producer_name(), proto.producer_version()));
    model->opsetImports = opsetImportsOf(proto.opset_import());
    for (const auto& entry : proto.metadata_props())
        model->metadata.insert_or_assign(safeText(entry.key()), safeText(entry.value()));
    model->fileNodes = static_cast<size_t>(proto.graph().node_size());
    model->hasFunctions = proto.functions_size() > 0;
    TensorReader tensors(std::move(file), std::move(stripped->payloads), std::move(external), budget);
    const FunctionTable functions(proto, model->opsetImports);
    GraphReader reader(tensors, functions, budget);
    QS_TRY(model->graph, reader.readMain(proto, model->opsetImports));
    model->warnings = reader.takeWarnings();
    for (const std::string& line : movedAttributes(model->graph))
        model->warnings.push_back(model->path + ": " + line);
    model->valueNotes = reader.valueNotes();
    ImportedModels::all().keep(model.get(), tensors.externalFiles());
    return std::shared_ptr<const Model>(model);
}

/// Reads a whole file as a message of that kind; `read` makes the value of it.
template <class Proto, class Read>
Result<Tensor> readMessage(
    MessageKind kind, const std::string& name, SharedBytes file, ExternalData external, Read read)
{
    if (file.bytes.empty())
        return badInput("the file is empty", {}, "copy the file again");
    WireScanner scanner(file.bytes);
    auto stripped = scanner.strip(kind);
    Proto proto;
    if (!stripped || !parseStripped(*stripped, proto))
        return badInput("is not a " + name + " stored by ONNX", {}, "give a file of ONNX test data");
    const auto first = file.bytes.front();
    ReadingBudget budget(stripped->bytes.size(), file.bytes.size());
    TensorReader tensors(std::move(file), std::move(stripped->payloads), std::move(external), budget);
    return read(ValueReader(tensors), proto, first);
}

Result<Tensor> readTensor(SharedBytes file, ExternalData external)
{
    return readMessage<onnx::TensorProto>(MessageKind::Tensor, "tensor", std::move(file), std::move(external),
        [](ValueReader reader, const onnx::TensorProto& proto, std::byte first) -> Result<Tensor> {
            // Sequences and optionals keep their elements in the field that is a tensor's segment, and a name (as text)
            // in the one of its sizes, which writers of tensors never pack.
            const bool namedContainer = first == std::byte(0x0a) && !payloadIndex(proto);
            if (proto.has_segment() || namedContainer)
                return badInput("stores a sequence or an optional, not one tensor", {}, "give one tensor a file");
            if (proto.data_type() == 0)
                return badInput("is not a tensor stored by ONNX", {}, "give a TensorProto file");
            return reader.tensor(proto);
        });
}

Result<Tensor> readValue(SharedBytes file, ExternalData external, const std::string& container)
{
    if (container == "sequence")
        return readMessage<onnx::SequenceProto>(MessageKind::Sequence, container, std::move(file), std::move(external),
            [](ValueReader reader, const auto& proto, std::byte) { return reader.sequence(proto); });
    if (container == "map")
        return readMessage<onnx::MapProto>(MessageKind::Map, container, std::move(file), std::move(external),
            [](ValueReader reader, const auto& proto, std::byte) { return reader.map(proto); });
    if (container == "optional")
        return readMessage<onnx::OptionalProto>(MessageKind::Optional, container, std::move(file), std::move(external),
            [](ValueReader reader, const auto& proto, std::byte) { return reader.optional(proto); });
    return readTensor(std::move(file), std::move(external));
}

/// Runs `read`; issues get the file's name, and memory that is not there becomes an issue.
template <class Read> auto named(const std::string& path, Read&& read) -> decltype(read())
{
    const auto withFile = [&](Issue issue) {
        if (issue.file.empty())
            issue.file = path;
        return issue;
    };
    try {
        auto result = read();
        if (!result)
            return withFile(std::move(result).issue());
        return result;
    } catch (const std::bad_alloc&) {
        return withFile(noMemory("needs more memory than there is", {}, "close other programs"));
    }
}

} // namespace

Result<std::shared_ptr<const Model>> importModel(const std::string& path, uint64_t memoryLimit)
{
    beginLongWork("import");
    return named(path, [&]() -> Result<std::shared_ptr<const Model>> {
        QS_TRY(auto mapping, FileMapping::open(path));
        auto model = readModel(path, { mapping->bytes(), mapping }, ExternalData::besideModel(path), memoryLimit);
        QS_CHECK(mapping->file()->unchanged()); // whatever is wrong with the model, this is why
        if (!model)
            return model;
        OpenedFiles files = filesOf(**model);
        files.insert(files.begin(), mapping->file());
        QS_CHECK(unchanged(files));
        ImportedModels::all().keep(model->get(), std::move(files));
        return model;
    });
}

OpenedFiles filesOf(const Model& model) { return ImportedModels::all().of(&model); }

Result<std::shared_ptr<const Model>> importModelFromBytes(std::span<const std::byte> bytes, const std::string& folder)
{
    return named({}, [&]() -> Result<std::shared_ptr<const Model>> {
        const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
        return readModel({}, { *copy, copy }, ExternalData::inFolder(folder), 0);
    });
}

Result<Tensor> importValue(const std::string& path, const ValueType& type)
{
    return named(path, [&]() -> Result<Tensor> {
        QS_TRY(auto mapping, FileMapping::open(path));
        auto value = readValue({ mapping->bytes(), mapping }, ExternalData::besideModel(path), type.container);
        QS_CHECK(mapping->file()->unchanged());
        return value;
    });
}

} // namespace qs
