// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/run_model.h"

#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

QString sqnrText(const std::optional<RunNumbers>& numbers)
{
    return numbers ? decibelText(numbers->outputSqnrDb, numbers->exact) : absentText();
}

QString shareText(const std::optional<RunNumbers>& numbers, Number RunNumbers::*share)
{
    return percentText(numbers ? (*numbers).*share : Number());
}

QString sizeText(const std::optional<RunNumbers>& numbers)
{
    return numbers && numbers->fileBytes ? bytesText(*numbers->fileBytes) : absentText();
}

int sign(const Number& difference, bool higherIsBetter)
{
    if (!difference || *difference == 0)
        return 0;
    return (*difference > 0) == higherIsBetter ? 1 : -1;
}

} // namespace

RunModel::RunModel(QObject* parent)
    : QAbstractItemModel(parent)
{
}

RunId RunModel::idOf(const QModelIndex& index) const { return index.isValid() ? RunId(index.internalId()) : 0; }

std::vector<RunId> RunModel::childrenOf(const QModelIndex& index) const { return m_tree.childrenOf(idOf(index)); }

int RunModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > 0 ? 0 : int(childrenOf(parent).size());
}

int RunModel::columnCount(const QModelIndex&) const { return ColumnCount; }

QModelIndex RunModel::index(int row, int column, const QModelIndex& parent) const
{
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent))
        return {};
    return createIndex(row, column, quintptr(childrenOf(parent)[size_t(row)]));
}

QModelIndex RunModel::indexOf(RunId id) const
{
    const RecipeRun* run = m_tree.find(id);
    if (!run)
        return {};
    const auto siblings = m_tree.childrenOf(run->parent);
    const auto at = std::ranges::find(siblings, id);
    return createIndex(int(at - siblings.begin()), 0, quintptr(id));
}

QModelIndex RunModel::parent(const QModelIndex& index) const
{
    const RecipeRun* run = m_tree.find(idOf(index));
    return run ? indexOf(run->parent) : QModelIndex();
}

QString RunModel::text(const RecipeRun& run, int column) const
{
    switch (column) {
    case Name:
        return toQt(run.name) + (run.id == m_tree.best() ? QStringLiteral(" ★") : QString());
    case Sqnr:
        return sqnrText(run.numbers);
    case Accuracy:
        return shareText(run.numbers, &RunNumbers::accuracy);
    case Agreement:
        return shareText(run.numbers, &RunNumbers::top1Agreement);
    case Macs:
        return shareText(run.numbers, &RunNumbers::quantizedMacShare);
    case Size:
        return sizeText(run.numbers);
    default:
        return toQt(run.note);
    }
}

Number RunModel::number(const RecipeRun& run, int column) const
{
    if (!run.numbers)
        return {};
    const RunNumbers& n = *run.numbers;
    switch (column) {
    case Sqnr:
        return n.outputSqnrDb;
    case Accuracy:
        return n.accuracy;
    case Agreement:
        return n.top1Agreement;
    case Macs:
        return n.quantizedMacShare;
    case Size:
        return n.fileBytes ? Number(double(*n.fileBytes)) : Number();
    default:
        return {};
    }
}

QString RunModel::toolTip(const RecipeRun& run, int column) const
{
    QStringList lines { headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString() };
    if (column == Name && run.imported)
        lines << tr("the quantized file as it was opened; its recipe was read out of it");
    if (column == Name && run.id == m_tree.best())
        lines << tr("★ best of what was measured on the same samples");
    if (run.numbers)
        lines << tr("%1: %2").arg(samplesText(run.numbers->samples), toQt(run.numbers->measuredOn));
    return lines.join(u'\n');
}

QVariant RunModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RecipeRun* run = m_tree.find(idOf(index));
    const int column = index.column();
    const bool isText = column == Name || column == Note;
    switch (role) {
    case Qt::DisplayRole:
        return text(*run, column);
    case Qt::EditRole:
        return column == Name ? toQt(run->name) : column == Note ? toQt(run->note) : QVariant();
    case Qt::ToolTipRole:
        return toolTip(*run, column);
    case Qt::TextAlignmentRole:
        return int((isText ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case SortRole:
        if (isText)
            return text(*run, column);
        return number(*run, column) ? QVariant(*number(*run, column)) : QVariant();
    case IdRole:
        return quint32(run->id);
    case BestRole:
        return run->id == m_tree.best();
    case CurrentRole:
        return run->id == m_tree.current();
    default:
        return {};
    }
}

QVariant RunModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const std::array<std::pair<const char*, const char*>, ColumnCount> kTexts { {
        { QT_TR_NOOP("run"), QT_TR_NOOP("A recipe that was run; edits of it are its children") },
        { QT_TR_NOOP("output"), QT_TR_NOOP("SQNR of the first output in dB, higher is better") },
        { QT_TR_NOOP("accuracy"), QT_TR_NOOP("Share of samples with the right class; needs labels") },
        { QT_TR_NOOP("agreement"), QT_TR_NOOP("Share of samples with the float model's class") },
        { QT_TR_NOOP("int8 MACs"), QT_TR_NOOP("Share of the Conv, Gemm and MatMul work that is quantized") },
        { QT_TR_NOOP("file"), QT_TR_NOOP("Size of the quantized model as ONNX") },
        { QT_TR_NOOP("note"), QT_TR_NOOP("What you want to remember of this run") },
    } };
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::DisplayRole)
        return tr(kTexts[size_t(section)].first);
    if (role == Qt::ToolTipRole)
        return tr(kTexts[size_t(section)].second);
    if (role == Qt::TextAlignmentRole)
        return int((section == Name || section == Note ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

bool RunModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::EditRole || !checkIndex(index, CheckIndexOption::IndexIsValid))
        return false;
    if (index.column() == Name && !value.toString().trimmed().isEmpty())
        emit renamed(idOf(index), value.toString().trimmed());
    else if (index.column() == Note)
        emit annotated(idOf(index), value.toString());
    else
        return false;
    return true;
}

Qt::ItemFlags RunModel::flags(const QModelIndex& index) const
{
    if (!index.isValid())
        return {};
    const Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
    return index.column() == Name || index.column() == Note ? flags | Qt::ItemIsEditable : flags;
}

void RunModel::setRuns(const RunTree& tree)
{
    if (tree == m_tree)
        return;
    const auto sameShape = [](const RecipeRun& a, const RecipeRun& b) { return a.id == b.id && a.parent == b.parent; };
    const bool same = std::ranges::equal(tree.runs(), m_tree.runs(), sameShape);
    if (!same) {
        beginResetModel();
        m_tree = tree;
        endResetModel();
        return;
    }
    m_tree = tree;
    for (const RecipeRun& run : m_tree.runs()) {
        const QModelIndex first = indexOf(run.id);
        emit dataChanged(first, first.siblingAtColumn(ColumnCount - 1));
    }
}

std::vector<NumberChange> numberChanges(const RecipeRun& before, const RecipeRun& after)
{
    const RunDifference difference = runDifference(before, after);
    std::vector<NumberChange> changes;
    const auto add = [&](const QString& title, const QString& from, const QString& to, int better) {
        if (from != absentText() || to != absentText())
            changes.push_back({ title, from, to, better });
    };
    const auto &a = before.numbers, &b = after.numbers;
    add(RunModel::tr("Output SQNR"), sqnrText(a), sqnrText(b), sign(difference.outputSqnrDb, true));
    const bool labelled = (a && a->accuracy) || (b && b->accuracy);
    if (labelled)
        add(RunModel::tr("Accuracy"), shareText(a, &RunNumbers::accuracy), shareText(b, &RunNumbers::accuracy),
            sign(difference.accuracy, true));
    else
        add(RunModel::tr("Same class as float"), shareText(a, &RunNumbers::top1Agreement),
            shareText(b, &RunNumbers::top1Agreement), sign(difference.top1Agreement, true));
    add(RunModel::tr("int8 MACs"), shareText(a, &RunNumbers::quantizedMacShare),
        shareText(b, &RunNumbers::quantizedMacShare), sign(difference.quantizedMacShare, true));
    const Number bytes = difference.fileBytes ? Number(double(*difference.fileBytes)) : Number();
    add(RunModel::tr("File size"), sizeText(a), sizeText(b), sign(bytes, false));
    return changes;
}

QStringList settingChanges(const RecipeRun& before, const RecipeRun& after)
{
    QStringList lines;
    for (const RecipeChange& change : recipeDiff(before.recipe, after.recipe)) {
        const auto shown
            = [](const std::string& json) { return json == "null" ? RunModel::tr("default") : toQt(json); };
        lines << QStringLiteral("%1: %2 → %3").arg(toQt(change.field), shown(change.before), shown(change.after));
    }
    return lines;
}

} // namespace qs
