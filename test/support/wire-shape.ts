import type { DescEnum, DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { create, fromJson, getOption, ScalarType, toJson } from '@bufbuild/protobuf';
import { header, rpc_only } from '../../gen/proto/enforcement/v1/options_pb.js';

const LONG_SCALARS: ReadonlySet<ScalarType | undefined> = new Set([ScalarType.INT64, ScalarType.UINT64]);

/** JSON of any shape. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Texts in JSON; seconds and nanos for clients of `.proto` files. */
const TIMES = new Set(['google.protobuf.Timestamp', 'google.protobuf.Duration']);

const FREE_FORM = new Set(['google.protobuf.Struct', 'google.protobuf.Value']);
/** The one message that the JSON routes print as a bare list. */
const LIST_WRAPPER = 'enforcement.v1.ConditionList';

/** How a kind of client writes what descriptors do not settle. */
export interface Encoding {
  freeForm(value: unknown, desc: DescMessage): unknown;
  bytes(text: string): unknown;
  time(text: string, desc: DescMessage): unknown;
}

/**
 * JSON as the JSON routes take it, as the object that a gRPC client sends. It knows descriptors only, nothing of the
 * service's own mapper, so that the two cannot share a mistake.
 */
export function toWire(desc: DescMessage, plain: object, encoding: Encoding): Record<string, unknown> {
  const source = plain as Record<string, unknown>;
  const wire: Record<string, unknown> = {};
  for (const field of desc.fields) {
    const value = source[field.name];
    // Only where any JSON may stand, null is a value of its own.
    const isValue = field.message?.typeName === 'google.protobuf.Value';
    if (value === undefined || (value === null && !isValue)) continue;
    if (field.fieldKind === 'list') {
      wire[field.name] = (value as unknown[]).map((item) => wireValue(field, item, encoding));
    } else if (field.fieldKind === 'map') {
      const entries = Object.entries(value as object).map(([key, item]) => [
        key,
        wireValue(field, item, encoding),
      ]);
      wire[field.name] = Object.fromEntries(entries);
    } else wire[field.name] = wireValue(field, value, encoding);
  }
  return wire;
}

function wireValue(field: DescField, value: unknown, encoding: Encoding): unknown {
  if (field.enum !== undefined) return enumName(field.enum, value);
  if (field.message !== undefined) {
    if (FREE_FORM.has(field.message.typeName)) return encoding.freeForm(value, field.message);
    if (TIMES.has(field.message.typeName)) return encoding.time(value as string, field.message);
    const inner = field.message.typeName === LIST_WRAPPER ? { conditions: value } : (value as object);
    return toWire(field.message, inner, encoding);
  }
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.BYTES) {
    return encoding.bytes(value as string);
  }
  return value;
}

/**
 * What a reply says, in a form that is the same for every protocol: every declared member present, an absent list
 * empty (proto3 knows no difference), any other absent member null, enum values as the words of the JSON routes.
 */
export function comparable(
  desc: DescMessage,
  reply: unknown,
  freeForm: (value: unknown, desc: DescMessage) => unknown = (value) => value,
): Record<string, unknown> {
  const source = (reply ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    // What the JSON routes tell in a header, or not at all, is not in their bodies.
    desc.fields
      .filter((field) => getOption(field, header) === '' && !getOption(field, rpc_only))
      .map((field) => [field.name, comparableMember(field, source[field.name], freeForm)]),
  );
}

function comparableMember(
  field: DescField,
  value: unknown,
  freeForm: (value: unknown, desc: DescMessage) => unknown,
): unknown {
  const one = (item: unknown): unknown => {
    if (field.enum !== undefined) return enumWord(field.enum, item);
    // Other protocols have 64-bit integers as texts.
    if (typeof item === 'string' && LONG_SCALARS.has(field.scalar)) return Number(item);
    if (field.message === undefined) return item;
    if (FREE_FORM.has(field.message.typeName)) return freeForm(item, field.message);
    if (TIMES.has(field.message.typeName)) return timeText(field.message, item);
    if (field.message.typeName === 'google.protobuf.Any') return detailType(item as AnyMessage);
    if (field.message.typeName === LIST_WRAPPER) {
      const list = Array.isArray(item) ? { conditions: item } : item;
      return comparable(field.message, list, freeForm).conditions;
    }
    if (field.message.typeName === 'google.rpc.Status') return comparableStatus(field.message, item);
    return comparable(field.message, item, freeForm);
  };
  if (field.fieldKind === 'list') return ((value as unknown[] | null | undefined) ?? []).map(one);
  if (field.fieldKind === 'map') {
    return Object.fromEntries(Object.entries((value as object) ?? {}).map(([key, item]) => [key, one(item)]));
  }
  return value === undefined || value === null ? null : one(value);
}

/** gRPC codes of the HTTP statuses that evaluations inside a reply have. */
const GRPC_CODES: Readonly<Record<number, number>> = { 404: 5, 422: 3, 500: 13, 503: 14, 504: 4 };

/** Code and kinds of details of a status; the JSON routes say it with a problem body. */
function comparableStatus(desc: DescMessage, status: unknown): unknown {
  const problem = status as { error_code?: string; status?: number; errors?: unknown };
  if (problem.error_code === undefined) {
    const { code, details } = comparable(desc, status);
    return { code, details };
  }
  const details = [
    'google.rpc.ErrorInfo',
    ...(problem.errors === undefined ? [] : ['google.rpc.BadRequest']),
  ];
  return { code: GRPC_CODES[problem.status ?? 0], details };
}

/** The seconds and nanos of the text of a Timestamp or Duration. */
export function timeParts(text: string, desc: DescMessage): { seconds: string; nanos: number } {
  const { seconds, nanos } = fromJson(desc, text) as Message & { seconds: bigint; nanos: number };
  return { seconds: String(seconds), nanos };
}

/** The text of a time, which clients of `.proto` files receive in two parts. */
function timeText(desc: DescMessage, time: unknown): unknown {
  if (typeof time === 'string') return time;
  const { seconds, nanos } = time as { seconds: number | string; nanos: number };
  return toJson(desc, create(desc, { seconds: BigInt(seconds), nanos }));
}

interface AnyMessage {
  readonly '@type'?: string;
  readonly type_url?: string;
}

function detailType(any: AnyMessage): string {
  return (any['@type'] ?? any.type_url ?? '').split('/').pop() ?? '';
}

function enumName(desc: DescEnum, word: unknown): unknown {
  return desc.values.find((value) => value.localName.toLowerCase() === word)?.name ?? word;
}

function enumWord(desc: DescEnum, value: unknown): unknown {
  const found = desc.values.find(
    ({ name, localName }) => name === value || localName.toLowerCase() === value,
  );
  if (found === undefined) return value;
  return found.number === 0 ? null : found.localName.toLowerCase();
}
