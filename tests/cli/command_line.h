// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <nlohmann/json_fwd.hpp>

/// Runs the built quantscope-cli.
namespace qs::test {

struct Outcome {
    int code = -1; ///< -1: crashed or did not end
    QByteArray out, err;
};

/// `signal`: sent `delayMs` after the start, unless 0.
Outcome quantscope(const QStringList& arguments, int signal = 0, int delayMs = 0);

/// Files of the bundled example.
QString example(const QString& name);
inline const QString kFloat = example("digits_float.onnx"), kQdq = example("digits_qdq.onnx"),
                     kNarrow = example("digits_qdq_narrow.onnx"), kData = example("digits_samples.npz");

/// Empty when the run ended with `code` and said so in one line "error: ..." on stderr (nothing for code 0) that holds
/// all of `words`; else what is wrong.
QString complaint(const Outcome& outcome, int code, const QStringList& words = {});

/// The document that `text` is; ends the test program where it is none.
nlohmann::json parsed(const QByteArray& text);

QByteArray contentOf(const QString& path);
void writeText(const QString& path, const QByteArray& bytes);

} // namespace qs::test

/// Runs and checks exit code and the one line on stderr.
#define QS_EXPECT(code, words, ...)                                                                                    \
    do {                                                                                                               \
        const QString qsComplaint = qs::test::complaint(qs::test::quantscope(__VA_ARGS__), code, words);               \
        QVERIFY2(qsComplaint.isEmpty(), qPrintable(qsComplaint));                                                      \
    } while (false)
