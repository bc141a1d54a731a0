// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/work_context.h"
#include "core/lesson/expression/evaluate.h"
#include "core/lesson/file/lesson.h"
#include "core/project/snapshot/snapshot.h"

#include <memory>

namespace qs {

/// What a snapshot with a comparison says to expressions; docs/lessons.md lists it. Numbers are those of `compare
/// --json` and `explain --json`, by their keys. One thread at a time.
class SnapshotFacts : public Vocabulary {
public:
    /// `before`: what `before(...)` is computed with; null: nothing. It is not owned. `measured`: what was measured of
    /// this snapshot so far, to be shared; null: nothing.
    SnapshotFacts(SnapshotPtr snapshot, size_t sample, std::map<std::string, LessonValue> parameters,
        WorkContext work = {}, const SnapshotFacts* before = nullptr, std::shared_ptr<LessonJson> measured = nullptr);
    ~SnapshotFacts() override;

    Result<LessonValue> find(const std::vector<NamedPart>& path) const override;
    const Vocabulary* before() const override { return m_before; }

    const Snapshot& snapshot() const { return *m_snapshot; }
    const SnapshotPtr& sharedSnapshot() const { return m_snapshot; }
    /// Whether a tensor, weight or node of that name is in either model.
    bool knows(const std::string& name) const;
    /// Whether both names mean one thing of this kind ("tensor", "weight", "node"): the float file's and the quantized
    /// one's name of a tensor, a tensor and the node that makes it, a node and the Relu or Clip behind it that a
    /// quantizer stands for.
    bool sameThing(const std::string& what, const std::string& a, const std::string& b) const;

    /// Whether that row has the number, too, by which `largest(...)` or `smallest(...)` chose another: where several
    /// have it, each is the answer.
    bool equallyExtreme(const Expression& chosen, const std::string& name) const;

private:
    Result<LessonValue> rowValue(const char* list, const std::vector<NamedPart>& path) const;
    Result<LessonValue> nodeValue(const std::vector<NamedPart>& path) const;
    Result<LessonValue> recipeValue(const std::vector<NamedPart>& path) const;
    Result<LessonValue> elementValue(const std::vector<NamedPart>& path) const;
    Result<LessonValue> fileValue(const std::vector<NamedPart>& path) const;
    Result<LessonValue> sensitivityValue(const std::vector<NamedPart>& path) const;
    /// Measured when it is asked for first: it needs two runs a node.
    Result<const LessonJson*> sensitivities(size_t position) const;
    struct Ranked;
    /// What largest("tensor", "scale") chooses from.
    Result<Ranked> ranked(const NamedPart& call) const;
    Result<LessonValue> extremeName(const NamedPart& call) const;
    Result<LessonValue> memberValue(const std::vector<NamedPart>& path) const;

    SnapshotPtr m_snapshot;
    size_t m_sample;
    std::map<std::string, LessonValue> m_parameters;
    WorkContext m_work;
    const SnapshotFacts* m_before;
    std::unique_ptr<LessonJson> m_document, m_recipe;
    mutable std::map<std::string, LessonJson> m_elements; ///< explained so far, by tensor and place
    std::shared_ptr<LessonJson> m_sensitivities; ///< JSON null: not measured
};

} // namespace qs
