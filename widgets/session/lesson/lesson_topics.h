// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QObject>
#include <QString>

namespace qs {

/// Where a step of a lesson lies.
struct LessonSpot {
    QString folder;
    size_t step = 0;
};

/// What lessons teach, by panels, keys of numbers and ids of findings, for views that lead there. A child of the
/// session.
class LessonTopics : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    const QHash<QString, LessonSpot>& spots() const { return m_spots; }
    void setSpots(const QHash<QString, LessonSpot>& spots);
    void ask(const QString& topic);

signals:
    void changed();
    void asked(const QString& topic);

private:
    QHash<QString, LessonSpot> m_spots;
};

} // namespace qs
