# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pairs of files are made of every network."""
import dataclasses

STYLE_NONE = "float"


@dataclasses.dataclass(frozen=True)
class Plan:
    """The float file by `base`; the other one from `other` (an exporter) changed by `steps`, quantized by `style`, then `after`."""
    base: str
    other: str
    steps: tuple = ()
    style: str = STYLE_NONE
    after: str = ""
    base_steps: tuple = ()
    needs: str = ""

    @property
    def name(self):
        parts = [self.base, *self.base_steps, "vs", self.other, *self.steps, self.style, self.after]
        return "-".join(p for p in parts if p)


EVERY = (
    Plan("script", "script", style="u8s8"),
    Plan("script", "script", ("scrambled",), "s8_symmetric"),
    Plan("script17", "script17", ("preprocessed",), "u8s8_channel"),
    Plan("dynamo", "dynamo", style="s8s8"),
    Plan("dynamo", "dynamo", ("scrambled",), "qoperator"),
    Plan("raw", "script", style="u8s8"),
    Plan("raw", "raw", ("preprocessed",), "s8s8"),
    Plan("raw", "script", ("scrambled",), "qoperator_channel"),
    Plan("raw", "raw", ("basic",), "u8s8_channel"),
    Plan("script", "script", ("extended",), "u8s8"),
    Plan("script17", "script17", ("basic", "scrambled"), "dynamic"),
    Plan("dynamo", "script", style="u8s8"),
    Plan("script", "dynamo", style="u8s8_channel"),
    Plan("script", "dynamo", ("scrambled",), "qoperator"),
    Plan("raw", "dynamo", style="dynamic"),
    Plan("script", "script", ("half",)),
    Plan("dynamo", "dynamo", ("half", "scrambled")),
    Plan("raw", "raw", ("preprocessed", "scrambled"), "u8u8", base_steps=("tensorflow",)),
    Plan("script", "script", ("tensorflow",), "reduced"),
    Plan("script", "script", style="s16_symmetric"),
    Plan("script17", "script17", ("scrambled",), "dynamic_s8"),
    Plan("script", "script", ("scrambled",), "int4", needs="MatMul"),
    Plan("raw", "script17", style="int4_dq", needs="MatMul"),
    Plan("script17", "script17", style="s4_weights"),
    Plan("script", "script", ("scrambled",), "u8s8", "basic"),
    Plan("script", "script", style="u8s8", after="extended"),
    Plan("raw", "script", ("extended",)),
    Plan("script", "script", ("scrambled",), "dedicated"),
    Plan("dynamo", "dynamo", ("preprocessed",), "percentile"),
)
TRANSFORMERS = (
    Plan("script", "script", ("transformer",)),
    Plan("script", "script", ("transformer", "scrambled")),
    Plan("script17", "script17", ("transformer",), "dynamic"),
    Plan("script", "script", ("transformer",), "u8s8"),
    Plan("script17", "script17", ("transformer", "scrambled"), "int4"),
    Plan("dynamo", "dynamo", ("transformer",), "dynamic_s8"),
    Plan("script", "script", ("transformer", "half")),
    Plan("raw", "script17", ("transformer",), "u8s8_channel"),
)
TORCH = (
    Plan("script", "fx", style="torch"),
    Plan("raw", "fx", ("scrambled",), "torch"),
    Plan("dynamo", "pt2e", style="torch"),
    Plan("script", "pt2e", ("scrambled",), "torch"),
    Plan("raw", "pt2e", style="torch"),
)


def plans(net):
    return EVERY + TORCH + (TRANSFORMERS if net.transformer else ())
