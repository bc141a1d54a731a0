// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/jobs/job_list.h"
#include "widgets/views/graph/graph_scene.h"

#include <QFont>
#include <QObject>

#include <map>
#include <memory>

namespace qs {

/// Lays out what a panel wants to see, in a job, and keeps what was laid out last.
class SceneLoader : public QObject {
    Q_OBJECT
public:
    using Scene = std::shared_ptr<const GraphScene>;
    SceneLoader(JobList& jobs, const QString& tag, QObject* parent);

    /// The scene if it is there; else null, and ready() or failed() follows.
    Scene request(const LoadedModel& model, const GraphView& view, const QFont& font);
    void stop(); ///< nothing is wanted any more
    /// Forgets what belongs to other models.
    void keepOnly(const std::vector<const Model*>& models);

signals:
    void ready(const std::shared_ptr<const qs::GraphScene>& scene);
    void failed(const qs::Issue& issue);

private:
    using ContentKey = std::tuple<const Model*, FoldMode, GroupBy>;
    using SceneKey = std::pair<const Model*, GraphView>;
    void take(const SceneKey& key, const Scene& scene);

    JobList& m_jobs;
    const QString m_tag;
    std::map<ContentKey, std::shared_ptr<const GraphContent>> m_contents;
    std::map<SceneKey, Scene> m_scenes;
    std::optional<SceneKey> m_wanted;
};

} // namespace qs
