// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/images/preview.h"
#include "widgets/session/session.h"

#include <QImage>
#include <QObject>
#include <QPixmap>

#include <map>
#include <optional>

namespace qs {

/// Small pictures of the samples that are open, made by a job while somebody looks.
class SamplePictures : public QObject {
    Q_OBJECT
public:
    explicit SamplePictures(Session& session, QObject* parent = nullptr);
    void want(); ///< begins where nothing is there yet
    /// Null where it is not made yet, or never.
    QPixmap at(size_t sample) const;

    static constexpr size_t kMost = 2048; ///< of the first samples
    static constexpr int kSide = 20; ///< font units

signals:
    void changed();

private:
    Session& m_session;
    std::shared_ptr<const DataSource> m_of; ///< what was begun
    std::map<size_t, QPixmap> m_pictures;
};

QImage imageOf(const Picture& picture);
/// Pictures of samples one after another; those of one batch are read together.
class SamplePreviews {
public:
    /// `data` must outlive this.
    explicit SamplePreviews(const DataSource& data)
        : m_data(data)
    {
    }
    /// Of the first input that a picture can be made of; without pixels where there is none.
    Picture of(size_t sample, int most);
    /// What of() read last.
    const std::optional<Feed>& feed() const { return m_feed; }

private:
    const DataSource& m_data;
    std::optional<Feed> m_feed; ///< read last
    size_t m_index = 0;
};

} // namespace qs
