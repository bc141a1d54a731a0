// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/lesson/lesson_topics.h"

namespace qs {

void LessonTopics::setSpots(const QHash<QString, LessonSpot>& spots)
{
    m_spots = spots;
    emit changed();
}

void LessonTopics::ask(const QString& topic) { emit asked(topic); }

} // namespace qs

#include "moc_lesson_topics.cpp"
