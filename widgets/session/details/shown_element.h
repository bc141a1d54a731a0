// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/explained_element.h"
#include "widgets/session/details/element_search.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/session/session.h"

#include <QObject>

#include <memory>
#include <optional>

namespace qs {

/// Where one number of the shown tensor comes from: of the selected number, else of the one with the largest error in
/// the selected sample (else the first) and channel. Worked out by a job while somebody watches.
class ShownElement : public QObject {
    Q_OBJECT
public:
    /// Whose arithmetic is followed.
    enum class Model { Quantized, Float, Other };
    ShownElement(Session& session, const ShownPlace& place, QObject* parent = nullptr);

    void watch(bool looks);
    void stop(); ///< what is being worked out for nobody any more
    void setModel(Model model); ///< where it has the tensor, else the one that has
    Model model() const { return m_model; }
    bool has(Model model) const; ///< the shown tensor

    struct Found {
        ChosenElement element;
        Shape shape; ///< of the tensor for one sample, as element counts it
        std::shared_ptr<const ElementExplanation> explanation;
    };
    /// Nothing: there is none, or it is not ready.
    const std::optional<Found>& found() const { return m_found; }
    QString name() const; ///< of the tensor that is wanted; empty: none
    QString sampleText() const; ///< that the number is of; empty: of none
    QString hint() const; ///< why there is nothing to see

signals:
    void changed();

private:
    struct Asked {
        const Snapshot* snapshot = nullptr;
        TensorPlace tensor;
        std::optional<ChosenElement> element;
        std::optional<size_t> sample, channel;
        Model model = Model::Quantized;
        bool operator==(const Asked&) const = default;
    };
    std::optional<Asked> wanted() const;
    ErrorSearch searchFor(const Asked& asked) const;
    void refresh();
    void start(const SnapshotPtr& snapshot, const Asked& asked);

    Session& m_session;
    const ShownPlace& m_place;
    const QString m_tag; ///< of its jobs alone
    Model m_model = Model::Quantized;
    bool m_watched = false;
    std::optional<Asked> m_asked; ///< what m_found is of, or what runs
    std::optional<Found> m_found;
    QString m_problem;
};

} // namespace qs
