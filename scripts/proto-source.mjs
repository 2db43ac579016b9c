/** Reads our proto files with their options and comments, for the scripts that document the API. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { PACKAGE_ROOT } from './compose-schema.mjs';

/** Files of ours begin with this. */
const OWN_FILES = 'enforcement/';
/** Those of protocols of others that the service speaks; the rest is vendored. */
const ADAPTER_FILES = /^(?:agentgateway|envoy)\//;

/** Numbers of the fields of descriptors that locations are made of. */
const IN_FILE = { messages: 4, enums: 5, services: 6 };
const IN_MESSAGE = { fields: 2, messages: 3, enums: 4 };
const MEMBERS = 2;

/** Compiles the proto files. @returns {import('@bufbuild/protobuf/wkt').FileDescriptorSet} */
function compile() {
  const buf = join(PACKAGE_ROOT, 'node_modules', '.bin', 'buf');
  const image = execFileSync(buf, ['build', '--as-file-descriptor-set', '-o', '-#format=binpb'], {
    cwd: PACKAGE_ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  return fromBinary(FileDescriptorSetSchema, image);
}

/** The services of ours, what the proto files say about everything in them, by full name, and the services of adapters. */
export function readProto() {
  const set = compile();
  const own = set.file.filter(({ name }) => name.startsWith(OWN_FILES));
  const registry = createFileRegistry(set);
  const servicesOf = (files) =>
    files.flatMap((file) => file.service.map(({ name }) => registry.getService(`${file.package}.${name}`)));
  const services = servicesOf(own);
  const adapterServices = servicesOf(set.file.filter(({ name }) => ADAPTER_FILES.test(name)));
  /** @type {Record<string, string>} */
  const comments = {};
  for (const file of own) collect(file, comments);
  return { registry, services, adapterServices, comments };
}

/** @param {import('@bufbuild/protobuf/wkt').FileDescriptorProto} file */
function collect(file, comments) {
  const texts = new Map(
    (file.sourceCodeInfo?.location ?? []).map(({ path, leadingComments }) => [
      path.join('.'),
      leadingComments,
    ]),
  );
  const note = (path, name) => {
    const text = (texts.get(path.join('.')) ?? '').replace(/\s+/g, ' ').trim();
    if (text !== '') comments[name] = text;
  };
  const visit = (path, name, members, memberField) => {
    note(path, name);
    members.forEach((member, index) => {
      note([...path, memberField, index], `${name}.${member.name}`);
    });
  };
  const visitMessage = (path, name, message) => {
    visit(path, name, message.field, IN_MESSAGE.fields);
    message.nestedType.forEach((inner, index) => {
      visitMessage([...path, IN_MESSAGE.messages, index], `${name}.${inner.name}`, inner);
    });
    message.enumType.forEach((inner, index) => {
      visit([...path, IN_MESSAGE.enums, index], `${name}.${inner.name}`, inner.value, MEMBERS);
    });
  };
  file.messageType.forEach((message, index) => {
    visitMessage([IN_FILE.messages, index], `${file.package}.${message.name}`, message);
  });
  file.enumType.forEach((one, index) => {
    visit([IN_FILE.enums, index], `${file.package}.${one.name}`, one.value, MEMBERS);
  });
  file.service.forEach((one, index) => {
    visit([IN_FILE.services, index], `${file.package}.${one.name}`, one.method, MEMBERS);
  });
}
