// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/arithmetic/term_model.h"

#include "widgets/models/arithmetic/element_path.h"
#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kTermDigits = 4;

bool isText(int column)
{
    return column == TermModel::PlaceA || column == TermModel::PlaceB || column == TermModel::Note;
}

/// Sorted by magnitude: the sign is another matter.
bool isSigned(int column)
{
    return column == TermModel::Product || column == TermModel::Sum || column == TermModel::ErrorA
        || column == TermModel::ErrorB;
}

bool isFirst(int column)
{
    return column == TermModel::PlaceA || column == TermModel::CodeA || column == TermModel::RealA
        || column == TermModel::FloatA;
}

} // namespace

bool TermModel::isSecond(int column)
{
    return column == CodeB || column == RealB || column == FloatB || column == ErrorB || column == PlaceB;
}

void TermModel::show(std::shared_ptr<const ElementExplanation> explanation)
{
    if (explanation == m_shown)
        return;
    beginResetModel();
    m_shown = std::move(explanation);
    m_integers = m_shown && !m_shown->terms.empty() && m_shown->terms.front().product.has_value();
    findUsed();
    sumUp();
    endResetModel();
}

void TermModel::findUsed()
{
    std::fill(m_used.begin(), m_used.end(), false);
    if (!m_shown)
        return;
    const bool adds = m_shown->relation == Relation::Products || m_shown->relation == Relation::Sum
        || m_shown->relation == Relation::Mean;
    for (const ElementTerm& term : m_shown->terms) {
        m_used[Number] = m_used[PlaceA] = m_used[RealA] = true;
        m_used[CodeA] = m_used[CodeA] || term.a.code;
        m_used[FloatA] = m_used[FloatA] || term.a.twin;
        m_used[ErrorA] = m_used[ErrorA] || term.fromA;
        m_used[ErrorB] = m_used[ErrorB] || term.fromB;
        m_used[Note] = m_used[Note] || term.pair || term.chosen || term.sign < 0;
        m_used[Sum] = adds;
        if (!term.b)
            continue;
        m_used[PlaceB] = m_used[RealB] = m_used[Product] = true;
        m_used[CodeB] = m_used[CodeB] || term.b->code;
        m_used[FloatB] = m_used[FloatB] || term.b->twin;
    }
}

double TermModel::product(const ElementTerm& term) const
{
    if (m_integers && term.product)
        return double(*term.product);
    return term.sign * term.a.real * (term.b ? term.b->real : 1);
}

void TermModel::sumUp()
{
    m_sums.clear();
    m_largestProduct = m_largestError = 0;
    if (!m_shown)
        return;
    double sum = 0;
    for (const ElementTerm& term : m_shown->terms) {
        const double now = product(term);
        sum += now;
        m_sums.push_back(term.sum ? double(*term.sum) : sum);
        m_largestProduct = std::max(m_largestProduct, std::abs(now));
        for (const auto& part : { term.fromA, term.fromB })
            m_largestError = std::max(m_largestError, std::abs(part.value_or(0)));
    }
}

int TermModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_shown ? 0 : int(m_shown->terms.size());
}

int TermModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

std::optional<double> TermModel::numberIn(int column, size_t row) const
{
    const ElementTerm& term = m_shown->terms[row];
    const auto codeOf = [](const Operand& operand) {
        return operand.code ? std::optional(double(*operand.code - operand.zeroPoint)) : std::nullopt;
    };
    switch (column) {
    case Number:
    case PlaceA:
    case PlaceB:
        return double(row);
    case CodeA:
        return codeOf(term.a);
    case RealA:
        return term.a.real;
    case FloatA:
        return term.a.twin;
    case CodeB:
        return term.b ? codeOf(*term.b) : std::nullopt;
    case RealB:
        return term.b ? std::optional(term.b->real) : std::nullopt;
    case FloatB:
        return term.b ? term.b->twin : std::nullopt;
    case Product:
        return term.b ? std::optional(product(term)) : std::nullopt;
    case Sum:
        return m_used[Sum] ? std::optional(m_sums[row]) : std::nullopt;
    case ErrorA:
        return term.fromA;
    case ErrorB:
        return term.fromB;
    default:
        return term.pair || term.chosen ? std::optional(1.0) : std::nullopt;
    }
}

QString TermModel::cellText(int column, size_t row) const
{
    const ElementTerm& term = m_shown->terms[row];
    const auto placeText = [this](const Operand& operand) {
        return elementPlaceText(placeOf(m_shown->sources[operand.source].shape, operand.element));
    };
    switch (column) {
    case Number:
        return countText(row);
    case PlaceA:
        return placeText(term.a);
    case PlaceB:
        return term.b ? placeText(*term.b) : QString();
    case CodeA:
        return codeLessZeroPoint(term.a);
    case CodeB:
        return term.b ? codeLessZeroPoint(*term.b) : QString();
    case Note:
        return term.pair    ? tr("pair saturates")
            : term.chosen   ? tr("the largest")
            : term.sign < 0 ? tr("subtracted")
                            : QString();
    default:
        break;
    }
    const auto number = numberIn(column, row);
    if (!number)
        return {};
    const bool whole = m_integers && (column == Product || (column == Sum && term.sum));
    if (whole)
        return signedCount(qint64(*number));
    return column == ErrorA || column == ErrorB ? signedText(*number, 3) : numberText(*number, kTermDigits);
}

QString TermModel::operandTip(const Operand& operand) const
{
    const OperandSource& source = m_shown->sources[operand.source];
    QString text = toQt(source.name) + u' ' + elementPlaceText(placeOf(source.shape, operand.element));
    if (operand.code && operand.scale)
        text += QStringLiteral("\n%1 × (%2) = %3")
                    .arg(numberText(*operand.scale, 9), codeLessZeroPoint(operand), numberText(operand.real, 9));
    else
        text += u'\n' + numberText(operand.real, 9);
    if (operand.twin)
        text += tr("\nfloat network: %1%2")
                    .arg(numberText(*operand.twin, 9),
                        source.twin.empty() ? QString() : tr(" in %1").arg(toQt(source.twin)));
    return text;
}

QString TermModel::tip(int column, size_t row) const
{
    const ElementTerm& term = m_shown->terms[row];
    if (isFirst(column))
        return operandTip(term.a);
    if (isSecond(column) && column != ErrorB && term.b)
        return operandTip(*term.b);
    if (column == Note && term.pair) {
        const SaturatedPair& pair = m_shown->saturated[*term.pair].codes;
        return tr("%1 × %2 + %3 × %4 = %5, of which 16 bits keep %6")
            .arg(signedCount(pair.a0), signedCount(pair.w0), signedCount(pair.a1), signedCount(pair.w1),
                signedCount(pair.sum()), signedCount(pair.kept()));
    }
    const auto number = numberIn(column, row);
    return number ? numberText(*number, 9) : QString();
}

QVariant TermModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const int column = index.column();
    const auto row = size_t(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return cellText(column, row);
    case Qt::ToolTipRole:
        return tip(column, row);
    case Qt::TextAlignmentRole:
        return int(Qt::AlignVCenter | (column == Note ? Qt::AlignLeft : Qt::AlignRight));
    case SaturatesRole:
        return m_shown->terms[row].pair.has_value();
    case SortRole: {
        const auto number = numberIn(column, row);
        return number ? QVariant(isSigned(column) ? std::abs(*number) : *number) : QVariant();
    }
    case CopyRole: {
        const auto number = numberIn(column, row);
        return isText(column) || column == CodeA || column == CodeB || !number ? QVariant(cellText(column, row))
                                                                               : QVariant(*number);
    }
    case ShareRole: {
        const double largest = column == Product ? m_largestProduct : m_largestError;
        const auto number = numberIn(column, row);
        const bool bar = column == Product || column == ErrorA || column == ErrorB;
        return bar && number && largest > 0 ? QVariant(*number / largest) : QVariant();
    }
    default:
        return {};
    }
}

QString TermModel::operandName(bool second) const
{
    if (!m_shown || m_shown->terms.empty())
        return {};
    const ElementTerm& term = m_shown->terms.front();
    if (second && !term.b)
        return {};
    const OperandSource& source = m_shown->sources[second ? term.b->source : term.a.source];
    const bool products = m_shown->relation == Relation::Products;
    return source.constant && products ? tr("Weight") : products && second ? tr("Second input") : tr("Input");
}

QVariant TermModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignVCenter | (section == Note ? Qt::AlignLeft : Qt::AlignRight));
    const QString name = operandName(isSecond(section));
    const QString code = tr("Code less its zero point"),
                  real = tr("As a real number: scale × (code − zero point) where there are codes"),
                  place = tr("Index of the operand in its tensor"),
                  twin = tr("What the float network has in place of this operand"),
                  error = tr("What the error of this operand brings to the difference");
    const std::pair<QString, QString> words[] {
        { tr("#"), tr("Number of the term, in the order of the depth; padding is no term") },
        { tr("%1 at").arg(name), place },
        { tr("Code"), code },
        { name, real },
        { tr("Code"), code },
        { name, real },
        { tr("Product"), m_integers ? tr("Of the codes less their zero points") : tr("Of the real numbers") },
        { tr("Sum"),
            m_integers ? tr("Of the products so far, in 32 bits, without the bias")
                       : tr("Of the terms so far; the engine adds in an order of its own") },
        { QString(), tr("What is special about the term") },
        { tr("Float %1").arg(name.toLower()), twin },
        { tr("Float %1").arg(name.toLower()), twin },
        { tr("By %1").arg(name.toLower()), error },
        { tr("By %1").arg(name.toLower()), error },
        { tr("%1 at").arg(name), place },
    };
    static_assert(std::size(words) == ColumnCount);
    return role == Qt::DisplayRole ? QVariant(words[section].first)
        : role == Qt::ToolTipRole  ? QVariant(words[section].second)
                                   : QVariant();
}

QString TermModel::sumText(int row) const
{
    if (!m_used[Sum])
        return {};
    return QStringLiteral("Σ = %1").arg(cellText(Sum, size_t(row)));
}

} // namespace qs

#include "moc_term_model.cpp"
