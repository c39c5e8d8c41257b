# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the script that draws charts in report pages: Vega and its dependencies, from vl-convert.

python tools/chart_runtime.py > model_analyzer/reports/static/vega.js

The script is in the repository because bundling takes seconds and 90 MB of memory.
"""

from __future__ import annotations

import vl_convert

VEGA_LITE = "6.4"

HEAD = f"""\
/*! Vega {vl_convert.get_vega_version()}, Vega-Lite {VEGA_LITE}, Vega-Embed \
{vl_convert.get_vega_embed_version()}, vega-interpreter, vega-tooltip: (c) University of \
Washington Interactive Data Lab and contributors, BSD-3-Clause. D3: (c) Mike Bostock, ISC. \
Licences: vega.LICENSES.txt of model-analyzer. Bundled by tools/chart_runtime.py: do not edit. */
"""

bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
# inside a page, the script must not contain its own end tag
print(HEAD + bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--"))
