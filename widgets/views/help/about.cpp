// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/help/about.h"

#include "widgets/models/base/translated.h"
#include "widgets/views/base/text/dialog_size.h"

#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace qs {

namespace {

void showText(QWidget* parent, const QString& title, const QString& html)
{
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    setDialogSize(*dialog, 620, 520);
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

} // namespace

void showAbout(QWidget* parent)
{
    showText(parent, tr("About Quantscope"),
        QStringLiteral("<h3>Quantscope %1</h3><p>%2</p><p>%3</p>")
            .arg(QCoreApplication::applicationVersion(),
                tr("Compares a float ONNX model with its quantized counterpart and shows where the error comes from."),
                tr("Free software under the GNU General Public License, version 3 or later.")));
}

} // namespace qs
