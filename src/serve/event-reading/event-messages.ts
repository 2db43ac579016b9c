import type { z } from 'zod';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import type { DuplicateMembers } from '../../../packages/exact-json/src/index.js';
import type { UnreadMessage } from '../../contract/call/handler.js';
import { createEventSchemas, MAX_EVENTS } from '../../observe/events/event-schemas.js';
import type { EventRpc } from '../../observe/events/observability-handlers.js';
import { type ReadEvents, readEvents } from '../../observe/events/read-events.js';
import type { EventCodec } from '../../observe/events/store/event-store.js';
import { rpcMethods } from '../descriptors/rpc-methods.js';
import { WireReader } from '../wire/wire-reader.js';
import { createInputReader, type ReadInput } from './message-input.js';

/** A message of an RPC that stores events. */
export interface UnreadEvents extends UnreadMessage {
  readonly rpc: EventRpc;
  /** The time of events that state none, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Members that occur twice in an object of a JSON body. */
  readonly duplicates: DuplicateMembers;
}

/** Reads a message. Throws what reading it in the thread that serves requests throws. */
type ReadMessage = (message: UnreadEvents) => ReadEvents;

/** Reads messages in every form that they arrive in, exactly as the adapters do. */
export function createEventMessages({ encode }: EventCodec): ReadMessage {
  let nowMs = 0;
  const schemas = createEventSchemas(() => nowMs);
  const methods = new Map(rpcMethods(ObservabilityService).map((method) => [method.desc.localName, method]));
  const readers = new Map<EventRpc, ReadInput<Input>>();

  return ({ rpc, form, bytes, nowMs: now, duplicates }) => {
    const method = methods.get(rpc);
    if (method === undefined) throw new Error(`there is no RPC ${rpc}`);
    const read = readers.get(rpc) ?? createInputReader<Input>(method, schemas[rpc]);
    readers.set(rpc, read);
    nowMs = now;
    const sent = form === 'binary' ? withoutSurplus(bytes, MAX_EVENTS) : bytes;
    return readEvents(read({ form, bytes: sent }, duplicates).events, encode, nowMs);
  };
}

type Input = z.output<ReturnType<typeof createEventSchemas>[EventRpc]>;

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
