// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/values/value_table_model.h"
#include "widgets/session/details/shown_values.h"
#include "widgets/views/base/panel.h"

class QLabel;
class QMenu;
class QTableView;
class QToolButton;

namespace qs {

class ElidedCombo;
class SliceField;
class ValueFindBar;

/// The raw numbers of the selected tensor or of a pinned one, as a debugger shows memory: a slice of it, float,
/// quantized, as codes or the difference, of the chosen sample.
class ValuesPanel : public Panel {
    Q_OBJECT
public:
    explicit ValuesPanel(Session& session, QWidget* parent = nullptr);
    ~ValuesPanel() override;

    ShownValues& shown() const { return *m_shown; }
    ValueTableModel& model() const { return *m_model; }
    QTableView& table() const { return *m_table; }
    SliceField& slice() const { return *m_field; }
    ValueFindBar& findBar() const { return *m_find; }
    ElidedCombo& kinds() const { return *m_kinds; }
    QString statistics() const; ///< of the slice, as it stands below the table
    QString wholeStatistics() const; ///< empty where the slice is all
    QString note() const; ///< what else is to be said; empty: nothing

    void setKind(ValueKind kind);
    void setSlice(const TensorSlice& slice);
    /// Puts an axis to the right, or makes it the one that goes down; others get an index.
    bool hasAxis(size_t axis) const;
    void setAcross(size_t axis);
    void setDown(size_t axis);
    void setDigits(int digits);
    void setHex(bool hex);
    /// Writes the slice, or all, as a .npy array.
    void save(bool whole, const QString& path);
    /// The chosen cells as tab-separated text; false where they are too many.
    bool copyCells();
    void openFind();

    static constexpr qint64 kMostCopied = 1'000'000; ///< cells

signals:
    void arithmeticAsked(); ///< of the number that was selected just before

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildTop();
    void buildTable();
    void buildFooter();
    void refresh(); ///< after what is read changed
    void fillKinds();
    ValueKind kindNow() const;
    void showView();
    void fitColumns();
    void showInfo();
    void showProblem();
    void showPages();
    void turnPage(int step);
    void showStatistics(const ShownValues::Statistics& found);
    void fillMenu(QMenu& menu);
    void addView(QMenu& menu);
    void askToSave(bool whole);
    void say(const QString& text);
    std::optional<size_t> currentElement() const;
    void search(const ValueSearch& search);
    void goTo(std::optional<size_t> position);
    void showElement(size_t element); ///< the slice goes there where it does not hold it
    void showChannel(const Place& place);
    void askForArithmetic();
    void showChosen();
    int64_t indexNow(size_t axis) const;
    void arrange(const std::vector<size_t>& ranges, size_t across);

    Session& m_session;
    ShownPlace m_place;
    ShownValues* m_shown;
    ValueTableModel* m_model;
    ElidedCombo* m_kinds;
    SliceField* m_field;
    QToolButton* m_menu;
    ValueFindBar* m_find;
    QTableView* m_table;
    QLabel* m_empty; ///< over the table
    QWidget* m_pages;
    QLabel *m_pageText, *m_note, *m_ofSlice, *m_ofWhole;
    ValueView m_view; ///< as asked for, its kind as people want it; without values
    qs::Shape m_shape; ///< of what was shown last: its slice stays for others of this shape
    std::optional<size_t> m_channel; ///< of the place
    bool m_searchedWhole = false;
};

} // namespace qs
