// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/lesson/file/read_lesson.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>

namespace qs::test {

inline const std::string kExamples = QS_SOURCE_DIR "/resources/examples";

/// A folder with the files of a lesson, which goes away with it.
class WrittenLesson {
public:
    WrittenLesson() { QDir(m_folder.path()).mkdir("lesson"); }
    WrittenLesson(const QByteArray& json, const QByteArray& markdown)
        : WrittenLesson()
    {
        write("lesson.json", json);
        write("lesson.md", markdown);
    }
    QString path(const QString& name = {}) const { return m_folder.path() + "/lesson/" + name; }
    void write(const QString& name, const QByteArray& bytes) const
    {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write %s", qPrintable(file.fileName()));
    }
    std::string folder() const { return (m_folder.path() + "/lesson").toStdString(); }
    Result<Lesson> read(uint64_t seed = 1) const { return readLesson(folder(), kExamples, seed); }

private:
    QTemporaryDir m_folder;
};

/// A lesson of these steps on the bundled example; `more`: further members of the file, each with a comma behind it.
inline QByteArray lessonJson(const QByteArray& steps, const QByteArray& more = {})
{
    return R"({"schema_version": 1, "id": "lesson", "title": "A lesson", "minutes": 5, )" + more
        + R"("models": {"digits": {"float": "example:digits_float.onnx", "quantized": "example:digits_qdq.onnx",)"
          R"( "data": "example:digits_samples.npz", "limit": 10}}, "steps": [)"
        + steps + "]}";
}

} // namespace qs::test
