// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/graph/scene_loader.h"

#include <QPointer>

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kKeptScenes = 6;

} // namespace

SceneLoader::SceneLoader(JobList& jobs, const QString& tag, QObject* parent)
    : QObject(parent)
    , m_jobs(jobs)
    , m_tag(tag)
{
}

void SceneLoader::stop()
{
    m_wanted.reset();
    m_jobs.cancelTag(m_tag);
}

void SceneLoader::keepOnly(const std::vector<const Model*>& models)
{
    const auto gone = [&](const Model* model) { return std::ranges::find(models, model) == models.end(); };
    std::erase_if(m_contents, [&](const auto& entry) { return gone(std::get<0>(entry.first)); });
    std::erase_if(m_scenes, [&](const auto& entry) { return gone(entry.first.first); });
}

SceneLoader::Scene SceneLoader::request(const LoadedModel& model, const GraphView& view, const QFont& font)
{
    SceneKey key { model.model.get(), view };
    const auto known = m_scenes.find(key);
    if (known != m_scenes.end()) {
        stop();
        m_wanted = std::move(key);
        return known->second;
    }
    if (m_wanted == key && m_jobs.running(m_tag))
        return nullptr;
    m_wanted = key;
    JobRequest job;
    job.tag = m_tag;
    job.title = tr("Lay out the graph");
    job.visibility = Visibility::Hidden;
    const auto content = m_contents.find({ model.model.get(), view.mode, view.by });
    job.process = [self = QPointer(this), loaded = model, key, fonts = GraphFonts::of(font),
                      content = content == m_contents.end() ? nullptr : content->second](
                      const JobContext& context) -> Result<std::function<void()>> {
        const auto whole = content ? content : GraphContent::of(loaded, key.second.mode, key.second.by);
        if (context.cancel.cancelled())
            return cancelled();
        QS_TRY(GraphScene made, GraphScene::make(whole, key.second, fonts, context.cancel));
        auto scene = std::make_shared<const GraphScene>(std::move(made));
        return std::function<void()>([self, key, scene] {
            if (self)
                self->take(key, scene);
        });
    };
    job.failed = [self = QPointer(this)](const Issue& issue) {
        if (self)
            emit self->failed(issue);
    };
    m_jobs.start(std::move(job));
    return nullptr;
}

void SceneLoader::take(const SceneKey& key, const Scene& scene)
{
    if (m_wanted != key)
        return;
    if (m_scenes.size() >= kKeptScenes)
        m_scenes.clear();
    m_scenes[key] = scene;
    m_contents[{ key.first, key.second.mode, key.second.by }] = scene->content();
    emit ready(scene);
}

} // namespace qs

#include "moc_scene_loader.cpp"
