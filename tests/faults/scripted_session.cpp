// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/faults/scripted_session.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace qs::test {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

const std::string kExamples = QS_SOURCE_DIR "/resources/examples/";
const std::string kFloat = kExamples + "digits_float.onnx", kQuantized = kExamples + "digits_qdq.onnx";
const std::string kOld = "as it was before\n";

Words operator+(Words words, const Words& more)
{
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Words cli(const Words& arguments) { return Words { QS_CLI } + arguments + Words { "--quiet", "--threads", "2" }; }

Words samples(const char* limit = "3") { return { "--data", kExamples + "digits_samples.npz", "--limit", limit }; }

void carryOut(const Words& command)
{
    std::string line;
    for (const std::string& word : command)
        line += "'" + word + "' ";
    if (std::system((line + "> /dev/null").c_str()) != 0) {
        std::fprintf(stderr, "cannot be prepared: %s\n", line.c_str());
        std::abort();
    }
}

/// Steps of a session in which files of that folder stand for what came before.
class Script {
public:
    Script(const fs::path& inputs, const fs::path& folder)
        : m_inputs(inputs)
        , m_folder(folder)
    {
    }

    std::vector<Step> all()
    {
        prepare();
        addModels();
        addComparisons();
        addQuantizers();
        addOthers();
        addWindow();
        return m_steps;
    }

private:
    std::string in(const std::string& name) const { return (m_inputs / name).string(); }
    std::string to(const std::string& name) const { return (m_folder / name).string(); }

    Step& add(const std::string& name, const Words& command, const Words& replaced)
    {
        Step step { .name = name, .command = command, .before = {} };
        for (const std::string& file : replaced)
            step.before[file] = kOld;
        m_steps.push_back(std::move(step));
        return m_steps.back();
    }

    void prepare() const
    {
        carryOut(cli(Words { "quantize", kFloat, "-o", in("q.onnx"), "--save-recipe", in("recipe.json"),
                         "--save-ranges", in("ranges.json"), "--calibration-cache", in("calibration") }
            + samples()));
        for (const std::string part : { "1", "2" })
            carryOut(cli(Words { "compare", kFloat, kQuantized, "--shard", part + "/2", "--state",
                             in("part" + part + ".qstate") }
                + samples()));
        putContent(in("gates.toml"), "[outputs]\nmin_sqnr_db = 5\n");
        putContent(in("requests.jsonl"),
            R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},)"
            R"("clientInfo":{"name":"test","version":"1"}}})"
            "\n"
            R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
            "\n"
            R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"
            "\n");
        fs::create_directory(m_inputs / "former");
        carryOut({ QS_FAULT_STEPS, "external", kFloat, in("outside.onnx") });
        carryOut({ QS_FAULT_STEPS, "external", kQuantized, in("former/o.onnx") });
        carryOut({ QS_FAULT_STEPS, "project", kFloat, in("work.qscope") });
    }

    void addModels()
    {
        add("info", cli({ "info", kFloat, "--json", to("info.json") }), { "info.json" });
        add("info of external data", cli({ "info", in("outside.onnx"), "--json", to("info.json") }), { "info.json" });
        add("run",
            cli(Words { "run", kFloat, "--all-tensors", "--out", to("a.npz"), "--json", to("a.json") } + samples()),
            { "a.npz", "a.json" });
        add("run in integers",
            cli(Words { "run", kQuantized, "--out", to("a.npz"), "--arithmetic", "integer" } + samples()), { "a.npz" });
        add("run of external data", cli(Words { "run", in("outside.onnx"), "--out", to("a.npz") } + samples()),
            { "a.npz" });
        add("run on text",
            cli({ "run", kExamples + "verses_int4.onnx", "--text", kExamples + "verses.txt", "--tokenizer",
                kExamples + "tokenizer.json", "--positions", "8", "--limit", "1", "--out", to("a.npz") }),
            { "a.npz" });
        add("explain",
            cli(Words { "explain", kQuantized, "--float", kFloat, "--tensor", "scores", "--at", "0,0", "--json",
                    to("e.json") }
                + samples()),
            { "e.json" });
    }

    void addComparisons()
    {
        add("compare",
            cli(Words { "compare", kFloat, kQuantized, "--csv", to("c.csv"), "--html", to("c.html"), "--json",
                    to("c.json"), "--save-map", to("map.json") }
                + samples()),
            { "c.csv", "c.html", "c.json", "map.json" });
        add("compare with gates",
            cli(Words { "compare", kFloat, kQuantized, "--gate", in("gates.toml"), "--junit", to("c.xml"), "--sarif",
                    to("c.sarif"), "--markdown", to("c.md") }
                + samples()),
            { "c.xml", "c.sarif", "c.md" });
        add("compare a recipe",
            cli(Words {
                    "compare", kFloat, "--recipe", in("recipe.json"), "--json", to("c.json"), "--try-remedies", "1" }
                + samples()),
            { "c.json" });
        add("compare a part",
            cli(Words { "compare", kFloat, kQuantized, "--shard", "1/2", "--state", to("s.qstate") } + samples()),
            { "s.qstate" });
        add("merge",
            cli({ "merge", in("part1.qstate"), in("part2.qstate"), "--csv", to("c.csv"), "--json", to("c.json") }),
            { "c.csv", "c.json" });
    }

    void addQuantizers()
    {
        add("quantize",
            cli(Words { "quantize", kFloat, "-o", to("q.onnx"), "--recipe", in("recipe.json"), "--save-recipe",
                    to("r.json"), "--save-ranges", to("ranges.json"), "--script", to("q.py") }
                + samples()),
            { "q.onnx", "r.json", "ranges.json", "q.py" });
        add("calibrate",
            cli(Words {
                    "quantize", kFloat, "-o", to("q.onnx"), "--method", "entropy", "--calibration-cache", to("cal") }
                + samples()),
            { "q.onnx" });
        add("calibrated",
            cli(Words { "quantize", kFloat, "-o", to("q.onnx"), "--calibration-cache", in("calibration") } + samples()),
            { "q.onnx" });
        add("quantize like",
            cli({ "quantize", kFloat, "-o", to("q.onnx"), "--like", in("q.onnx"), "--ranges", in("ranges.json") }),
            { "q.onnx" });
        // Aloud, since it says which passes were taken back because they could not be proved.
        add("prepare", Words { QS_CLI, "prepare", kFloat, "-o", to("p.onnx"), "--threads", "2" } + samples(),
            { "p.onnx" })
            .judges
            = true;
        add("sensitivity", cli(Words { "sensitivity", kFloat, "--by", "type", "--json", to("s.json") } + samples("1")),
            { "s.json" });
        const Words outside { QS_FAULT_STEPS, "external", kFloat, to("o.onnx") };
        add("export with external data", outside, { "o.onnx" }).together = true;
        Step& replaces = add("replace external data", outside, {});
        replaces.together = true;
        for (const std::string file : { "o.onnx", "o.onnx.data" }) // of another model
            replaces.before[file] = contentOf(m_inputs / "former" / file);
    }

    void addOthers()
    {
        add("lesson check",
            cli({ "lesson", "check", QS_SOURCE_DIR "/resources/lessons/scale-and-zero-point", "--seeds", "1", "--json",
                to("l.json") }),
            { "l.json" })
            .judges
            = true;
        add("save a project", { QS_FAULT_STEPS, "project", kFloat, to("p.qscope") }, { "p.qscope" });
        add("open a project", { QS_FAULT_STEPS, "open", in("work.qscope") }, {});
        Step& agent = add("serve an agent", { QS_CLI, "mcp", "--threads", "2" }, {});
        agent.input = in("requests.jsonl");
        agent.judges = true;
    }

    void addWindow()
    {
        const std::string data = kExamples + "digits_samples.npz";
        add("work in the window", { QS_WINDOW_STEPS, "work", kFloat, data, in("kept"), m_folder.string() },
            { "p.qscope", "r.html" })
            .inPools
            = true;
        add("restore lost work", { QS_WINDOW_STEPS, "restore", in("lost"), kFloat, data }, {}).inPools = true;
    }

    const fs::path m_inputs, m_folder;
    std::vector<Step> m_steps;
};

} // namespace

std::vector<Step> scriptedSession(const fs::path& inputs, const fs::path& folder)
{
    return Script(inputs, folder).all();
}

std::string contentOf(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return { std::istreambuf_iterator<char>(in), {} };
}

void putContent(const fs::path& file, const std::string& content) { std::ofstream(file, std::ios::binary) << content; }

} // namespace qs::test
