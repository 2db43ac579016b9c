/**
 * Writes what the Python client knows of the API into `clients/python/src/control_enforcement/v1/`: the descriptors of the
 * messages (`_descriptors.py`), their types for editors (`__init__.pyi`), and the types of the services (`services.py`).
 *
 * Modules of `protoc` are not used. Those of a newer compiler refuse to be imported with an older `protobuf`, such as that
 * of Debian, and those of an older one warn with a newer; npm has no `protoc` either. Descriptors are the same for all
 * versions of the runtime: it makes the classes from them, as modules of `protoc` have it do, too.
 *
 * With `--check` it writes nothing and fails when a file is not current.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clearField, create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  MessageOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { PACKAGE_ROOT } from './compose-schema.mjs';

const FOLDER = join(PACKAGE_ROOT, 'clients', 'python', 'src', 'control_enforcement', 'v1');
const PACKAGE = 'enforcement.v1';
/** Declares options alone, which the client does not read. */
const OPTIONS_FILE = 'enforcement/v1/options.proto';
/** Other files that messages of ours, and errors, consist of. */
const FURTHER = new Set([
  'google/protobuf/any.proto',
  'google/protobuf/duration.proto',
  'google/protobuf/struct.proto',
  'google/protobuf/timestamp.proto',
  'google/protobuf/empty.proto',
  'google/protobuf/field_mask.proto',
  'google/rpc/error_details.proto',
  'google/rpc/status.proto',
]);
const HEAD = '# Made by scripts/generate-python.mjs of the proto files: run "npm run generate:code".\n';
const LINE = 110;

const isOurs = (name) => name.startsWith('enforcement/') && name !== OPTIONS_FILE;
const isKept = (name) => isOurs(name) || FURTHER.has(name);

function compile() {
  const buf = join(PACKAGE_ROOT, 'node_modules', '.bin', 'buf');
  const image = execFileSync(
    buf,
    ['build', '--as-file-descriptor-set', '--exclude-source-info', '-o', '-#format=binpb'],
    {
      cwd: PACKAGE_ROOT,
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return fromBinary(FileDescriptorSetSchema, image).file.filter(({ name }) => isKept(name));
}

/** A file without options, which are for other generators and the service; messages of maps keep theirs. */
function bare(file) {
  clearField(file, FileDescriptorProtoSchema.field.options);
  file.dependency = file.dependency.filter(isKept);
  file.publicDependency = [];
  file.weakDependency = [];
  file.extension = [];
  const bareEnum = (one) => {
    one.options = undefined;
    for (const value of one.value) value.options = undefined;
  };
  const bareMessage = (one) => {
    one.options = one.options?.mapEntry ? create(MessageOptionsSchema, { mapEntry: true }) : undefined;
    for (const field of one.field) {
      field.options = undefined;
      // An empty name would be a name.
      if (field.jsonName === camelCase(field.name))
        clearField(field, FieldDescriptorProtoSchema.field.jsonName);
    }
    for (const group of one.oneofDecl) group.options = undefined;
    one.nestedType.forEach(bareMessage);
    one.enumType.forEach(bareEnum);
  };
  file.messageType.forEach(bareMessage);
  file.enumType.forEach(bareEnum);
  for (const service of file.service) {
    service.options = undefined;
    for (const method of service.method) method.options = undefined;
  }
  return file;
}

const camelCase = (name) => name.replaceAll(/_+([a-z\d])/g, (_, letter) => letter.toUpperCase());
const snakeCase = (name) => name.replaceAll(/(?<=[a-z\d])([A-Z])/g, '_$1').toLowerCase();

function descriptorsModule(files) {
  const parts = files.map((file) => {
    const text = Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString('base64');
    const lines = text.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
    return `    # ${file.name}\n${lines.map((line) => `    "${line}"`).join('\n')},\n`;
  });
  return `${HEAD}"""The proto files as FileDescriptorProto messages in base64, each after those that it imports."""\n\nFILES = (\n${parts.join('')})\n`;
}

const INTEGERS = new Set([
  ...[Type.INT32, Type.INT64, Type.UINT32, Type.UINT64, Type.SINT32, Type.SINT64],
  ...[Type.FIXED32, Type.FIXED64, Type.SFIXED32, Type.SFIXED64, Type.ENUM],
]);

/** Words of Python that no member of a class can be named after. */
const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in
  is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

/** The Python name of a message type. */
function messageName(typeName) {
  const own = `.${PACKAGE}.`;
  return typeName.startsWith(own) ? typeName.slice(own.length) : 'Message';
}

function valueType(field) {
  if (INTEGERS.has(field.type)) return 'int';
  switch (field.type) {
    case Type.BOOL:
      return 'bool';
    case Type.DOUBLE:
    case Type.FLOAT:
      return 'float';
    case Type.STRING:
      return 'str';
    case Type.BYTES:
      return 'bytes';
    default:
      // Messages of Google have what Python adds to them, such as Timestamp.ToDatetime: Any stands for that.
      return field.typeName.startsWith(`.${PACKAGE}.`) ? messageName(field.typeName) : 'Any';
  }
}

function fieldType(field, message) {
  const entry = message.nestedType.find(
    (one) => one.options?.mapEntry && field.typeName.endsWith(`.${one.name}`),
  );
  if (entry !== undefined)
    return `MutableMapping[${valueType(entry.field[0])}, ${valueType(entry.field[1])}]`;
  const type = valueType(field);
  return field.label === Label.REPEATED ? `RepeatedField[${type}]` : type;
}

function messageStub(message, indent = '') {
  const nested = message.nestedType.filter((one) => !one.options?.mapEntry);
  const inner = `${indent}    `;
  const members = [
    ...nested.flatMap((one) => messageStub(one, inner)),
    ...message.field.map((field) =>
      KEYWORDS.has(field.name)
        ? `${inner}# ${field.name} is a keyword: getattr(message, "${field.name}")`
        : `${inner}${field.name}: ${fieldType(field, message)}`,
    ),
    `${inner}def __init__(self, **members: Any) -> None: ...`,
  ];
  return [`${indent}class ${message.name}(Message):`, ...members];
}

function enumStub(one) {
  return [
    `class _${one.name}(EnumTypeWrapper):`,
    ...one.value.map(({ name }) => `    ${name}: int`),
    `${one.name}: _${one.name}`,
  ];
}

function messagesStub(files) {
  const lines = files.flatMap((file) => [
    ...file.enumType.flatMap(enumStub),
    ...file.messageType.flatMap((one) => messageStub(one)),
  ]);
  return `${HEAD}from abc import ABCMeta
from typing import Any, MutableMapping, MutableSequence, Type, TypeVar

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message

_T = TypeVar("_T")

class RepeatedField(MutableSequence[_T], metaclass=ABCMeta):
    def add(self, **members: Any) -> _T: ...

POOL: DescriptorPool

def message_class(full_name: str) -> Type[Any]: ...
def parsed(message_class: Type[_T], members: Any) -> _T: ...

${lines.join('\n')}
`;
}

function servicesModule(files) {
  const services = files.flatMap((file) => file.service);
  const used = new Set();
  const method = (prefix) => (one) => {
    const [input, output] = [one.inputType, one.outputType].map(messageName);
    used.add(output);
    const result = one.serverStreaming
      ? `${prefix === '' ? 'Iterator' : 'AsyncIterator'}[${output}]`
      : output;
    used.add(input);
    const start = one.serverStreaming || prefix === '' ? 'def' : 'async def';
    return [
      `    ${start} ${snakeCase(one.name)}(`,
      `        self, request: Union[${input}, Members, None] = None, *, timeout: Optional[float] = None`,
      `    ) -> ${result}: ...`,
    ];
  };
  const classes = ['', 'Async'].flatMap((prefix) =>
    services.flatMap((service) => [
      '',
      '',
      `class ${prefix}${service.name}(Protocol):`,
      ...service.method.filter((one) => !one.clientStreaming).flatMap(method(prefix)),
    ]),
  );
  return `${HEAD}"""The types of the services of a client: each RPC takes a message, or its members as in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Iterator, Mapping, Optional, Union

if TYPE_CHECKING:
    from typing import Protocol

    from . import (
${[...used]
  .sort()
  .map((name) => `        ${name},`)
  .join('\n')}
    )
else:
    Protocol = object

Members = Mapping[str, Any]
${classes.join('\n')}
`;
}

const files = compile();
const own = files.filter(({ name }) => isOurs(name));
const outputs = {
  '__init__.pyi': messagesStub(own),
  'services.py': servicesModule(own),
  '_descriptors.py': descriptorsModule(files.map(bare)),
};

for (const [name, text] of Object.entries(outputs)) {
  const file = join(FOLDER, name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`${name} of the Python client is not current: run "npm run generate:code"\n`);
    process.exitCode = 1;
  }
}
