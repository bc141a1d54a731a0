// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/screenshot.h"

#include "core/base/files/atomic_file.h"
#include "widgets/session/export/exports.h"
#include "widgets/views/theme/restyling.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QPainter>
#include <QPixmap>
#include <QTimer>
#include <QWidget>

namespace qs {

namespace {

constexpr int kPollMs = 10;
constexpr int kQuietRounds = 3; ///< polls in a row without a running job: results may start further jobs

} // namespace

Screenshot::Screenshot(Session& session, QWidget& window, QSize size, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_window(window)
    , m_size(size)
{
    window.setAttribute(Qt::WA_DontShowOnScreen);
    window.setFixedSize(size);
    window.show();
}

void Screenshot::whenQuiet(std::function<void()> next)
{
    auto* timer = new QTimer(this);
    timer->setInterval(kPollMs);
    connect(timer, &QTimer::timeout, this, [this, timer, next = std::move(next), rounds = 0]() mutable {
        rounds = m_session.jobs().idle() && !restyling() ? rounds + 1 : 0;
        if (rounds < kQuietRounds)
            return;
        timer->stop();
        timer->deleteLater();
        next();
    });
    timer->start();
}

void Screenshot::take(const QString& path, std::function<Status()> prepare, std::function<void(Status)> done)
{
    whenQuiet([this, path, prepare = std::move(prepare), done = std::move(done)] {
        if (Status prepared = prepare(); !prepared.ok())
            return done(prepared);
        whenQuiet([this, path, done] { done(save(path)); });
    });
}

Status Screenshot::save(const QString& path)
{
    const double scale = m_window.devicePixelRatioF();
    QPixmap picture(m_size * scale);
    picture.setDevicePixelRatio(scale);
    picture.fill(Qt::transparent);
    m_window.render(&picture);
    QS_CHECK(OpenWork(m_session).mayWrite(path));
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (!picture.save(&buffer, "PNG"))
        return badInput("is too large a picture", path.toStdString(), "choose a smaller size");
    return writeFile(path.toStdString(), { bytes.constData(), size_t(bytes.size()) });
}

} // namespace qs

#include "moc_screenshot.cpp"
