// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/real_build.h"
#include "tests/views/support/program_set_up.h"
#include "widgets/session/files/autosave.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/projects.h"
#include "widgets/views/base/error_bar.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/main_window.h"
#include "widgets/views/window/unsaved_question.h"

#include <QAction>
#include <QApplication>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>

namespace qs::test {

inline constexpr int kPatience = 20'000;

inline std::string example(const char* name) { return std::string(QS_SOURCE_DIR "/resources/examples/") + name; }

inline Inputs floatAndData()
{
    Inputs inputs;
    inputs.floatPath = example("digits_float.onnx");
    inputs.data.spec = example("digits_samples.npz");
    inputs.data.limit = 4;
    return inputs;
}

inline Inputs bothModels()
{
    Inputs inputs = floatAndData();
    inputs.quantPath = example("digits_qdq.onnx");
    return inputs;
}

/// A window with its session and what keeps the work.
struct Work {
    explicit Work(const QString& folder)
        : autosave(session, folder)
    {
        session.setAutoRun(false);
        window.resize(1280, 800);
        window.show();
    }

    bool idle()
    {
        return QTest::qWaitFor([this] { return session.jobs().idle() && !session.busy(); }, kPatience);
    }

    bool open(const Inputs& inputs)
    {
        session.openInputs(inputs);
        return idle();
    }

    void setPercentile(double percentile)
    {
        Recipe next = session.recipe().recipe();
        next.calibration.percentile = percentile;
        session.recipe().apply(QStringLiteral("Percentile %1").arg(percentile), next);
    }

    bool saveTo(const QString& path)
    {
        saveProject(session, path, window.layoutState());
        return idle() && session.project() == path;
    }

    QMessageBox* question()
    {
        for (QMessageBox* box : window.findChildren<QMessageBox*>(QStringLiteral("unsavedQuestion")))
            if (box->isVisible())
                return box;
        return nullptr;
    }

    /// Presses a button of the question as people do.
    bool answer(QMessageBox::StandardButton button)
    {
        QMessageBox* box = question();
        if (!box)
            return false;
        QTest::mouseClick(box->button(button), Qt::LeftButton);
        return QTest::qWaitFor([this] { return !window.unsaved().open(); });
    }

    QPushButton* button(const QString& text)
    {
        for (QPushButton* button : window.findChildren<QPushButton*>())
            if (button->text() == text && button->isVisible())
                return button;
        return nullptr;
    }

    double percentile() { return session.recipe().recipe().calibration.percentile; }

    Session session { realBuild() };
    Autosave autosave;
    MainWindow window { session, ThemeChoice::Light, WindowMemory::Remembered };
};

/// Of a menu, by its shortcut.
inline QAction* action(Work& work, const QString& shortcut)
{
    for (QAction* action : work.window.findChildren<QAction*>())
        if (action->shortcut() == QKeySequence(shortcut))
            return action;
    return nullptr;
}

inline void drop(QWidget& window, const QStringList& files)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& file : files)
        urls << QUrl::fromLocalFile(file);
    data.setUrls(urls);
    QDragEnterEvent enter({ 10, 10 }, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    QDropEvent event(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &event);
}

inline bool writeFileOf(const QString& path, const QByteArray& bytes)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
}

inline QByteArray bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace qs::test
