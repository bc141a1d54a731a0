// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/drop_hint.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/session.h"

#include <QEvent>
#include <QFileInfo>
#include <QPointer>

#include <algorithm>

namespace qs {

namespace {

constexpr qsizetype kMostFiles = 6; ///< that are named
constexpr int kFarFromTheEdge = 40; ///< pixels
const QString kHintTag = QStringLiteral("drop-hint");

} // namespace

QString dropText(const Session& session, const QString& path, std::optional<Result<FileRole>> role)
{
    const QFileInfo file(path);
    const QString name = file.fileName();
    const bool hasFloat = !session.files().floatPath.empty();
    if (file.suffix().compare(QLatin1String("qscope"), Qt::CaseInsensitive) == 0)
        role = FileRole::Project;
    if (!role)
        return file.isDir() ? DropHint::tr("%1: a folder of samples").arg(name)
                            : DropHint::tr("%1: opened as what it turns out to be").arg(name);
    if (!role->ok())
        return DropHint::tr("%1: not opened: %2").arg(name, toQt(role->issue().what));
    switch (**role) {
    case FileRole::Float:
        return hasFloat ? DropHint::tr("%1: a float model; it takes the place of what is open").arg(name)
                        : DropHint::tr("%1: the float model").arg(name);
    case FileRole::Quantized:
        return hasFloat ? DropHint::tr("%1: the quantized model, compared with the float one that is open").arg(name)
                        : DropHint::tr("%1: the quantized model").arg(name);
    case FileRole::Data:
        return DropHint::tr("%1: the samples that the models are compared on").arg(name);
    case FileRole::Preprocess:
        return DropHint::tr("%1: how pictures become inputs").arg(name);
    case FileRole::Project:
        return DropHint::tr("%1: the project takes the place of what is open").arg(name);
    }
    return name;
}

DropHint::DropHint(Session& session, QWidget& window)
    : QLabel(&window)
    , m_session(session)
{
    setObjectName(QStringLiteral("dropHint"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAlignment(Qt::AlignCenter);
    setWordWrap(true);
    setAutoFillBackground(true);
    setFrameShape(QFrame::Box);
    setLineWidth(2);
    setMargin(24);
    setAccessibleName(tr("What happens with the files that are dragged here"));
    window.installEventFilter(this);
    hide();
}

void DropHint::showFor(const QStringList& files)
{
    m_files = files;
    const std::vector<std::optional<Result<FileRole>>> unknown(size_t(files.size()));
    say(files, unknown);
    const QRect area
        = parentWidget()->rect().adjusted(kFarFromTheEdge, kFarFromTheEdge, -kFarFromTheEdge, -kFarFromTheEdge);
    setGeometry(area);
    setVisible(!files.isEmpty());
    raise();
    JobRequest job;
    job.tag = kHintTag;
    job.title = tr("Look at what is dragged");
    job.visibility = Visibility::Hidden;
    job.process = [hint = QPointer(this), files](const JobContext&) -> Result<std::function<void()>> {
        std::vector<std::optional<Result<FileRole>>> roles;
        for (const QString& file : files.first(std::min(files.size(), kMostFiles)))
            roles.emplace_back(fileRole(file));
        return std::function<void()>([hint, files, roles] {
            if (hint && hint->m_files == files)
                hint->say(files, roles);
        });
    };
    m_session.jobs().start(std::move(job));
}

void DropHint::say(const QStringList& files, const std::vector<std::optional<Result<FileRole>>>& roles)
{
    QStringList lines;
    for (qsizetype i = 0; i < std::min(files.size(), kMostFiles); ++i)
        lines << dropText(m_session, files[i], roles[size_t(i)]);
    if (files.size() > kMostFiles)
        lines << tr("and %1 more").arg(files.size() - kMostFiles);
    setText(lines.join(u'\n'));
}

bool DropHint::eventFilter(QObject* watched, QEvent* event)
{
    const bool over = event->type() == QEvent::DragLeave || event->type() == QEvent::Drop;
    if (over) {
        hide();
        m_files.clear();
        m_session.jobs().cancelTag(kHintTag);
    }
    return QLabel::eventFilter(watched, event);
}

} // namespace qs

#include "moc_drop_hint.cpp"
