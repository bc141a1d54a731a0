// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/files/opened_file.h"
#include "core/graph/graph.h"

#include <map>
#include <memory>
#include <mutex>

namespace qs {

/// The files of all imported models that there are.
class ImportedModels {
public:
    static ImportedModels& all();
    /// An empty model, which is forgotten when it ends.
    std::shared_ptr<Model> make();
    void keep(const Model* model, OpenedFiles files);
    /// None of models that were made of others.
    OpenedFiles of(const Model* model);

private:
    void forget(const Model* model);
    std::mutex m_mutex;
    std::map<const Model*, OpenedFiles> m_files;
};

} // namespace qs
