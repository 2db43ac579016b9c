import type { DescMethod } from '@bufbuild/protobuf';
import type { z } from 'zod';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import type { DuplicateMembers } from '../../../packages/exact-json/src/index.js';
import type { UnreadMessage } from '../../contract/call/handler.js';
import { parseInput } from '../../contract/input/parse-input.js';
import { createEventSchemas, MAX_EVENTS } from '../../events/event-schemas.js';
import type { EventRpc } from '../../events/observability-handlers.js';
import { type ReadEvents, readEvents } from '../../events/read-events.js';
import type { EventCodec } from '../../events/store/event-store.js';
import { messageMapper } from '../connect/message-mapper.js';
import { type RpcMethod, rpcMethods } from '../descriptors/rpc-methods.js';
import { readInput } from '../rest/read-input.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { createMessageParser } from '../wire/message-parser.js';
import { withoutSurplus } from './surplus-events.js';

/** A message of an RPC that stores events. */
export interface UnreadEvents extends UnreadMessage {
  readonly rpc: EventRpc;
  /** The time of events that state none, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Members that occur twice in an object of a JSON body. */
  readonly duplicates: DuplicateMembers;
}

/** Reads a message. Throws what reading it in the thread that serves requests throws. */
export type ReadMessage = (message: UnreadEvents) => ReadEvents;

/** Reads messages in every form that they arrive in, exactly as the adapters do. */
export function createEventMessages({ encode }: EventCodec): ReadMessage {
  let nowMs = 0;
  const schemas = createEventSchemas(() => nowMs);
  const methods = new Map(rpcMethods(ObservabilityService).map((method) => [method.desc.localName, method]));
  const kinds = new Map<EventRpc, ReturnType<typeof formsOf>>();

  return ({ rpc, form, bytes, nowMs: now, duplicates }) => {
    const method = methods.get(rpc);
    if (method === undefined) throw new Error(`there is no RPC ${rpc}`);
    const forms = kinds.get(rpc) ?? formsOf(method, schemas[rpc]);
    kinds.set(rpc, forms);
    nowMs = now;
    return readEvents(forms[form](bytes, duplicates).events, encode);
  };
}

type Input = z.output<ReturnType<typeof createEventSchemas>[EventRpc]>;

/** Reads the messages of one RPC, by form. */
function formsOf(
  method: RpcMethod,
  schema: z.ZodType<Input>,
): Record<UnreadMessage['form'], (bytes: Uint8Array, duplicates: DuplicateMembers) => Input> {
  const plainOf = messageReader(method.desc);
  return {
    binary: (bytes) => parseInput(schema, plainOf(withoutSurplus(bytes, MAX_EVENTS), true)),
    json: (bytes) => parseInput(schema, plainOf(bytes, false)),
    rest(bytes, duplicates) {
      const [binding] = method.bindings;
      if (binding === undefined) throw new Error(`${method.name} has no JSON route`);
      const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const request = { headers: JSON_HEADERS, body, params: {}, query: {} };
      return readInput(schema, method, binding, request, [], duplicates).input as Input;
    },
  };
}

const JSON_HEADERS = { 'content-type': MEDIA_TYPES.json };

/** Reads the plain value of a message; `isBinary` for protobuf. */
function messageReader(desc: DescMethod): (bytes: Uint8Array, isBinary: boolean) => object {
  const parse = createMessageParser(desc);
  const { toPlain } = messageMapper(desc.input);
  return (bytes, isBinary) => toPlain(parse(bytes, isBinary));
}
