// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/start_page.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/emptied_layout.h"
#include "widgets/views/base/text/elided_button.h"
#include "widgets/views/base/text/font_units.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>
#include <utility>

namespace qs {

namespace {

constexpr int kColumnWidth = 460; ///< font units, of recent files and of lessons, beside each other
constexpr int kLeastRecent = 220; ///< the same; names of files in it can still be told apart
constexpr int kMostWidth = 960; ///< font units, of all
constexpr int kTextWidth = 680; ///< the same, of sentences: longer lines are hard to read
constexpr int kMargin = 10; ///< pixels at the sides

QLabel* label(const QString& text, const char* name, QWidget* parent)
{
    auto* widget = new QLabel(text, parent);
    widget->setObjectName(QLatin1String(name));
    widget->setWordWrap(true);
    widget->setMaximumWidth(fontUnits(parent->fontMetrics(), kTextWidth));
    return widget;
}

/// Files of the folder of examples; empty paths when it is not installed.
Inputs bundled(const char* floatFile, const char* quantFile, const char* data)
{
    const QString program = QCoreApplication::applicationDirPath();
    for (const QString& folder : { program + QStringLiteral("/../share/quantscope/examples/"),
             program + QStringLiteral("/../../../resources/examples/") }) {
        if (!QFileInfo::exists(folder + QLatin1String(floatFile)))
            continue;
        const std::string base = QFileInfo(folder).canonicalFilePath().toStdString() + '/';
        Inputs inputs;
        inputs.floatPath = base + floatFile;
        inputs.quantPath = base + quantFile;
        inputs.data.spec = base + data;
        return inputs;
    }
    return {};
}

} // namespace

Inputs exampleInputs() { return bundled("digits_float.onnx", "digits_qdq_narrow.onnx", "digits_samples.npz"); }

Inputs languageExampleInputs() { return bundled("verses_float.onnx", "verses_int4.onnx", "verses_prompts.npz"); }

StartPage::StartPage(RecentFiles& recent, QWidget* parent)
    : QFrame(parent)
    , m_recent(recent)
    , m_page(new QWidget(this))
    , m_grid(new QGridLayout)
    , m_data(makeData())
    , m_list(new QVBoxLayout)
    , m_lessons(new QVBoxLayout)
    , m_lists(new QHBoxLayout)
{
    setObjectName(QStringLiteral("startPage"));
    auto* column = new QVBoxLayout;
    column->setSpacing(10);
    column->addStretch(2);
    column->addWidget(label(QStringLiteral("Quantscope"), "startTitle", this));
    column->addWidget(
        label(tr("Open a float ONNX model, its quantized counterpart and some data. Both run here, and every tensor "
                 "shows how much error quantization has put into it and where it comes from."),
            "startText", this));
    const auto button = [&](const QString& text, auto signal, const char* kind) {
        auto* widget = new QPushButton(text, this);
        widget->setProperty(kind, true);
        widget->setAutoDefault(true); // Return presses it, too
        connect(widget, &QPushButton::clicked, this, signal);
        m_buttons.push_back(widget);
    };
    button(tr("Open float…"), &StartPage::openFloat, "primary");
    button(tr("Open quantized…"), &StartPage::openQuantized, "plain");
    button(tr("Open data…"), &StartPage::openData, "plain");
    button(tr("Open project…"), &StartPage::openProject, "plain");
    if (!exampleInputs().floatPath.empty())
        button(tr("Open the example"), &StartPage::openExample, "plain");
    if (!languageExampleInputs().floatPath.empty())
        button(tr("Language model example"), &StartPage::openLanguageExample, "plain");
    column->addLayout(m_grid);
    column->addWidget(m_data);
    column->addWidget(
        label(tr("Or drop files here: .onnx models, .npz or .npy arrays, folders of pictures or test data, .qscope "
                 "projects."),
            "startText", this));
    column->addSpacing(12);
    m_list->setSpacing(0);
    m_lessons->setSpacing(0);
    m_lists->addLayout(m_list);
    m_lists->addLayout(m_lessons);
    m_list->setAlignment(Qt::AlignTop);
    m_lessons->setAlignment(Qt::AlignTop);
    column->addLayout(m_lists);
    column->addStretch(3);
    column->setContentsMargins(0, 0, 0, 0);
    m_page->setLayout(column);
    auto* row = new QHBoxLayout(this);
    row->addStretch(1);
    row->addWidget(m_page, 1000); // as wide as it may be
    row->addStretch(1);
    connect(&recent, &RecentFiles::changed, this, &StartPage::refresh);
    refresh();
}

/// Wider than its sentences where names of files or lessons are.
void StartPage::fitPage()
{
    const bool lists = m_besideLessons || !m_recent.entries().empty();
    m_page->setMaximumWidth(fontUnits(fontMetrics(), lists ? kMostWidth : kTextWidth));
}

/// As many buttons in a row as there is room for: panels may leave little.
void StartPage::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    const int spacing = std::max(m_grid->horizontalSpacing(), 0);
    const int room = std::min(width() - 2 * kMargin, fontUnits(fontMetrics(), kTextWidth));
    int most = 0;
    for (size_t perRow = m_buttons.size(); perRow > 0 && most == 0; --perRow) {
        std::vector<int> widths(perRow);
        for (size_t i = 0; i < m_buttons.size(); ++i)
            widths[i % perRow] = std::max(widths[i % perRow], m_buttons[i]->sizeHint().width());
        if (perRow == 1 || std::accumulate(widths.begin(), widths.end(), spacing * int(perRow - 1)) <= room)
            most = int(perRow);
    }
    if (most == std::exchange(m_perRow, most))
        return;
    for (size_t i = 0; i < m_buttons.size(); ++i) {
        m_grid->removeWidget(m_buttons[i]);
        m_grid->addWidget(m_buttons[i], int(i) / most, int(i) % most);
    }
    for (int column = 0; column <= int(m_buttons.size()); ++column)
        m_grid->setColumnStretch(column, column == most);
}

QWidget* StartPage::makeData()
{
    auto* line = new QWidget(this);
    line->setObjectName(QStringLiteral("waitingData"));
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    m_dataName = new ElidedLabel(Qt::ElideMiddle, line);
    m_dataName->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    auto* drop = new QPushButton(tr("Take away"), line);
    drop->setProperty("link", true);
    drop->setAutoDefault(true);
    drop->setAccessibleName(tr("Take the data away"));
    connect(drop, &QPushButton::clicked, this, &StartPage::dropData);
    row->addWidget(m_dataName);
    row->addWidget(drop);
    row->addStretch(1);
    line->hide();
    return line;
}

void StartPage::showData(const QString& path)
{
    m_data->setVisible(!path.isEmpty());
    m_dataName->setText(tr("Data: %1, which wait for a model").arg(fileName(path.toStdString())));
    m_dataName->setToolTip(path);
}

void StartPage::setLessons(const std::vector<StartLesson>& lessons)
{
    emptyLayout(*m_lessons);
    m_besideLessons = !lessons.empty();
    m_lists->setStretch(1, m_besideLessons ? 1 : 0);
    refresh();
    if (lessons.empty())
        return;
    m_lessons->addWidget(label(tr("Lessons"), "panelTitle", this));
    for (const auto& [folder, title, state] : lessons) {
        auto* button = new ElidedButton(Qt::ElideRight, this);
        button->setText(title.section(u':', 0, 0)); // what follows says it in more words
        button->setProperty("link", true);
        button->setAutoDefault(true);
        button->setMostWidth(kColumnWidth);
        button->setToolTip(title + QStringLiteral("\n") + state);
        button->setAccessibleName(tr("%1: %2").arg(title, state));
        button->setStyleSheet(QStringLiteral("text-align: left"));
        connect(button, &QPushButton::clicked, this, [this, where = folder] { emit takeLesson(where); });
        auto* line = new QWidget(this);
        auto* row = new QHBoxLayout(line);
        row->setContentsMargins(0, 0, 0, 0);
        row->addWidget(button);
        QLabel* info = label(state, "startText", this);
        info->setWordWrap(false);
        row->addWidget(info);
        row->addStretch(1);
        m_lessons->addWidget(line);
    }
}

void StartPage::refresh()
{
    emptyLayout(*m_list);
    fitPage();
    m_lists->setStretch(0, m_recent.entries().empty() ? 0 : 1);
    if (m_recent.entries().empty())
        return;
    m_list->addStrut(fontUnits(fontMetrics(), kLeastRecent));
    m_list->addWidget(label(tr("Recent"), "panelTitle", this));
    QStringList labels = m_recent.labels();
    for (const RecentEntry& entry : m_recent.entries()) {
        auto* button = new ElidedButton(Qt::ElideMiddle, this);
        button->setText(labels.takeFirst());
        button->setProperty("link", true);
        button->setAutoDefault(true);
        const Inputs& inputs = entry.inputs;
        button->setMostWidth(m_besideLessons ? kColumnWidth : kMostWidth);
        button->setToolTip(!entry.project.isEmpty()
                ? entry.project
                : toQt(inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath));
        button->setStyleSheet(QStringLiteral("text-align: left"));
        connect(button, &QPushButton::clicked, this, [this, entry] { emit openRecent(entry); });
        m_list->addWidget(button, 0, Qt::AlignLeft); // else the shortest would bound them all
    }
}

} // namespace qs

#include "moc_start_page.cpp"
