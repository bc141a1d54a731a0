// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/evidence_labels.h"
#include "core/analysis/rows/output_row.h"
#include "core/base/text/distinct_names.h"
#include "core/report/format.h"
#include "core/report/html/html_files.h"
#include "core/report/html/html_parts.h"
#include "core/report/remedy_text.h"
#include "core/report/report.h"
#include "core/report/task_text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

using html::escaped;
using html::shown;

constexpr size_t kHistograms = 6;

std::string card(const std::string& title, const std::string& big, const std::string& below)
{
    return "<section><h2>" + escaped(title) + "</h2><div class=\"big\">" + big + "</div><p class=\"muted\">" + below
        + "</p></section>\n";
}

std::string section(const std::string& title, const std::string& content)
{
    return "<section><h2>" + escaped(title) + "</h2>\n" + content + "</section>\n";
}

/// Where the ranges come from, if they were found here.
std::string calibratedOn(const Snapshot& s)
{
    if (!calibratedHere(s))
        return {};
    return " \xc2\xb7 "
        + (s.calibrationData ? "calibrated on " + s.inputs.calibration.spec
                             : std::string("the same data calibrate and judge"));
}

const char* taskTitle(const TaskRow& task)
{
    switch (task.what.kind) {
    case TaskKind::Classes:
        return "Same class (top-1)";
    case TaskKind::Sequence:
        return task.scored == ScoredToken::Next ? "Same next token"
            : task.scored == ScoredToken::Own   ? "Positions with the same token"
                                                : "Positions with the same class";
    case TaskKind::Mask:
        return "Masks, mean IoU";
    case TaskKind::Boxes:
        return "Boxes with a counterpart";
    case TaskKind::Values:
        break;
    }
    return "";
}

std::string taskShare(const TaskRow& task)
{
    return task.what.kind == TaskKind::Mask ? text::number(task.agreement) : text::percent(task.agreement);
}

std::string cards(const Snapshot& s)
{
    const Comparison& c = *s.comparison;
    std::string out = "<div class=\"cards\">\n";
    if (const OutputRow* o = worstOutput(c.outputs)) {
        const size_t results = resultOutputs(c.outputs).size();
        out += card(results > 1 ? "Output SQNR (worst of " + std::to_string(results) + ")" : "Output SQNR",
            shown(text::decibelUnit(o->similarity.sqnrDb, o->similarity.exact)), escaped(o->name));
        for (const OutputRow& row : c.outputs)
            if (row.task.agreement)
                out += card(taskTitle(row.task), shown(taskShare(row.task)),
                    escaped(c.outputs.size() > 1 ? row.name : text::counted(c.samples, "sample")));
    }
    if (c.accuracy)
        out += card("Accuracy, float \xe2\x86\x92 quantized",
            shown(text::percent(c.accuracy->floatAccuracy)) + " &#8594; "
                + shown(text::percent(c.accuracy->quantizedAccuracy)),
            escaped(text::counted(c.accuracy->labels, "label") + ", " + text::counted(c.flipped.size(), "sample")
                + " flipped"));
    const size_t unmatched = s.alignment->unmatchedFloat.size() + s.alignment->unmatchedQuant.size();
    out += card("Tensors compared", shown(text::count(c.activations.size())),
        escaped(text::counted(c.weights.size(), "weight") + ", " + text::count(unmatched) + " without a partner"));
    return out + "</div>\n";
}

std::string evidenceText(const std::vector<EvidenceItem>& items)
{
    std::string out;
    for (const EvidenceItem& e : items) {
        const auto known = evidenceLabel(e.key);
        const EvidenceForm form = known ? known->form : EvidenceForm::Number;
        const std::string value = !e.number ? e.text
            : form == EvidenceForm::Share   ? text::percent(*e.number)
            : form == EvidenceForm::Count   ? text::count(uint64_t(*e.number))
            : e.unit == "dB"                ? text::decibelUnit(e.number)
                                            : text::number(e.number) + (e.unit.empty() ? "" : " " + e.unit);
        out += (out.empty() ? "" : " &#183; ") + escaped(known ? known->label : e.key) + " " + shown(value);
    }
    return out;
}

std::string evidence(const Finding& f)
{
    const std::string text = evidenceText(f.evidence);
    return text.empty() ? text : "<p class=\"evidence\">" + text + "</p>";
}

/// Where else a finding holds.
std::string places(const Finding& f)
{
    if (f.places.empty())
        return {};
    std::string rows;
    for (const FindingPlace& p : f.places)
        rows += "<li>" + escaped(p.tensor.empty() ? p.node : p.tensor) + ": " + evidenceText(p.evidence) + "</li>";
    return "<details><summary>" + escaped(text::counted(f.places.size(), "place")) + "</summary><ul class=\"evidence\">"
        + rows + "</ul></details>";
}

std::string gainOf(const Snapshot& s, const Finding& f)
{
    const std::string gain = text::gainSentence(f, s.comparison->accuracy), command = text::remedyCommandLine(s, f);
    return (gain.empty() ? "" : " " + shown(gain))
        + (command.empty() ? "" : "<br><code>" + escaped(command) + "</code>");
}

std::string findings(const Snapshot& s)
{
    const Comparison& c = *s.comparison;
    if (c.findings.empty())
        return "<p>Nothing stands out.</p>\n";
    std::string out;
    for (const Finding& f : c.findings) {
        const std::string severity(severityName(f.severity));
        const std::string& place = f.tensor.empty() ? f.node : f.tensor;
        out += "<div class=\"finding " + severity + "\"><h3>" + escaped(f.title) + "<span class=\"tag\">"
            + escaped(
                severity + " \xc2\xb7 " + std::string(ruleId(f.rule)) + (place.empty() ? "" : " \xc2\xb7 " + place))
            + "</span></h3><p>" + escaped(f.summary) + "</p>" + evidence(f) + places(f)
            + (f.remedy.empty() ? "" : "<p>&#8594; " + escaped(f.remedy) + gainOf(s, f) + "</p>") + "</div>\n";
    }
    return out;
}

std::string floatNodes(const Comparison& c)
{
    std::string rows;
    for (const FloatNodeRow& row : c.floatNodes)
        rows += "<li>" + escaped(row.node) + " (" + escaped(row.opType)
            + (row.macShare.value_or(0) > 0 ? ", " + shown(text::percent(row.macShare)) + " of the multiplications"
                                            : "")
            + "): " + escaped(row.reason.text) + "</li>";
    return "<details><summary>" + escaped(text::counted(c.floatNodes.size(), "node"))
        + "</summary><ul class=\"evidence\">" + rows + "</ul></details>";
}

std::string histograms(const Comparison& c)
{
    std::string out
        = "<div class=\"legend\"><i class=\"hkey f\"></i><span>float</span><i class=\"hkey q\"></i><span>quantized "
          "model, before the quantizer</span><i class=\"hkey r\"></i><span>representable range</span>"
          "<span>counts on a logarithmic scale</span></div><div class=\"histograms\">\n";
    size_t drawn = 0;
    for (const size_t i : text::worstFirst(c.activations)) {
        const ActivationRow& row = c.activations[i];
        if (row.floatHistogram.empty())
            continue;
        if (++drawn > kHistograms)
            break;
        out += "<div><h3>" + escaped(text::tensorFor(row)) + "</h3><p class=\"muted\">"
            + shown(text::decibelUnit(row.accumulated.sqnrDb, row.accumulated.exact)) + " &#183; range "
            + shown(text::range(row.range)) + " &#183; clipped " + shown(text::percent(row.clippedFraction))
            + (row.floatClippedFraction ? ", of the float data " + shown(text::percent(row.floatClippedFraction)) : "")
            + "</p>" + html::histogram(row) + "</div>\n";
    }
    return drawn == 0 ? std::string("<p class=\"muted\">no values</p>\n") : out + "</div>\n";
}

/// Whether both files are one network, and what of the second one is turned to be compared.
std::string aboutFiles(const Snapshot& s)
{
    const auto line = [](const std::string& text) { return "<p class=\"muted\">" + shown(text) + "</p>\n"; };
    std::string out = s.comparison->network ? line(text::networkVerdict(*s.comparison->network)) : std::string();
    for (const std::string& fitted : text::fittedInputs(*s.quantModel))
        out += line(fitted);
    return out;
}

} // namespace

std::string compareHtml(const Snapshot& s, const ReportInfo& info)
{
    const Comparison& c = *s.comparison;
    const auto [floatName, quantName] = distinctFileNames(s.floatModel->model->path, s.quantModel->model->path);
    const std::string title = floatName + " \xe2\x87\x84 " + quantName;
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/><title>"
        + escaped(title) + "</title><style>" + html::style() + "</style></head><body><main>\n<h1>" + escaped(title)
        + "</h1>\n<p class=\"muted\">"
        + escaped(std::string(quantFormName(s.quantModel->quant->form())) + " \xc2\xb7 " + s.inputs.data.spec
            + " \xc2\xb7 " + text::counted(c.samples, "sample") + " \xc2\xb7 " + std::string(profileName(c.profile))
            + calibratedOn(s) + (c.partial ? " \xc2\xb7 partial" : ""))
        + "</p>\n";
    if (info.other) {
        const Snapshot& a = *info.other;
        out += section("Two quantized files",
            "<p>A = " + escaped(a.quantModel->model->path) + ", B = " + escaped(s.quantModel->model->path)
                + ", both against " + escaped(s.floatModel->model->path)
                + ". Everything below the parameters is of B.</p>" + "<h3>Outputs of A</h3>"
                + html::outputTable(*a.comparison) + "<h3>Parameters, largest consequence first</h3>"
                + html::differenceTable(*a.comparison, c));
    }
    if (info.blame)
        out += section("Why another token", html::blameTable(*info.blame, info.words));
    for (const OutputRow& row : c.outputs)
        if (row.language && row.language->freeRun)
            out += section("What each model goes on with", html::continuationTable(*row.language->freeRun, info.words));
    if (info.files)
        out += section("Models side by side", html::filesTable(*info.files));
    if (info.elements)
        out += section("Element by element", html::elementsTable(*info.elements));
    if (info.ladder)
        out += section("From the framework to the device", html::ladderTable(*info.ladder));
    out += cards(s);
    out += aboutFiles(s) + section("Findings", findings(s)) + section("Network", html::graphDrawing(s))
        + section("SQNR along the network", html::layerChart(c)) + section("Worst tensors", histograms(c))
        + section("Outputs", html::outputTable(c));
    if (const std::string samples = html::samplesSection(s); !samples.empty())
        out += section("Samples", samples);
    out += section("Activations, lowest SQNR first", html::activationTable(c));
    if (!c.weights.empty())
        out += section("Weights, lowest SQNR first", html::weightTable(c));
    if (info.laboratory && !c.weights.empty())
        out += section("Weights stored in other ways", html::laboratoryTable(c, *info.laboratory));
    if (!c.floatNodes.empty())
        out += section("Why is this float?", floatNodes(c));
    const Alignment& pairs = *s.alignment;
    if (!pairs.unmatchedFloat.empty() || !pairs.unmatchedQuant.empty() || !pairs.insideFloat.empty()
        || !pairs.insideQuant.empty() || !pairs.links.empty())
        out += section("Without a partner", html::unmatchedTable(s));
    out += section("What the numbers mean", html::definitions());
    out += "<p class=\"muted\" style=\"margin-top:14px\">float: " + escaped(s.floatModel->model->path) + " ("
        + text::counted(s.floatModel->model->fileNodes, "node")
        + ") &#183; quantized: " + escaped(s.quantModel->model->path) + " ("
        + text::counted(s.quantModel->model->fileNodes, "node") + ") &#183; run " + text::milliseconds(s.timing.runMs)
        + " &#183; peak memory " + text::bytes(info.peakMemoryBytes) + "</p>\n";
    return out + "</main><script>" + html::script() + "</script></body></html>\n";
}

} // namespace qs
