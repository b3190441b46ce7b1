# SPDX-License-Identifier: MIT
"""The benchmark suite's tool, without third-party modules. bench/compare is its command line."""
