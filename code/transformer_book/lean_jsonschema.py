"""Import this before nbformat, nbclient or nbconvert: notebooks are then read two seconds sooner.

They all import jsonschema, which builds, where it finds rfc3987_syntax, the whole grammar of
internationalised addresses: two seconds of processor time in each process, for a check of formats
that no notebook is asked about. Without that module jsonschema leaves the check out.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
