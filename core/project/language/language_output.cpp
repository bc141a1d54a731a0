// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/language/language_output.h"

namespace qs {

Result<size_t> languageOutput(const Snapshot& snapshot)
{
    if (snapshot.comparison && snapshot.data)
        for (size_t i = 0; i < snapshot.comparison->outputs.size(); ++i)
            if (snapshot.comparison->outputs[i].language)
                return i;
    return badInput("no output holds scores [batch, positions, vocabulary] beside token ids [batch, positions]",
        snapshot.inputs.floatPath,
        "leave out --decode and --blame, or give a language model and tokens of its vocabulary");
}

Result<size_t> decoderOutput(const Snapshot& snapshot)
{
    QS_TRY(const size_t output, languageOutput(snapshot));
    const OutputRow& row = snapshot.comparison->outputs[output];
    if (row.language->scored == ScoredToken::Next)
        return output;
    return badInput("scores at a position of '" + row.name
            + "' follow from the tokens behind it, too, so they guess the token in that place: there is no next one to "
              "go on with",
        snapshot.inputs.floatPath, "leave out --decode free");
}

} // namespace qs
