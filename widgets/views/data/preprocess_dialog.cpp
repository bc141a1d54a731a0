// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/data/preprocess_dialog.h"

#include "core/base/files/atomic_file.h"
#include "core/project/snapshot/samples.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/session/files/open_files.h"
#include "widgets/session/files/open_work.h"
#include "widgets/views/base/text/dialog_size.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/data/preprocess_form.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStandardPaths>
#include <QTableWidget>
#include <QVBoxLayout>

#include <cmath>

namespace qs {

namespace {

const QString kReadTag = QStringLiteral("pictures-read"), kLookTag = QStringLiteral("pictures-look");
constexpr int kPictureSide = 112;
constexpr int kFormWidth = 330; ///< font units

std::optional<PictureForm> formOf(const Snapshot& snapshot)
{
    if (!snapshot.floatModel)
        return {};
    const auto inputs = dataInputs(snapshot.floatModel->graph(), snapshot.inputs.carry);
    return inputs.size() == 1 ? pictureForm(inputs.front()) : std::nullopt;
}

QString channelsText(const std::vector<ChannelStatistics>& channels, double ChannelStatistics::*number)
{
    QStringList texts;
    for (const ChannelStatistics& channel : channels)
        texts << QString::number(
            std::abs(channel.*number) < 0.005 ? 0 : channel.*number, 'f', std::abs(channel.*number) < 100 ? 2 : 0)
                     .replace(u'-', u'−');
    return texts.join(QStringLiteral(" · "));
}

} // namespace

QString descriptionPath(const QString& folder, const QString& model)
{
    const QFileInfo pictures(QDir::cleanPath(folder));
    const auto freeName = [&](const QString& place) {
        QString path = QDir(place).filePath(pictures.fileName() + QStringLiteral(".preprocess.json"));
        for (int n = 2; QFileInfo::exists(path); ++n)
            path = QDir(place).filePath(QStringLiteral("%1-%2.preprocess.json").arg(pictures.fileName()).arg(n));
        return path;
    };
    for (const QString& place : { pictures.absolutePath(), QFileInfo(model).absolutePath() })
        if (QFileInfo(place).isWritable())
            return freeName(place);
    const QString own = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    QDir().mkpath(own);
    return freeName(own);
}

PreprocessDialog::PreprocessDialog(Session& session, const UndescribedPictures& pictures, QWidget* parent)
    : QDialog(parent)
    , m_session(session)
    , m_pictures(pictures)
    , m_form(new PreprocessForm(formOf(*session.snapshot()), this))
    , m_folder(new QLabel(this))
    , m_message(new QLabel(this))
    , m_verdict(new QLabel(this))
    , m_table(new QTableWidget(this))
    , m_path(new QLineEdit(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("preprocessDialog"));
    setWindowTitle(pictures.calibration ? tr("Pictures to find ranges with") : tr("Pictures to judge by"));
    for (QLabel* label : { m_folder, m_message, m_verdict }) {
        wrapText(*label);
        label->setTextFormat(Qt::PlainText);
    }
    m_folder->setText(QDir::toNativeSeparators(toQt(pictures.request.spec)));
    auto* fields = new QScrollArea(this);
    fields->setWidget(m_form);
    fields->setWidgetResizable(true);
    fields->setFrameShape(QFrame::NoFrame);
    fields->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    fields->setMinimumWidth(std::max(fontUnits(fontMetrics(), kFormWidth),
        m_form->sizeHint().width() + fields->verticalScrollBar()->sizeHint().width()));
    auto* preview = new QScrollArea(this); // beside a large font the pictures may not have room
    preview->setWidget(makePreview());
    preview->setWidgetResizable(true);
    preview->setFrameShape(QFrame::NoFrame);
    auto* columns = new QHBoxLayout;
    columns->addWidget(fields);
    columns->addWidget(preview, 1);
    auto* all = new QVBoxLayout(this);
    all->addWidget(m_folder);
    all->addLayout(columns, 1);
    all->addWidget(m_message);
    all->addLayout(makeFooter());
    m_path->setText(pictures.request.preprocess.empty()
            ? descriptionPath(toQt(pictures.request.spec), toQt(session.snapshot()->inputs.floatPath))
            : toQt(pictures.request.preprocess));
    setDialogSize(*this, 1120, 640);
    beginWithFile();
    connect(m_form, &PreprocessForm::changed, this, &PreprocessDialog::look);
    readFolder();
}

PreprocessDialog::~PreprocessDialog()
{
    m_session.jobs().cancelTag(kReadTag);
    m_session.jobs().cancelTag(kLookTag);
}

QWidget* PreprocessDialog::makePreview()
{
    auto* side = new QWidget(this);
    auto* grid = new QGridLayout;
    grid->addWidget(new QLabel(tr("File"), side), 0, 0);
    auto* after = new QLabel(tr("Network gets"), side);
    after->setToolTip(tr("From the smallest to the largest value; its first channel drawn red, its last one blue"));
    grid->addWidget(after, 1, 0);
    for (int i = 0; i < int(kShownPictures); ++i)
        for (const bool prepared : { false, true }) {
            auto* label = new QLabel(side);
            label->setFixedSize(kPictureSide, kPictureSide);
            label->setAlignment(Qt::AlignCenter);
            label->setAccessibleName(
                prepared ? tr("Picture %1 as the network gets it").arg(i + 1) : tr("Picture %1").arg(i + 1));
            grid->addWidget(label, prepared ? 1 : 0, i + 1);
            (prepared ? m_after : m_before).push_back(label);
        }
    grid->setColumnStretch(int(kShownPictures) + 1, 1);
    m_table->setColumnCount(5);
    m_table->setHorizontalHeaderLabels({ tr("Channels"), tr("mean"), tr("deviation"), tr("smallest"), tr("largest") });
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->setAccessibleName(tr("What the channels hold"));
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(12, 0, 0, 0);
    column->addLayout(grid);
    column->addWidget(m_table, 1);
    column->addWidget(m_verdict);
    return side;
}

QLayout* PreprocessDialog::makeFooter()
{
    auto* row = new QHBoxLayout;
    auto* label = new QLabel(tr("&Keep as"), this);
    label->setBuddy(m_path);
    m_path->setAccessibleName(tr("File that keeps how the pictures are prepared"));
    m_path->setToolTip(tr("The command line takes the same file; docs/data.md tells what is in it"));
    auto* choose = new QPushButton(tr("&Choose…"), this);
    choose->setAutoDefault(false);
    connect(choose, &QPushButton::clicked, this, [this] {
        askWhereToWrite(this, tr("How the pictures are prepared"), m_path->text(), tr("Preprocessing (*.json)"),
            QStringLiteral("json"), [this](const QString& path) { m_path->setText(path); });
    });
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_open = buttons->button(QDialogButtonBox::Ok);
    m_open->setText(tr("&Open pictures"));
    m_open->setProperty("primary", true);
    connect(buttons, &QDialogButtonBox::accepted, this, &PreprocessDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    row->addWidget(label);
    row->addWidget(m_path, 1);
    row->addWidget(choose);
    row->addWidget(buttons);
    return row;
}

/// What was chosen before for this folder.
void PreprocessDialog::beginWithFile()
{
    if (!QFileInfo::exists(m_path->text()))
        return;
    const auto before = readPreprocess(m_path->text().toStdString());
    if (before.ok())
        m_form->setValue(*before);
    else
        say(issueHeadline(before.issue()), true);
}

void PreprocessDialog::readFolder()
{
    JobRequest job;
    job.tag = kReadTag;
    job.title = tr("Read the first pictures of %1").arg(fileName(m_pictures.request.spec));
    job.visibility = Visibility::Hidden;
    const QPointer<PreprocessDialog> self(this);
    job.process = [self, folder = m_pictures.request.spec, snapshot = m_session.snapshot(),
                      first = m_form->value().value_or(Preprocess {}).channelsFirst](
                      const JobContext&) -> Result<std::function<void()>> {
        QS_TRY(auto read, readPictures(folder));
        auto known = knownOfInput(*snapshot, folder, first);
        return std::function<void()>([self, read, known = std::move(known)] {
            if (!self)
                return;
            self->m_read = read;
            self->m_known = known;
            const QString turned = turnedText(read->pictures);
            self->m_folder->setText(self->m_folder->text() + QStringLiteral("\n") + folderText(read->folder)
                + (turned.isEmpty() ? QString() : QStringLiteral(". ") + turned));
            self->look();
        });
    };
    job.failed = [self](const Issue& issue) {
        if (self)
            self->say(issueHeadline(issue) + u' ' + issueRemedy(issue), true);
    };
    m_open->setEnabled(false);
    m_session.jobs().start(std::move(job));
}

void PreprocessDialog::look()
{
    m_looked = false;
    const auto how = m_form->value();
    m_open->setEnabled(m_read && how);
    if (!how)
        return say(m_form->problem(), true);
    if (!m_read)
        return;
    JobRequest job;
    job.tag = kLookTag;
    job.title = tr("Prepare the first pictures");
    job.visibility = Visibility::Hidden;
    const QPointer<PreprocessDialog> self(this);
    job.process = [self, read = m_read, how = *how, side = int(kPictureSide * devicePixelRatioF())](
                      const JobContext&) -> Result<std::function<void()>> {
        QS_TRY(PictureLook look, lookAt(*read, how, side));
        return std::function<void()>([self, look = std::move(look)] {
            if (self)
                self->show(look);
        });
    };
    job.failed = [self](const Issue& issue) {
        if (!self)
            return;
        self->m_open->setEnabled(false);
        self->say(issueHeadline(issue), true);
    };
    m_session.jobs().start(std::move(job));
}

void PreprocessDialog::show(const PictureLook& look)
{
    for (size_t i = 0; i < m_before.size(); ++i) {
        const auto set = [this, i](QLabel* label, const std::vector<QImage>& images) {
            QPixmap picture = i < images.size() ? QPixmap::fromImage(images[i]) : QPixmap();
            picture.setDevicePixelRatio(devicePixelRatioF());
            label->setPixmap(picture);
        };
        set(m_before[i], look.before);
        set(m_after[i], look.after);
    }
    m_statistics = look.statistics;
    say({}, false);
    fillTable();
    m_looked = true;
}

void PreprocessDialog::fillTable()
{
    std::vector<StatisticsRow> rows { { tr("These pictures"), tr("Over the first pictures, spread over the folder"),
        m_statistics } };
    if (const auto how = m_form->value())
        rows.push_back({ tr("Photographs usually"),
            tr("What the mean and deviation of ImageNet's pictures become, and the smallest and largest possible "
               "value"),
            expectedStatistics(*how) });
    rows.insert(rows.end(), m_known.begin(), m_known.end());
    m_table->setRowCount(int(rows.size()));
    for (int r = 0; r < int(rows.size()); ++r) {
        const StatisticsRow& row = rows[size_t(r)];
        const QStringList texts { row.title,
            row.rangeOnly ? absentText() : channelsText(row.channels, &ChannelStatistics::mean),
            row.rangeOnly ? absentText() : channelsText(row.channels, &ChannelStatistics::deviation),
            channelsText(row.channels, &ChannelStatistics::low), channelsText(row.channels, &ChannelStatistics::high) };
        for (int c = 0; c < texts.size(); ++c) {
            auto* item = new QTableWidgetItem(texts[c]);
            item->setToolTip(row.toolTip);
            m_table->setItem(r, c, item);
        }
    }
    m_verdict->setText(verdict(m_statistics, m_known));
}

void PreprocessDialog::say(const QString& message, bool wrong)
{
    m_message->setText(message);
    m_message->setVisible(!message.isEmpty());
    m_message->setObjectName(wrong ? QStringLiteral("errorHeadline") : QStringLiteral("emptyHint"));
}

void PreprocessDialog::accept()
{
    const auto how = m_form->value();
    if (!how || !m_read)
        return;
    const QString path = QFileInfo(m_path->text().trimmed()).absoluteFilePath();
    const QString folder = QFileInfo(toQt(m_pictures.request.spec)).absoluteFilePath();
    if (m_path->text().trimmed().isEmpty() || path.startsWith(folder + u'/'))
        return say(tr("The file cannot lie among the pictures; choose another place."), true);
    const std::string& now = m_pictures.request.preprocess;
    if (now.empty() || path != QFileInfo(toQt(now)).absoluteFilePath())
        if (const Status free = OpenWork(m_session).mayWrite(path); !free.ok())
            return say(issueHeadline(free.issue()), true);
    if (const Status done = writeFile(path.toStdString(), preprocessJson(*how)); !done.ok())
        return say(issueHeadline(done.issue()) + u' ' + issueRemedy(done.issue()), true);
    if (now.empty() || path != QFileInfo(toQt(now)).absoluteFilePath()) // one of its own keeps the name it was given
        m_pictures.request.preprocess = path.toStdString();
    emit described(m_pictures);
    QDialog::accept();
}

PreprocessDialog* askForPreprocess(Session& session, const UndescribedPictures& pictures, QWidget* parent)
{
    auto* dialog = new PreprocessDialog(session, pictures, parent);
    QObject::connect(dialog, &PreprocessDialog::described, &session, [&session](const UndescribedPictures& now) {
        const Inputs& open = session.wantedFiles();
        if ((now.calibration ? open.calibration : open.data) == now.request)
            return session.reload(); // the same file says something else
        if (now.calibration)
            openCalibrationRequest(session, now.request);
        else
            openDataRequest(session, now.request);
    });
    dialog->open();
    return dialog;
}

} // namespace qs

#include "moc_preprocess_dialog.cpp"
