// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/files/file_roles.h"

#include "core/onnx/import.h"
#include "widgets/models/base/formatting.h"

#include <QFileInfo>

#include <algorithm>
#include <array>

namespace qs {

namespace {

bool isQuantizationOperator(const Node& node)
{
    static constexpr std::array<std::string_view, 7> kTypes { "QuantizeLinear", "DequantizeLinear",
        "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "MatMulNBits", "QGemm" };
    return node.opType.starts_with("QLinear") || std::ranges::find(kTypes, node.opType) != kTypes.end();
}

/// Data that are given take the place of those there are; a description alone says how these are prepared.
DataRequest joined(DataRequest current, const DataRequest& given)
{
    if (!given.spec.empty())
        return given;
    if (!given.preprocess.empty())
        current.preprocess = given.preprocess;
    return current;
}

} // namespace

bool quantizedAlone(const Snapshot& snapshot)
{
    const auto& model = snapshot.floatModel;
    return model && !snapshot.quantModel && model->quant && !model->isFloat();
}

Result<FileRole> fileRole(const QString& path)
{
    const QFileInfo info(path);
    if (!info.exists())
        return badInput("no such file or folder", path.toStdString(), "check the path");
    const QString suffix = info.suffix().toLower();
    if (info.isDir() || suffix == QLatin1String("npz") || suffix == QLatin1String("npy"))
        return FileRole::Data;
    if (suffix == QLatin1String("json"))
        return FileRole::Preprocess;
    if (suffix != QLatin1String("onnx"))
        return badInput("neither a model nor data", path.toStdString(), "open .onnx, .npz or .npy files, or a folder");
    QS_TRY(const std::shared_ptr<const Model> model, importModel(path.toStdString()));
    const auto nodes = model->graph.nodes();
    return std::any_of(nodes.begin(), nodes.end(), isQuantizationOperator) ? FileRole::Quantized : FileRole::Float;
}

Result<Inputs> withFiles(const Inputs& current, const QStringList& paths, const CancelToken& cancel)
{
    Inputs given;
    for (const QString& path : paths) {
        if (cancel.cancelled())
            return cancelled();
        QS_TRY(const FileRole role, fileRole(path));
        const std::string file = path.toStdString();
        if (role == FileRole::Data)
            given.data.spec = file;
        else if (role == FileRole::Preprocess)
            given.data.preprocess = file;
        else if (role == FileRole::Float && given.floatPath.empty())
            given.floatPath = file;
        else if (given.quantPath.empty())
            given.quantPath = file;
        else if (given.floatPath.empty()) {
            given.floatPath = given.quantPath; // two quantized files: the first stands for the float one
            given.quantPath = file;
        }
    }
    if (!given.floatPath.empty() && !current.floatPath.empty()) {
        const bool alone = current.quantPath.empty() && given.quantPath.empty();
        const auto before = alone ? fileRole(toQt(current.floatPath)) : FileRole::Float;
        if (before.ok() && *before == FileRole::Quantized) {
            given.quantPath = current.floatPath;
            given.profile = current.profile;
            given.data = joined(current.data, given.data);
        }
        return given;
    }
    Inputs all = current;
    if (!given.floatPath.empty())
        all.floatPath = given.floatPath;
    if (!given.quantPath.empty())
        all.quantPath = given.quantPath;
    all.data = joined(current.data, given.data);
    return all;
}

} // namespace qs
