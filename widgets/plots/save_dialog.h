// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <functional>
#include <vector>

class QFileDialog;
class QWidget;

/// Ways to ask where to write, which do not block.
namespace qs {

/// Says why a file must not be replaced (empty: it may), and is told of what was written: for all that saveAs() writes
/// from within this widget.
class WriteGuard : public QObject {
public:
    using Refusal = std::function<QString(const QString& path)>;
    using Written = std::function<void(const QString& path)>;
    WriteGuard(QWidget* of, Refusal refusal, Written written = {});
    /// By the guards of the widget and of all that it lies in.
    static QString refusal(const QWidget* widget, const QString& path);
    static void tell(const QWidget* widget, const QString& path);

private:
    static std::vector<const WriteGuard*> around(const QWidget* widget);

    Refusal m_refusal;
    Written m_written;
};

/// A name without an ending gets the suffix. `proposed`: a folder, or a path in it whose name is proposed.
QFileDialog* askWhereToWrite(QWidget* parent, const QString& title, const QString& proposed, const QString& filter,
    const QString& suffix, std::function<void(const QString& path)> chosen);
/// Asks for a file of this ending and writes it; says so where that fails, and tells the guards where it does not.
void saveAs(
    QWidget* parent, const QString& title, const QString& suffix, std::function<bool(const QString& path)> write);

} // namespace qs
