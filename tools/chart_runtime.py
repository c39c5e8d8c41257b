# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the script that draws charts in pages: Vega and what it needs, as vl-convert bundles it.

python tools/chart_runtime.py > model_analyzer/reports/static/vega.js

It is kept in the repository because bundling takes seconds and 90 MB, for which no report should
wait.
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
# inside a page nothing may look like the end of the script
print(HEAD + bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--"))
