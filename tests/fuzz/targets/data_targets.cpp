// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/tensor_proto.h"
#include "core/data/class_names.h"
#include "core/data/images/picture.h"
#include "core/data/images/prepared.h"
#include "core/data/saved_values.h"
#include "tests/datasource/array_bytes.h"
#include "tests/fuzz/targets/fuzz_target.h"

#include <onnx/onnx_pb.h>

namespace qs::test {

namespace {

using testing::npy;
using Seeds = std::vector<std::string>;

/// As samples of the example, and as what another program computed for two samples.
void readArrays(Trial& trial, const std::string& path)
{
    Arguments command { "run", examplePath("digits_float.onnx"), "--data", path, "--limit", "2", "--threads", "1" };
    trial.command(command);
    if (const auto saved = SavedValues::open(path, 2); trial.judge(saved, "saved values"))
        for (size_t value = 0; value < saved->values().size(); ++value)
            trial.judge(saved->read(value, 0, 2), "a saved value");
}

void runNpy(Trial& trial, const std::string& bytes) { readArrays(trial, trial.folder().written("samples.npy", bytes)); }
void runNpz(Trial& trial, const std::string& bytes) { readArrays(trial, trial.folder().written("samples.npz", bytes)); }

Seeds npyFiles(const FuzzFolder&)
{
    const std::string pixels = testing::bytesOf(testing::counting<float>(2 * 64));
    return { npy("<f4", "(2, 1, 8, 8)", pixels), npy("<f4", "(2, 1, 8, 8)", pixels, true),
        npy("|u1", "(2, 1, 8, 8)", std::string(128, '\3')), npy("<f8", "(2,)", std::string(16, '\0')),
        npy("<f2", "()", "ab") };
}

Seeds npzFiles(const FuzzFolder& folder)
{
    Seeds made;
    const std::string images = npy("<f4", "(2, 1, 8, 8)", testing::bytesOf(testing::counting<float>(2 * 64)));
    const std::string labels = npy("<i8", "(2,)", testing::bytesOf(testing::counting<int64_t>(2)));
    for (const auto packing : { testing::Packing::Stored, testing::Packing::Deflated }) {
        const std::string path = folder.path("seed.npz");
        testing::writeZip(path, { { "image.npy", images }, { "labels.npy", labels } }, packing);
        made.push_back(test::bytesOf(path));
    }
    return made;
}

/// A folder of ONNX test data, where the file is an input.
void runTensor(Trial& trial, const std::string& bytes)
{
    trial.judge(parseTensorProto(bytes, "input_0.pb"), "a tensor");
    trial.folder().written("tensors/test_data_set_0/input_0.pb", bytes);
    trial.command({ "run", examplePath("digits_float.onnx"), "--data", trial.folder().path("tensors") });
}

Seeds tensorFiles(const FuzzFolder&)
{
    onnx::TensorProto raw;
    raw.set_name("image");
    raw.set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t size : { 1, 1, 8, 8 })
        raw.add_dims(size);
    onnx::TensorProto typed = raw;
    raw.set_raw_data(std::string(256, 'f'));
    for (int i = 0; i < 64; ++i)
        typed.add_float_data(float(i));
    return { raw.SerializeAsString(), typed.SerializeAsString() };
}

/// The bytes of a grey and of a coloured picture, which is all that BMP needs.
std::string bitmap(int side, int bits)
{
    const size_t row = size_t(side * bits / 8 + 3) / 4 * 4, table = bits == 8 ? 1024 : 0;
    const auto number = [](size_t value, size_t bytes) {
        std::string text;
        for (; bytes > 0; --bytes, value >>= 8)
            text += static_cast<char>(value & 255);
        return text;
    };
    std::string out = "BM" + number(54 + table + row * size_t(side), 4) + number(0, 4) + number(54 + table, 4);
    out += number(40, 4) + number(size_t(side), 4) + number(size_t(side), 4) + number(1, 2) + number(size_t(bits), 2);
    out += number(0, 24);
    for (size_t i = 0; i < table / 4; ++i)
        out += number(i * 0x010101, 4);
    return out + std::string(row * size_t(side), '\x55');
}

/// PNG of 2 × 2 grey pixels, and a JPEG cut behind its tables: both are looked at closely before they are decoded.
std::string png()
{
    static constexpr unsigned char kBytes[] { 0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0,
        0, 0, 2, 0, 0, 0, 2, 8, 0, 0, 0, 0, 0x57, 0xdd, 0x52, 0xf8, 0, 0, 0, 14, 'I', 'D', 'A', 'T', 0x78, 0x9c, 0x63,
        0x60, 0x60, 0x60, 0x60, 0x60, 0, 0, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60,
        0x82 };
    return { reinterpret_cast<const char*>(kBytes), sizeof kBytes };
}

void runPicture(Trial& trial, const std::string& bytes)
{
    for (const char* name : { "p.bmp", "p.png", "p.jpg" }) {
        pictureDamage(bytes);
        if (auto picture = loadPicture(trial.folder().written(name, bytes)); trial.judge(picture, name))
            toGray(toRgb(upright(std::move(*picture))));
    }
}

Seeds pictures(const FuzzFolder&) { return { bitmap(4, 24), bitmap(4, 8), png() }; }

void runPreprocess(Trial& trial, const std::string& bytes)
{
    const std::string path = trial.folder().written("preprocess.json", bytes);
    trial.folder().written("pictures/a.bmp", bitmap(16, 24));
    trial.command({ "run", examplePath("digits_float.onnx"), "--data", trial.folder().path("pictures"), "--preprocess",
        path, "--threads", "1" });
    const auto how = readPreprocess(path);
    if (!trial.judge(how, "preprocessing"))
        return;
    preprocessJson(*how);
    // What a network asks for is known before a picture is prepared; here it could be any size.
    if (how->width > 0 && int64_t(how->width) * how->height < 1 << 16)
        trial.judge(preparedPicture(*how, Picture { 4, 2, 3, std::vector<uint8_t>(24, 7) }), "a prepared picture");
}

Seeds preprocessFiles(const FuzzFolder&)
{
    Preprocess small;
    small.width = small.height = 8;
    small.color = ColorOrder::Gray;
    Preprocess usual;
    usual.width = usual.height = 12;
    usual.resize = ResizeMode::ShortSide;
    usual.shortSide = 14;
    usual.mean = { 0.485, 0.456, 0.406 };
    usual.deviation = { 0.229, 0.224, 0.225 };
    usual.scale = 1 / 255.0;
    Preprocess boxed = usual;
    boxed.resize = ResizeMode::Letterbox;
    boxed.shortSide.reset();
    boxed.channelsFirst = false;
    return { preprocessJson(small), preprocessJson(usual), preprocessJson(boxed) };
}

void runClassNames(Trial& trial, const std::string& bytes)
{
    parseClassNames(bytes);
    const std::string path = trial.folder().written("classes.txt", bytes);
    Arguments command = exampleRun("compare");
    command.insert(command.end(),
        { examplePath("digits_qdq.onnx"), "--class-names", path, "--html", trial.folder().path("names.html"), "--json",
            trial.folder().path("names.json") });
    trial.command(command);
}

Seeds classNameFiles(const FuzzFolder&)
{
    return { "zero\none\ntwo\n", R"(["zero", "one", "two"])", R"({"0": ["n01440764", "tench"], "1": "one"})",
        "{0: 'zero', 1: \"one\", 2: 'two'}" };
}

} // namespace

void addDataTargets(FuzzTargets& targets)
{
    targets.push_back({ "npy", FuzzForm::Bytes, "arrays.dict", npyFiles, runNpy, 10 });
    targets.push_back({ "npz", FuzzForm::Bytes, "arrays.dict", npzFiles, runNpz, 10 });
    targets.push_back({ "tensor", FuzzForm::Bytes, "", tensorFiles, runTensor, 10 });
    targets.push_back({ "picture", FuzzForm::Bytes, "arrays.dict", pictures, runPicture, 20 });
    targets.push_back({ "preprocess", FuzzForm::Text, "preprocess.dict", preprocessFiles, runPreprocess, 20 });
    targets.push_back({ "class-names", FuzzForm::Text, "", classNameFiles, runClassNames, 5 });
}

} // namespace qs::test
