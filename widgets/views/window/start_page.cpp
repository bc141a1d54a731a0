// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/start_page.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/base/emptied_layout.h"
#include "widgets/views/base/text/elided_button.h"
#include "widgets/views/base/text/font_units.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace qs {

namespace {

constexpr int kColumnWidth = 520; ///< font units

QLabel* label(const QString& text, const char* name, QWidget* parent)
{
    auto* widget = new QLabel(text, parent);
    widget->setObjectName(QLatin1String(name));
    widget->setWordWrap(true);
    return widget;
}

} // namespace

Inputs exampleInputs()
{
    const QString program = QCoreApplication::applicationDirPath();
    for (const QString& folder : { program + QStringLiteral("/../share/quantscope/examples"),
             program + QStringLiteral("/../../../resources/examples") }) {
        if (!QFileInfo::exists(folder + QStringLiteral("/digits_float.onnx")))
            continue;
        const QString base = QFileInfo(folder).canonicalFilePath();
        Inputs inputs;
        inputs.floatPath = (base + QStringLiteral("/digits_float.onnx")).toStdString();
        inputs.quantPath = (base + QStringLiteral("/digits_qdq_narrow.onnx")).toStdString();
        inputs.data.spec = (base + QStringLiteral("/digits_samples.npz")).toStdString();
        return inputs;
    }
    return {};
}

StartPage::StartPage(RecentFiles& recent, QWidget* parent)
    : QFrame(parent)
    , m_recent(recent)
    , m_list(new QVBoxLayout)
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
    auto* buttons = new QHBoxLayout;
    const auto button = [&](const QString& text, auto signal, const char* kind) {
        auto* widget = new QPushButton(text, this);
        widget->setProperty(kind, true);
        connect(widget, &QPushButton::clicked, this, signal);
        buttons->addWidget(widget);
    };
    button(tr("Open float…"), &StartPage::openFloat, "primary");
    button(tr("Open quantized…"), &StartPage::openQuantized, "plain");
    button(tr("Open data…"), &StartPage::openData, "plain");
    button(tr("Open project…"), &StartPage::openProject, "plain");
    if (!exampleInputs().floatPath.empty())
        button(tr("Open the example"), &StartPage::openExample, "plain");
    buttons->addStretch(1);
    column->addLayout(buttons);
    column->addWidget(
        label(tr("Or drop files here: .onnx models, .npz or .npy arrays, folders of pictures or test data, .qscope "
                 "projects."),
            "startText", this));
    column->addSpacing(12);
    m_list->setSpacing(0);
    column->addLayout(m_list);
    column->addStretch(3);
    auto* row = new QHBoxLayout(this);
    row->addStretch(1);
    row->addLayout(column);
    row->addStretch(1);
    auto* ruler = new QWidget(this); // keeps the column at its width
    ruler->setFixedSize(fontUnits(fontMetrics(), kColumnWidth), 1);
    column->addWidget(ruler);
    connect(&recent, &RecentFiles::changed, this, &StartPage::refresh);
    refresh();
}

void StartPage::refresh()
{
    emptyLayout(*m_list);
    if (m_recent.entries().empty())
        return;
    m_list->addWidget(label(tr("Recent"), "panelTitle", this));
    for (const RecentEntry& entry : m_recent.entries()) {
        auto* button = new ElidedButton(Qt::ElideMiddle, this);
        button->setText(RecentFiles::label(entry));
        button->setProperty("link", true);
        const Inputs& inputs = entry.inputs;
        button->setMostWidth(kColumnWidth);
        button->setToolTip(!entry.project.isEmpty()
                ? entry.project
                : toQt(inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath));
        button->setStyleSheet(QStringLiteral("text-align: left"));
        connect(button, &QPushButton::clicked, this, [this, entry] { emit openRecent(entry); });
        m_list->addWidget(button);
    }
}

} // namespace qs
