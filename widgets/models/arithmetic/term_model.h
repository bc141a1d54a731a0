// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/explain/explanation/explanation.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace qs {

/// The terms that an element is made of, in the order of the depth: operands, products, running sum, and what each
/// brings to the difference to the float network.
class TermModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Number,
        PlaceA, ///< index of the first operand in its tensor
        CodeA, ///< less its zero point
        RealA,
        CodeB,
        RealB,
        Product, ///< of codes, else of real numbers
        Sum, ///< up to this term
        Note,
        FloatA, ///< the float network's number
        FloatB,
        ErrorA, ///< what it brings to the difference by the first operand
        ErrorB,
        PlaceB,
        ColumnCount,
    };
    static bool isSecond(int column); ///< of the second operand
    enum Role {
        SortRole = Qt::UserRole + 1, ///< a number, by its magnitude where it has a sign
        ShareRole, ///< of the largest magnitude in the column, with its sign, -1..1; invalid: no bar
        SaturatesRole, ///< bool
        CopyRole, ///< in full precision
    };

    using QAbstractTableModel::QAbstractTableModel;
    /// Null: nothing.
    void show(std::shared_ptr<const ElementExplanation> explanation);
    const std::shared_ptr<const ElementExplanation>& explanation() const { return m_shown; }
    const ElementTerm& term(int row) const { return m_shown->terms[size_t(row)]; }
    /// Whether the column says anything of what is shown.
    bool used(int column) const { return m_used[size_t(column)]; }
    /// "Σ = −1,234" after this term.
    QString sumText(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void findUsed();
    void sumUp();
    double product(const ElementTerm& term) const;
    std::optional<double> numberIn(int column, size_t row) const;
    QString cellText(int column, size_t row) const;
    QString tip(int column, size_t row) const;
    QString operandTip(const Operand& operand) const;
    QString operandName(bool second) const;

    std::shared_ptr<const ElementExplanation> m_shown;
    std::vector<bool> m_used = std::vector<bool>(ColumnCount, false);
    std::vector<double> m_sums; ///< running, of real numbers
    double m_largestProduct = 0, m_largestError = 0;
    bool m_integers = false; ///< products are of codes
};

} // namespace qs
