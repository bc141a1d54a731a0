// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/images/picture.h"
#include "widgets/session/session.h"
#include "widgets/views/tasks/sample_text.h"

#include <QWidget>

class QLabel;

namespace qs {

class PictureRow;

/// What is known of one sample: its input, and what each quantized model makes of it.
struct SampleFacts {
    std::string name;
    std::optional<int64_t> label;
    std::shared_ptr<const ClassNames> classNames; ///< never null
    Picture picture;
    SampleSide a;
    std::optional<SampleSide> b; ///< of a second quantized model
    const SampleSide* other() const { return b ? &*b : nullptr; }
};

/// The chosen sample: its picture with what the models find in it, and their outputs; with a second quantized model A
/// and B beside each other. Read by a job while somebody looks.
class ChosenSample : public QWidget {
    Q_OBJECT
public:
    explicit ChosenSample(Session& session, QWidget* parent = nullptr);
    void watch(bool looks);
    QString text() const;
    PictureRow& pictures() const { return *m_pictures; }
    /// Null: no sample is chosen, or it is not read yet.
    const SampleFacts* facts() const { return m_facts.get(); }

signals:
    void changed(); ///< other facts, or none

private:
    void refresh();
    void showFacts();
    void showPictures();

    Session& m_session;
    PictureRow* m_pictures;
    QLabel* m_text;
    bool m_watched = false;
    std::shared_ptr<const SampleFacts> m_facts;
    /// What the facts are of, or will be.
    struct Asked {
        const Snapshot* snapshot = nullptr;
        std::optional<size_t> sample;
        bool operator==(const Asked&) const = default;
    };
    Asked m_asked;
};

} // namespace qs
