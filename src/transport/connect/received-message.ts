import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { ReceivedRequest } from '../../contract/warnings/request-warnings.js';
import type { JsonObject, JsonValue } from '../../json/json-value.js';
import { parseStoredJson } from '../../json/parse-json.js';
import type { JsonCopy } from '../wire/json-copy.js';
import { unknownFields } from './unknown-fields.js';

/** A request of an RPC as it arrived: its JSON when it came as that, else the plain value of its message. */
export function receivedMessage(
  desc: DescMessage,
  message: Message,
  plain: JsonObject,
  json: JsonCopy | null,
): ReceivedRequest {
  const text = json?.text() ?? null;
  const value = text === null ? undefined : parsed(text);
  if (text === null || value === undefined) {
    const others = unknownFields(desc, message);
    return { desc, value: plain, spelling: 'rest', elsewhere: [], text: null, others };
  }
  return { desc, value, spelling: 'protobuf', elsewhere: [], text };
}

/** Undefined for JSON beyond our own limits that Connect could read: none of it was looked at by others either. */
function parsed(text: string): JsonValue | undefined {
  try {
    return parseStoredJson(text);
  } catch {
    return undefined;
  }
}
