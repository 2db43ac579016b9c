"""The messages of the API (package ``enforcement.v1``), by their names: ``EvaluateRequest``, ``Decision``, ...

The classes are made of descriptors when they are first used, in a pool of their own: other packages may have registered
other versions of the files of Google, such as ``google/rpc/status.proto``, in the default pool, where two versions of one
file are an error.
"""

from base64 import b64decode
from typing import Any, Dict

from google.protobuf import json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from ._descriptors import FILES

_PACKAGE = "enforcement.v1"

POOL = DescriptorPool()
for _text in FILES:
    # Not `Add`: versions of the runtime differ in what it takes.
    POOL.AddSerializedFile(b64decode(_text))

if hasattr(message_factory, "GetMessageClass"):
    _make = message_factory.GetMessageClass
else:  # before protobuf 4.22
    _make = message_factory.MessageFactory(POOL).GetPrototype

_classes: Dict[str, Any] = {}


def message_class(full_name: str) -> Any:
    """The class of a message by its full name; raises a KeyError for one that does not exist."""
    found = _classes.get(full_name)
    if found is None:
        found = _classes[full_name] = _make(POOL.FindMessageTypeByName(full_name))
    return found


def parsed(kind: Any, members: Any) -> Any:
    """A message of its members as in JSON: enums by name, structs as dicts, times as texts. A message is taken as it is."""
    if members is None:
        return kind()
    if isinstance(members, kind):
        return members
    return json_format.ParseDict(members, kind(), descriptor_pool=POOL)


def __getattr__(name: str) -> Any:
    full_name = f"{_PACKAGE}.{name}"
    try:
        value = message_class(full_name)
    except KeyError:
        try:
            value = EnumTypeWrapper(POOL.FindEnumTypeByName(full_name))
        except KeyError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value
