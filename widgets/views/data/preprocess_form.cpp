// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/data/preprocess_form.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/theme/focus_ring.h"
#include "widgets/views/theme/restyling.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QSpinBox>

#include <cmath>

namespace qs {

namespace {

constexpr int kLargestSide = 16384, kUsualSide = 224;

QComboBox* choice(const QStringList& texts, const QString& name, QWidget* parent)
{
    auto* combo = new ElidedCombo(parent);
    combo->addItems(texts);
    combo->setAccessibleName(name);
    return combo;
}

QComboBox* roundingChoice(QWidget* parent)
{
    QComboBox* combo = choice({ PreprocessForm::tr("to the nearest"), PreprocessForm::tr("as torchvision") },
        PreprocessForm::tr("Parts of pixels"), parent);
    combo->setToolTip(
        PreprocessForm::tr("To the nearest: the scaled long side is rounded, and the cut begins at the whole pixel "
                           "before half of what is left over. As torchvision's Resize and CenterCrop: the long side "
                           "loses its part of a pixel, and a cut that begins at half a pixel begins at the even one."));
    return combo;
}

/// "0.5", "0,5" where the locale writes so, "1/255".
std::optional<double> number(const QString& text)
{
    const QStringList parts = text.trimmed().split(u'/');
    if (parts.size() > 2)
        return {};
    double result = 1;
    for (qsizetype i = 0; i < parts.size(); ++i) {
        bool good = false;
        const QString part = parts[i].trimmed();
        double value = QLocale::c().toDouble(part, &good);
        if (!good)
            value = QLocale().toDouble(part, &good);
        if (!good || (i == 1 && value == 0))
            return {};
        result = i == 0 ? value : result / value;
    }
    return std::isfinite(result) ? std::optional(result) : std::nullopt;
}

/// As people write it: a share of one where it is that.
QString scaleText(double scale)
{
    for (const double divisor : { 255.0, 127.5, 256.0, 128.0 })
        if (std::abs(scale * divisor - 1) < 1e-9)
            return QStringLiteral("1/") + QString::number(divisor);
    return QString::number(scale, 'g', 9);
}

QString listText(const std::vector<double>& values)
{
    QStringList texts;
    for (const double value : values)
        texts << QString::number(value, 'g', 9);
    return texts.join(QStringLiteral("; "));
}

} // namespace

PreprocessForm::PreprocessForm(const std::optional<PictureForm>& form, QWidget* parent)
    : QWidget(parent)
    , m_form(form)
    , m_preset(new ElidedCombo(this))
    , m_exif(new QCheckBox(tr("&Turn upright as EXIF says"), this))
    , m_explanation(new QLabel(this))
{
    auto* rows = new QFormLayout(this);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
    for (const PicturePreset& preset : picturePresets())
        m_preset->addItem(tr(preset.title.data()), toQt(preset.name));
    m_preset->addItem(tr("Own numbers"), QString());
    m_preset->setAccessibleName(tr("Preset"));
    m_explanation->setWordWrap(true);
    m_explanation->setObjectName(QStringLiteral("emptyHint"));
    rows->addRow(tr("&Preset"), m_preset);
    rows->addRow(m_explanation);
    buildShape(rows);
    buildNumbers(rows);
    connect(m_preset, &QComboBox::activated, this, [this] {
        if (const QString name = m_preset->currentData().toString(); !name.isEmpty())
            choosePreset(name);
        else
            refreshPreset();
    });
    setValue(presetPreprocess("imagenet"));
}

void PreprocessForm::buildShape(QFormLayout* rows)
{
    const auto side = [this](const QString& name) {
        auto* box = new Ringed<QSpinBox>(this);
        box->setRange(1, kLargestSide);
        box->setAccessibleName(name);
        connect(box, &QSpinBox::valueChanged, this, &PreprocessForm::read);
        return box;
    };
    m_width = side(tr("Width in pixels"));
    m_height = side(tr("Height in pixels"));
    m_width->setEnabled(!m_form || m_form->width == 0);
    m_height->setEnabled(!m_form || m_form->height == 0);
    auto* size = new QHBoxLayout;
    size->addWidget(m_width, 1);
    size->addWidget(new QLabel(QStringLiteral("×"), this));
    size->addWidget(m_height, 1);
    rows->addRow(tr("Width × height"), size);
    m_layout = choice({ tr("channels first (NCHW)"), tr("channels last (NHWC)") }, tr("Layout"), this);
    m_layout->setEnabled(!m_form);
    rows->addRow(tr("&Layout"), m_layout);
    if (m_form) {
        const QString text = tr("The model's input says this");
        for (QWidget* field : std::initializer_list<QWidget*> { m_width, m_height, m_layout })
            if (!field->isEnabled())
                field->setToolTip(text);
    }
    m_color = choice({ tr("red, green, blue"), tr("blue, green, red"), tr("grey") }, tr("Channels"), this);
    rows->addRow(tr("C&hannels"), m_color);
    m_exif->setToolTip(
        tr("Cameras note in a JPEG which way up they were held. Most training code takes the pixels as the "
           "file has them; cv2.imread and ImageOps.exif_transpose turn them."));
    rows->addRow(QString(), m_exif);
    connect(m_exif, &QCheckBox::toggled, this, &PreprocessForm::read);
    setTabOrder(m_color, m_exif);
    m_resize = choice({ tr("short side, then cut"), tr("stretch"), tr("letterbox") }, tr("Resize"), this);
    rows->addRow(tr("&Resize"), m_resize);
    m_share = new Ringed<QDoubleSpinBox>(this);
    m_share->setLocale(QLocale::c());
    m_share->setRange(1, 100);
    m_share->setDecimals(1);
    m_share->setSuffix(tr(" % of the short side"));
    m_share->setAccessibleName(tr("The cut keeps"));
    rows->addRow(tr("Cut &keeps"), m_share);
    m_crop = choice({ tr("centre"), tr("top left") }, tr("Place of the cut or of the picture"), this);
    rows->addRow(tr("Pl&ace"), m_crop);
    m_rounding = roundingChoice(this);
    rows->addRow(tr("Parts of pi&xels"), m_rounding);
    m_pad = new Ringed<QSpinBox>(this);
    m_pad->setRange(0, 255);
    m_pad->setAccessibleName(tr("Grey around the picture"));
    rows->addRow(tr("&Grey around"), m_pad);
    m_interpolation = choice({ tr("nearest"), tr("bilinear"), tr("bicubic") }, tr("Interpolation"), this);
    rows->addRow(tr("&Interpolation"), m_interpolation);
    for (QComboBox* combo : { m_layout, m_resize, m_crop, m_rounding, m_interpolation })
        connect(combo, &QComboBox::activated, this, &PreprocessForm::read);
    connect(m_color, &QComboBox::activated, this, &PreprocessForm::recolour);
    connect(m_share, &QDoubleSpinBox::valueChanged, this, &PreprocessForm::read);
    connect(m_pad, &QSpinBox::valueChanged, this, &PreprocessForm::read);
}

void PreprocessForm::buildNumbers(QFormLayout* rows)
{
    m_scale = choice(
        { QStringLiteral("1/255"), QStringLiteral("1/127.5"), QStringLiteral("1") }, tr("Each pixel times"), this);
    m_scale->setEditable(true);
    rows->addRow(tr("Pixel &times"), m_scale);
    m_mean = new QLineEdit(this);
    m_deviation = new QLineEdit(this);
    m_mean->setAccessibleName(tr("Less the mean, one number a channel"));
    m_deviation->setAccessibleName(tr("Divided by the deviation, one number a channel"));
    for (QLineEdit* edit : { m_mean, m_deviation }) {
        edit->setToolTip(
            tr("One number for each channel, in the order of the channels, with semicolons between; or one for all"));
        connect(edit, &QLineEdit::textEdited, this, &PreprocessForm::read);
    }
    rows->addRow(tr("Less the &mean"), m_mean);
    rows->addRow(tr("&Divided by"), m_deviation);
    connect(m_scale, &QComboBox::currentTextChanged, this, &PreprocessForm::read);
    const bool bytes = m_form && m_form->dtype == DType::UInt8;
    for (QWidget* field : std::initializer_list<QWidget*> { m_scale, m_mean, m_deviation }) {
        field->setEnabled(!bytes);
        if (bytes)
            field->setToolTip(tr("The model's input takes bytes: pixels go in as they are"));
    }
}

std::optional<Preprocess> PreprocessForm::value() const
{
    return m_problem.isEmpty() ? std::optional(m_value) : std::nullopt;
}

QString PreprocessForm::problem() const { return m_problem; }

void PreprocessForm::setValue(const Preprocess& how)
{
    m_value = m_form ? fitted(how, *m_form) : how;
    if (m_value.width <= 0)
        m_value.width = kUsualSide;
    if (m_value.height <= 0)
        m_value.height = kUsualSide;
    m_problem.clear();
    fill(m_value);
    refreshPreset();
    emit changed();
}

void PreprocessForm::choosePreset(const QString& name)
{
    Preprocess how = presetPreprocess(name.toStdString());
    how.width = m_width->value();
    how.height = m_height->value();
    how.channelsFirst = m_value.channelsFirst;
    how.dtype = m_value.dtype;
    how.exif = m_value.exif; // it is about the files
    setValue(how);
}

void PreprocessForm::fill(const Preprocess& how)
{
    m_filling = true;
    m_width->setValue(how.width);
    m_height->setValue(how.height);
    m_layout->setCurrentIndex(how.channelsFirst ? 0 : 1);
    m_color->setCurrentIndex(int(how.color));
    m_exif->setChecked(how.exif);
    m_resize->setCurrentIndex(how.resize == ResizeMode::ShortSide ? 0 : how.resize == ResizeMode::Stretch ? 1 : 2);
    const double keeps = how.shortSide ? double(std::max(how.width, how.height)) / *how.shortSide : how.cropShare;
    m_share->setValue(100 * keeps);
    m_crop->setCurrentIndex(int(how.crop));
    m_rounding->setCurrentIndex(int(how.rounding));
    m_pad->setValue(int(std::lround(how.padValue)));
    m_interpolation->setCurrentIndex(int(how.interpolation));
    m_scale->setEditText(scaleText(how.scale));
    m_mean->setText(listText(how.mean));
    m_deviation->setText(listText(how.deviation));
    for (QWidget* field : std::initializer_list<QWidget*> { m_scale, m_mean, m_deviation })
        setStyled(*field, "wrong", false);
    m_filling = false;
}

/// The numbers of the channels go with them.
void PreprocessForm::recolour()
{
    if (m_problem.isEmpty())
        setValue(withColor(m_value, ColorOrder(m_color->currentIndex())));
    else
        read();
}

bool PreprocessForm::readList(QLineEdit* edit, std::vector<double>* to)
{
    const QString text = edit->text();
    const QStringList parts = text.split(text.contains(u';') ? u';' : u',', Qt::SkipEmptyParts);
    std::vector<double> values;
    bool good = true;
    for (const QString& part : parts) {
        const auto value = number(part);
        good = good && value && (edit != m_deviation || *value != 0);
        values.push_back(value.value_or(0));
    }
    const auto channels = size_t(m_value.channels());
    if (values.size() == 1)
        values.resize(channels, values.front());
    good = good && values.size() == channels;
    setStyled(*edit, "wrong", !good);
    if (good)
        *to = values;
    return good;
}

void PreprocessForm::read()
{
    if (m_filling)
        return;
    Preprocess& how = m_value;
    how.width = m_width->value();
    how.height = m_height->value();
    how.channelsFirst = m_layout->currentIndex() == 0;
    how.color = ColorOrder(m_color->currentIndex());
    how.resize = std::array { ResizeMode::ShortSide, ResizeMode::Stretch,
        ResizeMode::Letterbox }[size_t(m_resize->currentIndex())];
    if (sender() == m_share) {
        how.shortSide.reset();
        how.cropShare = m_share->value() / 100;
    }
    how.exif = m_exif->isChecked();
    how.crop = CropPlace(m_crop->currentIndex());
    how.rounding = PixelRounding(m_rounding->currentIndex());
    how.padValue = m_pad->value();
    how.interpolation = Interpolation(m_interpolation->currentIndex());
    m_problem.clear();
    const auto scale = number(m_scale->currentText());
    setStyled(*m_scale, "wrong", !scale);
    if (!scale)
        m_problem = tr("What each pixel is multiplied with must be a number, or one divided by another, as in 1/255.");
    how.scale = scale.value_or(how.scale);
    const QString count = how.channels() == 1 ? tr("one number") : tr("one number, or three with semicolons between");
    if (!readList(m_mean, &how.mean))
        m_problem = tr("The mean must be %1.").arg(count);
    if (!readList(m_deviation, &how.deviation))
        m_problem = tr("What is divided by must be %1, none of them 0.").arg(count);
    refreshPreset();
    emit changed();
}

void PreprocessForm::refreshPreset()
{
    const QString name = m_problem.isEmpty() ? toQt(presetOf(m_value)) : QString();
    m_preset->setCurrentIndex(m_preset->findData(name));
    QString text = tr("As the fields below say");
    for (const PicturePreset& preset : picturePresets())
        if (toQt(preset.name) == name)
            text = tr(preset.explanation.data());
    m_explanation->setText(text + u'.');
    const bool cut = m_value.resize == ResizeMode::ShortSide, boxed = m_value.resize == ResizeMode::Letterbox;
    m_share->setEnabled(cut);
    m_crop->setEnabled(cut || boxed);
    m_rounding->setEnabled(cut);
    m_pad->setEnabled(boxed);
    m_color->setEnabled(!m_form || m_form->channels != 1);
}

} // namespace qs

#include "moc_preprocess_form.cpp"
