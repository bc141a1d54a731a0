// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/words/window_words.h"

#include "core/quant/recipe/recipe_options.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"

#include <QRegularExpression>

namespace qs {

namespace {

/// Whole phrases first: they say more than the option in them.
constexpr std::pair<const char*, const char*> kPhrases[] {
    { "add --preprocess FILE.json with size, scale, mean, std, layout", "say it in the dialog of the File menu" },
    { "--preprocess has no effect: it is for folders of pictures",
        "how pictures are prepared has no effect: these data are no pictures" },
    { "--shape has no effect: it is for random data", "the sizes of random data have no effect on these data" },
    { "give --data with a .npz or .npy file, a folder, or random:N",
        "open a .npz or .npy file, a folder, or random data" },
    { "give a .npz or .npy file, a folder, or random:N", "open a .npz or .npy file, a folder, or random data" },
    { "write random:N or random:N:SEED with whole numbers", "open them with File ▸ Random data" },
    { "give --data, or --ranges with ranges found before", "open data" },
    { "give --data in place of --ranges, or leave these corrections out", "open data, or leave these corrections out" },
    { "give --data", "open data" },
    { "use fewer --threads, smaller inputs or a larger --memory-limit",
        "use smaller inputs, or close programs that need memory" },
    { "use --limit or a larger --memory-limit", "open fewer samples, or close programs that need memory" },
    { "raise --memory-limit, or", "close programs that need memory, or" },
    { "use a larger --memory-limit", "close programs that need memory" },
    { "`run --all-tensors --out F.npz` and Netron show the names", "the tables and the graph show the names" },
    { "--exact-activations (exact_activations in the recipe) keeps such nodes",
        "“Relu and Clip” in What-if keeps such nodes" },
    { "use the dynamic format, or fold an If whose condition is fixed (--fix-input)",
        "choose the dynamic format, or fold an If whose condition is fixed (Recipe ▸ Fix inputs)" },
    { "leave EnableSubgraph (--enable-subgraph, subgraphs in the recipe) out",
        "leave the bodies of If, Loop and Scan out" },
    { "use --ort-version 1.32 (ort_version in the recipe), or 8 bits",
        "choose 1.32 for “As ONNX Runtime” in What-if, or 8 bits" },
    { "--format dynamic --enable-subgraph quantizes its products",
        "the dynamic format with “Bodies of If, Loop, Scan” quantizes its products" },
    { "leave --fix-input and --fix-shape out, or give --preprocess-graph",
        "leave the fixed inputs out, or switch “Prepare the graph” on" },
    { "--fix-input NAME=VALUE and --fix-shape NAME=2x3x4 fold it", "Recipe ▸ Fix inputs folds it" },
    { "--fix-input names", "a fixed value names" },
    { "--shape names", "a size of random data names" },
    { "--shape gives", "the sizes of random data are" },
    { "Link them by hand with a map file (--map) if", "Link them by hand in Matching if" },
    { "no range is found by --method percentile", "no range is found by the percentile method" },
    { "--equalize-clips makes Relu of those from 0 on", "“Equalize: Clip as Relu” makes Relu of those from 0 on" },
    { "or a file of --save-ranges", "or a file of ranges that was saved before" },
    { "that ONNX Runtime's calibration_cache_path or --save-ranges wrote",
        "of ranges that ONNX Runtime's calibration_cache_path or Quantscope wrote" },
};

struct Words {
    const char *option, *words; ///< a regular expression with what follows the option; \1 is its value
};
constexpr Words kOptions[] {
    { "give its sizes with --shape \\S+", "give its sizes in File ▸ Random data" },
    { "use --limit (\\d+)", "open \\1 samples" },
    { "use --limit", "open fewer samples" },
    { "--arithmetic ([\\w-]+)", "Recipe ▸ Arithmetic ▸ \\1" },
    { "--format ([\\w-]+)", "the format \\1" },
    { "--method ([\\w-]+)", "the method \\1" },
    { "--form ([\\w-]+)", "the form \\1" },
    { "--carry OUTPUT=INPUT", "state" },
    { "--fix-(?:input|shape) ([^\\s']\\S*=\\S+)(?: --fix-(?:input|shape) (\\S+=\\S+))*", "Recipe ▸ Fix inputs (%1)" },
    { "--fix-(?:input|shape)", "a fixed input" },
    { "--node-alone", "on the command line only" },
    { "--data(?: DATA)?", "data" },
    { "--memory-limit", "limit of memory" },
};

/// What the form calls the option; empty where it has no line of its own.
QString formTitle(const QString& option)
{
    for (const RecipeOption* flag : recipeFlags())
        if (toQt(flag->flag.name) == option && !flag->line.title.empty())
            return tr(std::string(flag->line.title).c_str());
    return {};
}

/// "--fix-input sr=16000 --fix-shape x=1x576" -> "sr=16000, x=1x576"
QString fixedValues(const QString& options)
{
    static const QRegularExpression kOne(QStringLiteral("--fix-(?:input|shape) (\\S+)"));
    QStringList values;
    for (auto it = kOne.globalMatch(options); it.hasNext();)
        values << it.next().captured(1);
    return values.join(QStringLiteral(", "));
}

void replaceOption(QString& text, const Words& words)
{
    const QRegularExpression option(toQt(words.option));
    for (auto match = option.match(text); match.hasMatch(); match = option.match(text)) {
        QString by = tr(words.words);
        by.replace(QStringLiteral("\\1"), match.captured(1));
        by.replace(QStringLiteral("%1"), fixedValues(match.captured()));
        text.replace(match.capturedStart(), match.capturedLength(), by);
    }
}

} // namespace

QString inWindowWords(QString text)
{
    if (!text.contains(QStringLiteral("--")) && !text.contains(QStringLiteral("random:N")))
        return text;
    for (const auto& [phrase, words] : kPhrases)
        text.replace(toQt(phrase), tr(words));
    for (const Words& words : kOptions)
        replaceOption(text, words);
    // Any other: by the title of its line in the form, else by its name.
    static const QRegularExpression kAny(QStringLiteral("(?<![\\w-])--(no-)?([a-z][a-z0-9-]*)"));
    for (auto match = kAny.match(text); match.hasMatch(); match = kAny.match(text)) {
        const QString name = match.captured(2), title = formTitle(name);
        const QString by = title.isEmpty() ? QString(name).replace(u'-', u' ')
                                           : QStringLiteral("“%1”").arg(QString(title).remove(u':'));
        text.replace(
            match.capturedStart(), match.capturedLength(), match.captured(1).isEmpty() ? by : tr("%1 off").arg(by));
    }
    return text;
}

} // namespace qs
