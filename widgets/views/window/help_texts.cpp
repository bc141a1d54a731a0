// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/help_texts.h"

#include "widgets/models/base/metric.h"
#include "widgets/models/base/translated.h"

#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QMenu>
#include <QMenuBar>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace qs {

namespace {

void showText(QWidget* parent, const QString& title, const QString& html)
{
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->resize(620, 520);
    auto* text = new QTextBrowser(dialog);
    text->setHtml(html);
    text->setAccessibleName(title);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
    auto* column = new QVBoxLayout(dialog);
    column->addWidget(text);
    column->addWidget(buttons);
    dialog->show();
}

void addShortcuts(const QMenu& menu, QString* rows)
{
    for (const QAction* action : menu.actions()) {
        if (const QMenu* inner = action->menu()) {
            addShortcuts(*inner, rows);
            continue;
        }
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts())
            keys << key.toString(QKeySequence::NativeText);
        if (!keys.isEmpty())
            *rows += QStringLiteral("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>")
                         .arg(keys.join(QStringLiteral(", ")).toHtmlEscaped(),
                             action->text().remove(u'&').toHtmlEscaped());
    }
}

} // namespace

void showNumbersHelp(QWidget* parent)
{
    QString html
        = QStringLiteral("<p>%1</p>")
              .arg(tr(
                  "One scale for people: SQNR in dB, higher is better, beside the ideal for that tensor. 10 dB = 10 % "
                  "noise power, 20 dB = 1 %, 30 dB = 0.1 %. x is the float model's value, y the quantized model's "
                  "value after quantize and dequantize."));
    for (const Metric metric : kMetrics) {
        const MetricInfo info = metricInfo(metric);
        html += QStringLiteral("<p><b>%1</b> (%2)<br>%3</p>")
                    .arg(info.title, info.unit, info.definition.toHtmlEscaped());
    }
    html += QStringLiteral("<p><b>%1</b><br>%2</p>")
                .arg(tr("Noise"), definitionText(definition::kNoise).toHtmlEscaped());
    showText(parent, tr("What the numbers mean"), html);
}

void showShortcutsHelp(QWidget* parent, const QMenuBar& menus)
{
    QString rows;
    for (const QAction* action : menus.actions()) {
        rows += QStringLiteral("<tr><td colspan=2><h4>%1</h4></td></tr>").arg(action->text().remove(u'&'));
        addShortcuts(*action->menu(), &rows);
    }
    rows += QStringLiteral("<tr><td colspan=2><h4>%1</h4></td></tr><tr><td><b>Space</b></td><td>%2</td></tr>"
                           "<tr><td><b>F</b></td><td>%3</td></tr><tr><td><b>+ −</b></td><td>%4</td></tr>")
                .arg(tr("In the graph"), tr("Fit"), tr("Show the selection"), tr("Zoom"));
    showText(parent, tr("Keyboard shortcuts"), QStringLiteral("<table>%1</table>").arg(rows));
}

void showAbout(QWidget* parent)
{
    showText(parent, tr("About Quantscope"),
        QStringLiteral("<h3>Quantscope %1</h3><p>%2</p><p>%3</p>")
            .arg(QCoreApplication::applicationVersion(),
                tr("Compares a float ONNX model with its quantized counterpart and shows where the error comes from."),
                tr("Free software under the GNU General Public License, version 3 or later.")));
}

} // namespace qs
