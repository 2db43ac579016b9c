import type { DescMessage, Message } from '@bufbuild/protobuf';
import { list_wrapper } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { optionOf } from '../../contract/warnings/proto-option.js';
import type { Warning } from '../../contract/warnings/warning.js';

/** Messages of these types hold free-form JSON and are mapped separately. */
const FREE_FORM = /^google\.protobuf\./;

/**
 * Fields of a binary message that this version of the API does not define: sent by a newer client. Recursion
 * is as deep as the message.
 */
export function* unknownFields(desc: DescMessage, message: Message, path = ''): Generator<Warning, void> {
  const numbers = new Set((message.$unknown ?? []).map(({ no }) => no));
  for (const no of numbers) {
    const text = `unknown field with the number ${no}; the client is newer than the service`;
    yield { code: 'unknown_member', field: path === '' ? desc.name : path, message: text };
  }
  const members = message as unknown as Record<string, unknown>;
  for (const field of desc.fields) {
    if (field.message === undefined || FREE_FORM.test(field.message.typeName)) continue;
    const oneof = field.oneof === undefined ? undefined : (members[field.oneof.localName] as OneofValue);
    const value = oneof === undefined ? members[field.localName] : valueIn(oneof, field.localName);
    // A wrapper of a list is not part of paths: they are the same as in JSON.
    const ofWrapper = optionOf(desc, list_wrapper);
    const place = ofWrapper ? path : path === '' ? field.name : `${path}.${field.name}`;
    if (field.fieldKind === 'list' || field.fieldKind === 'map') {
      for (const [key, one] of Object.entries((value ?? {}) as object)) {
        const inner = field.fieldKind === 'list' ? `${place}[${key}]` : `${place}.${key}`;
        yield* unknownFields(field.message, one as Message, inner);
      }
    } else if (value !== undefined && value !== null) {
      yield* unknownFields(field.message, value as Message, place);
    }
  }
}

interface OneofValue {
  readonly case?: string;
  readonly value?: unknown;
}

function valueIn(oneof: OneofValue, name: string): unknown {
  return oneof.case === name ? oneof.value : undefined;
}
