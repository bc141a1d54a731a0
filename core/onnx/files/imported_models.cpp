// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/files/imported_models.h"

namespace qs {

ImportedModels& ImportedModels::all()
{
    static auto* const models = new ImportedModels; // models may live until the process ends
    return *models;
}

std::shared_ptr<Model> ImportedModels::make()
{
    return { new Model, [this](const Model* model) {
                forget(model);
                delete model;
            } };
}

void ImportedModels::keep(const Model* model, OpenedFiles files)
{
    const std::lock_guard lock(m_mutex);
    m_files.insert_or_assign(model, std::move(files));
}

OpenedFiles ImportedModels::of(const Model* model)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_files.find(model);
    return found == m_files.end() ? OpenedFiles() : found->second;
}

void ImportedModels::forget(const Model* model)
{
    const std::lock_guard lock(m_mutex);
    m_files.erase(model);
}

} // namespace qs
