import { type DescMessage, toBinary, toJsonString } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { ENVELOPE_FLAGS, PREFIX_LENGTH, writePrefix } from '../wire/envelope.js';
import { gzipped, MIN_GZIP_BYTES } from '../wire/gzip.js';
import { MESSAGE_OPTIONS } from '../wire/message-parser.js';
import { messageMapper } from './message-mapper.js';

/** A message in its envelope, in parts; those that are large are shared with other messages. */
export type EncodedReply = readonly Uint8Array[];

/** How the caller of an RPC receives its replies. */
export interface ReplyForm {
  readonly isJson: boolean;
  readonly isCompressed: boolean;
}

/** Members from this size on, in bytes, are sent from the memory of their encoding; smaller ones are copied. */
const SHARED_BYTES = 16_384;

/**
 * Encodes replies of one type for many callers. The same plain value is encoded once in each form, and so is the same
 * member of different values: a message with another revision and the same controls costs some bytes. What a caller does
 * not read is then held once for all of them. Plain values and their members must not be changed afterwards.
 */
export class EncodedReplies {
  readonly #desc: DescMessage;
  readonly #maxBytes: number;
  readonly #replies = new WeakMap<object, Map<string, EncodedReply | Promise<EncodedReply>>>();
  readonly #members = {
    binary: new WeakMap<object, Uint8Array>(),
    json: new WeakMap<object, Uint8Array>(),
  };

  /** `maxBytes` is the largest message that may be sent. */
  constructor(desc: DescMessage, maxBytes: number) {
    this.#desc = desc;
    this.#maxBytes = maxBytes;
  }

  /** A promise if it has to be compressed. Throws, or rejects, if the message is too large. */
  of(plain: object, { isJson, isCompressed }: ReplyForm): EncodedReply | Promise<EncodedReply> {
    const known = this.#replies.get(plain) ?? new Map<string, EncodedReply | Promise<EncodedReply>>();
    this.#replies.set(plain, known);
    const form = `${isJson ? 'json' : 'binary'}${isCompressed ? ' gzip' : ''}`;
    const found = known.get(form);
    if (found !== undefined) return found;
    const parts = isJson ? this.#json(plain) : this.#binary(plain);
    const length = lengthOf(parts);
    if (length > this.#maxBytes) throw tooLarge(length, this.#maxBytes);
    const encoded =
      isCompressed && length >= MIN_GZIP_BYTES
        ? gzipped(Buffer.concat(parts)).then((bytes) => inEnvelope([bytes], ENVELOPE_FLAGS.compressed))
        : inEnvelope(parts, 0);
    known.set(form, encoded);
    return encoded;
  }

  #binary(plain: object): Uint8Array[] {
    const { scalars, members } = divided(plain);
    const encode = (part: object) =>
      toBinary(this.#desc, messageMapper(this.#desc, 'encoded').fromPlain(part));
    const parts = members.map(([name, value]) =>
      encodedOnce(this.#members.binary, value, () => encode({ [name]: value })),
    );
    return Object.keys(scalars).length === 0 ? parts : [encode(scalars), ...parts];
  }

  #json(plain: object): Uint8Array[] {
    const { scalars, members } = divided(plain);
    // Without its braces.
    const encode = (part: object) => {
      const message = messageMapper(this.#desc).fromPlain(part);
      return Buffer.from(toJsonString(this.#desc, message, MESSAGE_OPTIONS.jsonOptions).slice(1, -1));
    };
    const parts = members.map(([name, value]) =>
      encodedOnce(this.#members.json, value, () => encode({ [name]: value })),
    );
    const written = [encode(scalars), ...parts].filter(({ length }) => length > 0);
    return [OPEN, ...written.flatMap((part, index) => (index === 0 ? [part] : [COMMA, part])), CLOSE];
  }
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/** The number of bytes of an encoded reply. */
export function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** The members that are objects, which different messages may share, and the others. */
function divided(plain: object): { scalars: object; members: [string, object][] } {
  const isShared = ([, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const all = Object.entries(plain);
  return {
    scalars: Object.fromEntries(all.filter((member) => !isShared(member))),
    members: all.filter(isShared),
  };
}

function encodedOnce(
  known: WeakMap<object, Uint8Array>,
  value: object,
  encode: () => Uint8Array,
): Uint8Array {
  const found = known.get(value);
  if (found !== undefined) return found;
  const bytes = encode();
  known.set(value, bytes);
  return bytes;
}

/** Joins small parts with those before them, so that a small message is one chunk. */
function inEnvelope(parts: readonly Uint8Array[], flags: number): EncodedReply {
  const prefix = Buffer.alloc(PREFIX_LENGTH);
  writePrefix(prefix, 0, flags, lengthOf(parts));
  const chunks: Uint8Array[] = [];
  let small: Uint8Array[] = [prefix];
  for (const part of parts) {
    if (part.length < SHARED_BYTES) {
      small.push(part);
      continue;
    }
    if (small.length > 0) chunks.push(Buffer.concat(small));
    small = [];
    chunks.push(part);
  }
  if (lengthOf(small) > 0) chunks.push(Buffer.concat(small));
  return chunks;
}

/** The error of Connect for the same. */
function tooLarge(bytes: number, limit: number): ConnectError {
  return new ConnectError(
    `message size ${bytes} is larger than configured writeMaxBytes ${limit}`,
    Code.ResourceExhausted,
  );
}
