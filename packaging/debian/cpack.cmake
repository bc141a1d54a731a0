# SPDX-License-Identifier: GPL-3.0-or-later
# What packaging/debian/build.sh gives to cpack: the tree it made becomes a package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME quantscope)
set(CPACK_PACKAGE_VENDOR Quantscope)
set(CPACK_PACKAGE_VERSION $ENV{QS_DEB_VERSION})
set(CPACK_PACKAGE_FILE_NAME quantscope-$ENV{QS_DEB_VERSION})
set(CPACK_PACKAGE_DIRECTORY $ENV{QS_DEB_OUT})
set(CPACK_INSTALLED_DIRECTORIES $ENV{QS_DEB_ROOT}/.. /)
set(CPACK_CMAKE_GENERATOR Ninja)
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "debugger of quantized ONNX models")
set(CPACK_PACKAGE_DESCRIPTION
"Quantscope runs a float ONNX model and its quantized counterpart over the
same samples, pairs their tensors, and shows where the error comes from:
in a window (quantscope) and on the command line (quantscope-cli), with
findings, remedies, a quantizer and lessons.")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER $ENV{QS_DEB_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "qt6-qpa-plugins, libqt6svg6")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core, libxcb-cursor0, desktop-file-utils, shared-mime-info, qt6-wayland")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
