// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/search/palette_model.h"

#include <QFrame>
#include <QPointer>

#include <functional>

class QLabel;
class QLineEdit;
class QListView;

namespace qs {

/// A field over the window that finds whatever can be done or gone to. Opening remembers what had the focus; Esc, a
/// click elsewhere and a choice give it back, unless the choice took it.
class Palette : public QFrame {
    Q_OBJECT
public:
    explicit Palette(QWidget* window);

    /// Asked for the entries each time it opens; what takes longer comes by setGroups().
    using Fill = std::function<void()>;
    void setFill(Fill fill) { m_fill = std::move(fill); }
    void setGroups(std::vector<PaletteGroupPtr> groups);
    void setComing(bool coming); ///< names of nodes and tensors: what is not found may be among them
    /// What was chosen in former sessions is at the top, and what is chosen is kept; else only while this window lives.
    void remember();
    void open(const QString& typed = {});
    void close();

    QLineEdit* field() const { return m_field; }
    QListView* list() const { return m_list; }
    const PaletteModel& model() const { return *m_model; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    bool keyPressed(int key);
    void choose(const QModelIndex& index);
    void noteUse(const QString& id);
    void tell();
    void place();

    PaletteModel* m_model;
    QLineEdit* m_field;
    QListView* m_list;
    QLabel* m_note;
    Fill m_fill;
    QPointer<QWidget> m_before; ///< that had the focus
    QStringList m_used; ///< newest first
    bool m_remembers = false, m_coming = false;
};

} // namespace qs
