import { WireReader } from '../wire/wire-reader.js';

/** Tag of `events`, the only field of the messages: number 1, delimited by a length. */
const EVENTS_TAG = 0x0a;

/**
 * A message without the events beyond one more than `max`, which is too many already: protobuf-es takes seconds and a
 * hundred times their size for millions of empty ones. Unusual messages are returned as they are.
 */
export function withoutSurplus(bytes: Uint8Array, max: number): Uint8Array {
  const reader = new WireReader(bytes);
  try {
    for (let events = 0; reader.position < bytes.length; events += 1) {
      if (events > max) return bytes.subarray(0, reader.position);
      if (reader.tag() !== EVENTS_TAG) return bytes;
      reader.position = reader.sectionEnd(bytes.length);
    }
  } catch {
    // Whatever is wrong with it, protobuf-es says what.
  }
  return bytes;
}
