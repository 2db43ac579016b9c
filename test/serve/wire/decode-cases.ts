import { deepStrictEqual } from 'node:assert/strict';
import type { DescMessage } from '@bufbuild/protobuf';
import {
  EvaluateBatchRequestSchema,
  EvaluateRequestSchema,
  EvaluateStreamRequestSchema,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { directCodec } from '../../../src/serve/wire/direct-codec.js';
import { MappingError } from '../../../src/serve/wire/mapping-error.js';
import { protobufEsCodec } from '../../../src/serve/wire/protobuf-es-codec.js';
import {
  readBatchRequest,
  readRequestMessage,
  readStreamRequest,
} from '../../../src/serve/wire/request-reader.js';
import { UNUSUAL } from '../../../src/serve/wire/wire-reader.js';
import type { Random } from './random.js';
import { mutated, oddities, randomMessage } from './random-wire.js';

type Decode = (bytes: Uint8Array) => unknown;

interface Kind {
  readonly desc: DescMessage;
  /** Without protobuf-es behind it. */
  readonly read: Decode;
  readonly direct: Decode;
  readonly reference: Decode;
}

export const KINDS: readonly Kind[] = [
  {
    desc: EvaluateRequestSchema,
    read: readRequestMessage,
    direct: directCodec.decodeEvaluate,
    reference: protobufEsCodec.decodeEvaluate,
  },
  {
    desc: EvaluateBatchRequestSchema,
    read: readBatchRequest,
    direct: directCodec.decodeBatch,
    reference: protobufEsCodec.decodeBatch,
  },
  {
    desc: EvaluateStreamRequestSchema,
    read: readStreamRequest,
    direct: directCodec.decodeStream,
    reference: protobufEsCodec.decodeStream,
  },
];

/** What happened to the messages of a run. */
export interface DecodeTally {
  messages: number;
  /** Both accept. */
  accepted: number;
  /** Read without protobuf-es. */
  direct: number;
}

/** Decodes a message both ways and throws when the outcomes differ. */
export function compareDecoding(kind: Kind, bytes: Uint8Array, tally: DecodeTally): void {
  const expected = outcomeOf(kind.reference, bytes);
  const found = outcomeOf(kind.direct, bytes);
  deepStrictEqual(found, expected, `${kind.desc.name} ${Buffer.from(bytes).toString('hex')}`);
  tally.messages += 1;
  if ('value' in expected) tally.accepted += 1;
  try {
    kind.read(bytes);
    tally.direct += 1;
  } catch (error) {
    if (error !== UNUSUAL) throw error;
  }
}

/** Random messages of all kinds: ordinary, odd, and damaged. */
export function compareRandomDecoding(random: Random, messages: number): DecodeTally {
  const tally: DecodeTally = { messages: 0, accepted: 0, direct: 0 };
  let last: Buffer = Buffer.alloc(0);
  while (tally.messages < messages) {
    const kind = random.pick(KINDS);
    const odd = oddities(random, random.pick([0, 0, 1, 1, 1, 2, 1_000]), random.pick([0.01, 0.05, 0.2]));
    const made = randomMessage(random, kind.desc, odd);
    compareDecoding(kind, made, tally);
    compareDecoding(kind, mutated(random, made, last), tally);
    if (random.chance(0.1)) compareDecoding(random.pick(KINDS), last, tally);
    last = made;
  }
  return tally;
}

function outcomeOf(decode: Decode, bytes: Uint8Array): { value: unknown; order: string } | { error: string } {
  try {
    const value = decode(bytes);
    return { value: withPlainErrors(value), order: JSON.stringify(value) };
  } catch (error) {
    return { error: String(error) };
  }
}

/** Errors are compared by what they say, not by where they were made. */
function withPlainErrors(value: unknown): unknown {
  if (value instanceof MappingError) {
    return { mappingError: value.code, message: value.message, path: value.path };
  }
  if (Array.isArray(value)) return value.map(withPlainErrors);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, withPlainErrors(member)]);
  return Object.fromEntries(entries);
}
