"""The type checker behind the annotations' hook: beartype, with int accepted where float is."""

from beartype import BeartypeConf, beartype

typechecker = beartype(conf=BeartypeConf(is_pep484_tower=True))
