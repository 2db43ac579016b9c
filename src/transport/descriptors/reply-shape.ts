import { type DescField, type DescMessage, getOption } from '@bufbuild/protobuf';
import { header, list_wrapper, omit_empty, variant } from '../../../gen/proto/enforcement/v1/options_pb.js';

/** Converts the result of a handler to the value a JSON route prints. */
export type ReplyShape = (value: object) => object;

type Shape = (value: unknown) => unknown;

/**
 * Shape of the replies of one message type: every declared member, in the order of the message; a member
 * without a value is null, or left out if nulls are omitted. Free-form objects are printed unchanged.
 */
export function replyShape(desc: DescMessage, omitNulls: boolean): ReplyShape {
  return messageShape(desc, omitNulls, new Map()) as ReplyShape;
}

function messageShape(desc: DescMessage, omitNulls: boolean, known: Map<string, Shape>): Shape {
  const existing = known.get(desc.typeName);
  if (existing !== undefined) return existing;
  const members: { name: string; shape: Shape; omitEmpty: boolean }[] = [];
  const hasForms = getOption(desc, variant);
  const shape: Shape = (value) => {
    const source = value as Record<string, unknown>;
    const printed: Record<string, unknown> = {};
    for (const member of members) {
      const found = source[member.name];
      if (member.omitEmpty && isEmpty(found)) continue;
      if (found !== undefined && found !== null) printed[member.name] = member.shape(found);
      else if (!omitNulls && (!hasForms || Object.hasOwn(source, member.name))) printed[member.name] = null;
    }
    return printed;
  };
  // Registered before its fields are read, because conditions contain conditions.
  known.set(desc.typeName, shape);
  for (const field of desc.fields) {
    // Values sent as a header are not part of the body.
    if (getOption(field, header) !== '') continue;
    const omitEmpty = getOption(field, omit_empty);
    members.push({ name: field.name, shape: fieldShape(field, omitNulls, known), omitEmpty });
  }
  return shape;
}

function isEmpty(list: unknown): boolean {
  return !Array.isArray(list) || list.length === 0;
}

const asIs: Shape = (value) => value;

function fieldShape(field: DescField, omitNulls: boolean, known: Map<string, Shape>): Shape {
  const message = field.message;
  if (message === undefined || isFreeForm(message)) return asIs;
  if (getOption(message, list_wrapper)) {
    const wrapped = message.fields[0];
    return wrapped === undefined ? asIs : fieldShape(wrapped, omitNulls, known);
  }
  const shape = messageShape(message, omitNulls, known);
  if (field.fieldKind === 'list') return (value) => (value as unknown[]).map(shape);
  if (field.fieldKind === 'map') {
    return (value) =>
      Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, shape(one)]));
  }
  return shape;
}

const FREE_FORM = new Set(['google.protobuf.Struct', 'google.protobuf.Value', 'google.protobuf.ListValue']);

/** Whether a message represents arbitrary JSON. */
export function isFreeForm(desc: DescMessage): boolean {
  return FREE_FORM.has(desc.typeName);
}
