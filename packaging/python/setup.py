# SPDX-License-Identifier: GPL-3.0-or-later
"""The wheel holds programs of one platform, for every Python."""

from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

HAS_PROGRAMS = Path(__file__).with_name("src").joinpath("quantscope/bin").exists()


class ProgramDistribution(Distribution):
    def has_ext_modules(self):
        return HAS_PROGRAMS


class ProgramWheel(bdist_wheel):
    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform


setup(distclass=ProgramDistribution, cmdclass={"bdist_wheel": ProgramWheel})
