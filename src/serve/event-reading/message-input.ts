import type { z } from 'zod';
import type { DuplicateMembers } from '../../../packages/exact-json/src/index.js';
import type { UnreadMessage } from '../../contract/call/handler.js';
import { parseInput } from '../../contract/input/parse-input.js';
import type { ReceivedRequest } from '../../contract/warnings/request-warnings.js';
import { receivedMessage } from '../connect/handler-rpc.js';
import { messageMapper } from '../connect/message-mapper.js';
import { bodyMembers, type RpcMethod } from '../descriptors/rpc-methods.js';
import { readInput } from '../rest/read-input.js';
import { receivedRequest } from '../rest/unread-parts.js';
import { JsonCopy } from '../wire/json-copy.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { createMessageParser } from '../wire/message-parser.js';

/** Reads one message, or throws what the adapter of its form throws. `receives` gets it before it is checked, if it can. */
export type ReadInput<Input> = (
  message: UnreadMessage,
  duplicates: DuplicateMembers,
  receives?: (request: () => ReceivedRequest) => void,
) => Input;

/** Reads the messages of one RPC in every form that they arrive in, exactly as the adapters do; for threads. */
export function createInputReader<Input>(method: RpcMethod, schema: z.ZodType<Input>): ReadInput<Input> {
  const { desc } = method;
  const parse = createMessageParser(desc);
  const { toPlain } = messageMapper(desc.input);
  return ({ form, bytes }, duplicates, receives) => {
    if (form !== 'rest') {
      const message = parse(bytes, form === 'binary');
      const plain = toPlain(message);
      const json = form === 'json' ? new JsonCopy(false) : null;
      json?.add(bytes);
      receives?.(() => receivedMessage(desc.input, message, plain, json));
      return parseInput(schema, plain);
    }
    const [binding] = method.bindings;
    if (binding === undefined) throw new Error(`${method.name} has no JSON route`);
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const request = { headers: JSON_HEADERS, body, params: {}, query: {} };
    const { input, body: sent } = readInput(schema, method, binding, request, [], duplicates);
    const checked = duplicates === 'last' ? body : null;
    receives?.(() => receivedRequest(method, binding, bodyMembers(binding, sent), checked));
    return input as Input;
  };
}

const JSON_HEADERS = { 'content-type': MEDIA_TYPES.json };
