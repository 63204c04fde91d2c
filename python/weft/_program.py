# SPDX-License-Identifier: Apache-2.0
"""The command weft, as a wheel puts it on PATH."""
import os
import sys

from weft._answer import program


def main():
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
