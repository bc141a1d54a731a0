// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/run_model.h"

#include "widgets/models/base/cells.h"

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

using Numbers = std::optional<RunNumbers>;
constexpr int kArithmeticLine = 2; ///< of RunNumbers::measuredOn

/// What a cell means, and what its numbers were measured on.
QString measuredTip(const QString& meaning, const RecipeRun& run)
{
    if (!run.numbers)
        return meaning;
    const QString arithmetic
        = toQt(run.numbers->measuredOn).section(u'\n', kArithmeticLine).replace(u'\n', QStringLiteral(", "));
    const QStringList on { toQt(run.numbers->data), arithmetic };
    return meaning + u'\n'
        + RunModel::tr("%1: %2").arg(samplesText(run.numbers->samples), on.join(QStringLiteral(", ")));
}

/// What stands for a number of a run that was measured otherwise, since no gain lies between both; empty: it was not.
QString measuredOtherwise(const Numbers& before, const Numbers& after)
{
    const auto found = before && after ? measurementOf(*before, *after) : Measurement::Same;
    return found == Measurement::Same     ? QString()
        : found == Measurement::OtherData ? RunModel::tr("other data")
                                          : RunModel::tr("other arithmetic");
}

template <class Text, class Sort>
Column<RecipeRun> numberColumn(const QString& title, const QString& tip, RunModel::Key key, Text text, Sort number)
{
    return { { title, tip, {}, ColumnKind::Value, Qt::AscendingOrder, true, key },
        cell<RecipeRun>(
            text, [number](const Numbers& n) { return n ? number(*n) : Number(); }, &RecipeRun::numbers),
        [tip](const RecipeRun& run) { return measuredTip(tip, run); } };
}

} // namespace

RunModel::RunModel(QObject* parent)
    : QAbstractItemModel(parent)
{
    constexpr auto kText = ColumnKind::Text;
    const auto share = [](const QString& title, const QString& tip, Key key, Number RunNumbers::*number) {
        return numberColumn(
            title, tip, key, [number](const Numbers& n) { return shareText(n, number); },
            [number](const RunNumbers& n) { return n.*number; });
    };
    const QString runTip = tr("A recipe that was run; edits of it are its children");
    const QString noteTip = tr("What you want to remember of this run");
    m_columns = {
        { { tr("run"), runTip, {}, kText }, words<RecipeRun>([this](const RecipeRun& run) { return shownName(run); }),
            [this, runTip](const RecipeRun& run) { return nameTip(run, runTip); } },
        numberColumn(tr("output"), tr("SQNR of the worst output in dB, higher is better"), Key::Sqnr, sqnrText,
            std::mem_fn(&RunNumbers::outputSqnrDb)),
        share(tr("accuracy"), tr("Share of samples with the right class; needs labels"), Key::Accuracy,
            &RunNumbers::accuracy),
        share(tr("agreement"), tr("Share of samples with the float model's class"), Key::Agreement,
            &RunNumbers::top1Agreement),
        share(tr("int8 MACs"), tr("Share of the multiplications whose factors are both codes"), Key::Macs,
            &RunNumbers::quantizedMacShare),
        numberColumn(tr("file"), tr("Size of the quantized model as ONNX"), Key::Size, sizeText,
            [](const RunNumbers& n) { return Number(n.fileBytes); }),
        { { tr("note"), noteTip, {}, kText, Qt::AscendingOrder, true, Key::Note }, words<RecipeRun>(&RecipeRun::note),
            [noteTip](const RecipeRun& run) { return measuredTip(noteTip, run); } },
    };
}

RunId RunModel::idOf(const QModelIndex& index) const { return index.isValid() ? RunId(index.internalId()) : 0; }

const std::vector<RunId>& RunModel::childrenOf(const QModelIndex& index) const
{
    static const std::vector<RunId> none;
    const auto it = m_children.find(idOf(index));
    return it == m_children.end() ? none : it->second;
}

const RecipeRun* RunModel::find(RunId id) const
{
    const auto it = m_places.find(id);
    return it == m_places.end() ? nullptr : &m_tree.runs()[it->second.run];
}

void RunModel::findPlaces()
{
    m_places.clear();
    m_children.clear();
    for (size_t i = 0; i < m_tree.runs().size(); ++i) {
        const RecipeRun& run = m_tree.runs()[i];
        std::vector<RunId>& siblings = m_children[run.parent];
        m_places.emplace(run.id, Place { i, int(siblings.size()) });
        siblings.push_back(run.id);
    }
    m_best = m_tree.best();
}

int RunModel::rowCount(const QModelIndex& parent) const
{
    return parent.column() > 0 ? 0 : int(childrenOf(parent).size());
}

int RunModel::columnCount(const QModelIndex&) const { return int(m_columns.size()); }

QModelIndex RunModel::index(int row, int column, const QModelIndex& parent) const
{
    if (row < 0 || column < 0 || column >= columnCount() || row >= rowCount(parent))
        return {};
    return createIndex(row, column, quintptr(childrenOf(parent)[size_t(row)]));
}

QModelIndex RunModel::indexOf(RunId id) const
{
    const auto place = m_places.find(id);
    return place == m_places.end() ? QModelIndex() : createIndex(place->second.row, 0, quintptr(id));
}

bool RunModel::isNote(const QModelIndex& index) const { return index.column() == columnOf(Key::Note); }

QModelIndex RunModel::parent(const QModelIndex& index) const
{
    const RecipeRun* run = find(idOf(index));
    return run ? indexOf(run->parent) : QModelIndex();
}

QString RunModel::otherwise(const RecipeRun& run) const
{
    const RecipeRun* shown = m_tree.find(m_tree.current());
    return shown ? measuredOtherwise(shown->numbers, run.numbers) : QString();
}

QString RunModel::shownName(const RecipeRun& run) const
{
    const QString other = otherwise(run); // in front: the end of a long name is cut
    return (other.isEmpty() ? QString() : other + QStringLiteral(" · ")) + toQt(run.name)
        + (run.id == m_best ? QStringLiteral(" ★") : QString());
}

QString RunModel::nameTip(const RecipeRun& run, const QString& meaning) const
{
    QStringList lines { meaning };
    if (run.imported)
        lines << tr("the quantized file as it was opened; its recipe was read out of it");
    if (run.id == m_best)
        lines << tr("★ best of what was measured on the same samples");
    if (!otherwise(run).isEmpty())
        lines << tr("measured otherwise than what is shown: its numbers do not compare");
    return measuredTip(lines.join(u'\n'), run);
}

QVariant RunModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RecipeRun& run = *find(idOf(index));
    switch (role) {
    case Qt::EditRole:
        return index.column() == 0 ? toQt(run.name) : isNote(index) ? toQt(run.note) : QVariant();
    case BestRole:
        return run.id == m_best;
    case CurrentRole:
        return run.id == m_tree.current();
    case OtherwiseRole:
        return !otherwise(run).isEmpty();
    default:
        return cellData(m_columns[size_t(index.column())], run, role);
    }
}

QVariant RunModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    return qs::headerData(m_columns[size_t(section)].spec, role);
}

bool RunModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::EditRole || !checkIndex(index, CheckIndexOption::IndexIsValid))
        return false;
    if (index.column() == 0 && !value.toString().trimmed().isEmpty())
        emit renamed(idOf(index), value.toString().trimmed());
    else if (isNote(index))
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
    return index.column() == 0 || isNote(index) ? flags | Qt::ItemIsEditable : flags;
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
        findPlaces();
        endResetModel();
        return;
    }
    m_tree = tree;
    findPlaces();
    for (const RecipeRun& run : m_tree.runs()) {
        const QModelIndex first = indexOf(run.id);
        emit dataChanged(first, first.siblingAtColumn(columnCount() - 1));
    }
}

std::vector<NumberChange> numberChanges(const RecipeRun& before, const RecipeRun& after)
{
    const RunDifference difference = runDifference(before, after);
    std::vector<NumberChange> changes;
    const auto add = [&](const QString& title, const QString& from, const QString& to, int better,
                         const QString& note = QString()) {
        if (from != absentText() || to != absentText())
            changes.push_back({ title, from, to, better, note });
    };
    const auto &a = before.numbers, &b = after.numbers;
    const QString otherwise = measuredOtherwise(a, b);
    const auto addMeasured = [&](const QString& title, const QString& from, const QString& to, int better) {
        if (otherwise.isEmpty())
            add(title, from, to, better);
        else if (to != absentText())
            add(title, otherwise, to, 0,
                RunModel::tr("%1 was measured on something else, so no difference is told.").arg(toQt(before.name)));
    };
    addMeasured(RunModel::tr("Output SQNR"), sqnrText(a), sqnrText(b), sign(difference.outputSqnrDb, true));
    const bool labelled = (a && a->accuracy && otherwise.isEmpty()) || (b && b->accuracy);
    if (labelled)
        addMeasured(RunModel::tr("Accuracy"), shareText(a, &RunNumbers::accuracy), shareText(b, &RunNumbers::accuracy),
            sign(difference.accuracy, true));
    else
        addMeasured(RunModel::tr("Same top-1"), shareText(a, &RunNumbers::top1Agreement),
            shareText(b, &RunNumbers::top1Agreement), sign(difference.top1Agreement, true));
    add(RunModel::tr("int8 MACs"), shareText(a, &RunNumbers::quantizedMacShare),
        shareText(b, &RunNumbers::quantizedMacShare), sign(difference.quantizedMacShare, true));
    const Number bytes = difference.fileBytes ? Number(double(*difference.fileBytes)) : Number();
    const bool otherWriter = before.imported != after.imported;
    add(RunModel::tr("File size"), sizeText(a), sizeText(b), otherWriter ? 0 : sign(bytes, false),
        otherWriter
            ? RunModel::tr("One is the file as it was loaded, the other what would be written: exporters write the "
                           "same quantization in files of different sizes.")
            : QString());
    return changes;
}

QString changeText(const NumberChange& change)
{
    if (change.before == change.after)
        return change.after;
    const auto unitOf = [](const QString& text) { return text.mid(text.lastIndexOf(u' ')); };
    const bool once = change.before.contains(u' ') && unitOf(change.before) == unitOf(change.after);
    const QString before = once ? change.before.chopped(unitOf(change.before).size()) : change.before;
    return before + QStringLiteral(" → ") + change.after;
}

} // namespace qs

#include "moc_run_model.cpp"
