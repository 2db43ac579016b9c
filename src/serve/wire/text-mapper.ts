import { type DescMessage, fromJson, type Message, toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { MappingError } from './mapping-error.js';

const TIMESTAMP_RULE = 'must be a time from the year 1 to the year 9999';
const DURATION_RULE =
  'must have at most 315,576,000,000 seconds, less than 1,000,000,000 nanos, and the same sign in both';

/** The text of a Timestamp or Duration. Throws a MappingError for values beyond their ranges. */
export function textOfMessage(desc: DescMessage, message: Message): string {
  try {
    return toJson(desc, message) as string;
  } catch {
    const rule = desc.typeName === TimestampSchema.typeName ? TIMESTAMP_RULE : DURATION_RULE;
    throw new MappingError('value_error', rule);
  }
}

/** The message of a text that a handler returned. */
export function messageOfText(desc: DescMessage, text: string): Message {
  return fromJson(desc, text);
}
