import { create, type DescMessage, type Message } from '@bufbuild/protobuf';
import type { z } from 'zod';
import { type JsonObject, type JsonValue, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import {
  type AnyHandler,
  type Handler,
  type MessageReader,
  wholeRefusal,
} from '../../contract/call/handler.js';
import type { ServiceError } from '../../contract/errors/service-error.js';
import { isInvalidRequest, parseInput, withUnreadHint } from '../../contract/input/parse-input.js';
import type { ReceivedRequest } from '../../contract/warnings/request-warnings.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { Call } from '../call/call.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import type { JsonCopy } from '../wire/json-copy.js';
import { EncodedReplies } from './encoded-replies.js';
import { messageMapper } from './message-mapper.js';
import { type RpcCall, replyForm, type UnaryImplementation, unaryRpc } from './rpc-call.js';
import {
  type CollectImplementation,
  collectRpc,
  type ExchangeImplementation,
  exchangeRpc,
  type StreamImplementation,
  streamRpc,
} from './streams.js';
import { unknownFields } from './unknown-fields.js';

/**
 * A handler as a Connect implementation: message → plain → handler → plain → message. `maxReplyBytes` is the largest
 * message of a reply.
 */
export function handlerRpc(
  method: RpcMethod,
  handler: AnyHandler,
  maxReplyBytes: number,
): UnaryImplementation | StreamImplementation | CollectImplementation | ExchangeImplementation {
  const { toPlain } = messageMapper(method.desc.input);
  const reply = replyMappers(method.desc.output);

  function inputOf(message: Message, rpc: RpcCall, schema: z.ZodType, reader: MessageReader | undefined) {
    const unread = rpc.unread?.next();
    if (unread !== undefined && reader !== undefined) return reader.read(unread, rpc.call);
    return parseInput(schema, toPlain(message));
  }

  if ('stream' in handler) {
    const encoded = new EncodedReplies(method.desc.output, maxReplyBytes);
    // Streams that last, and wait for news, have no JSON route.
    const isWork = method.bindings.length > 0;
    return streamRpc(method.desc.output, isWork, (message, { call, json }, form) => {
      const plain = toPlain(message);
      call.receives(() => receivedMessage(method.desc.input, message, plain, json));
      const replies = handler.stream(parseInput(handler.input, plain), call);
      return mapped(replies, (value) => encoded.of(value, form));
    });
  }
  if ('collect' in handler) {
    return collectRpc(async (messages, call, rpc) => {
      const items = mapped(messages, (message) => inputOf(message, rpc, handler.item, handler.reader));
      return reply.message(await handler.collect(items, call));
    });
  }
  if ('exchange' in handler) {
    return exchangeRpc((messages, call, rpc) => {
      const items = mapped(messages, (message) => inputOf(message, rpc, handler.item, handler.reader));
      return mapped(handler.exchange(items, call), reply.message);
    });
  }
  return unaryHandlerRpc(method, handler, new EncodedReplies(method.desc.output, maxReplyBytes));
}

function unaryHandlerRpc(method: RpcMethod, handler: Handler, encoded: EncodedReplies): UnaryImplementation {
  const { toPlain } = messageMapper(method.desc.input);
  const reply = replyMappers(method.desc.output);
  const { reader } = handler;

  /** The members of a message that was read elsewhere are not known here. */
  function inputOf(message: Message, call: Call, { json, unread }: RpcCall): unknown {
    const elsewhere = unread?.next();
    if (elsewhere !== undefined && reader !== undefined) return reader.read(elsewhere, call);
    const plain = toPlain(message);
    call.receives(() => receivedMessage(method.desc.input, message, plain, json));
    try {
      return parseInput(handler.input, plain);
    } catch (error) {
      // Those that threads read when they are large are refused in the same way when they are small.
      if (!isInvalidRequest(error) || handler.isBulk === true) throw error;
      return refused(error, plain, call);
    }
  }

  async function refused(error: ServiceError, plain: JsonObject, call: Call): Promise<never> {
    throw await wholeRefusal(
      withUnreadHint(error, call.ignoredParts().filter(isUnread)),
      handler,
      plain,
      call,
    );
  }

  const empty = create(method.desc.output);
  return unaryRpc(async (message, call, rpc, context) => {
    const { json } = rpc;
    const value = await handler.handle(await inputOf(message, call, rpc), call);
    call.answeredBy(handler);
    if (handler.sharesReplies === true) {
      rpc.replies.push(await encoded.of(value, replyForm(rpc, context)));
      return empty;
    }
    return json === null ? reply.binary(value) : reply.message(value);
  }, handler.isBulk);
}

const isUnread = ({ code }: Warning): boolean => code === 'unknown_member';

type ReplyMapper = (plain: object) => Message;

/** Mappers to messages for every encoding, and to messages for the binary one. */
function replyMappers(desc: DescMessage): { message: ReplyMapper; binary: ReplyMapper } {
  return { message: messageMapper(desc).fromPlain, binary: messageMapper(desc, 'encoded').fromPlain };
}

async function* mapped<From, To>(
  source: AsyncIterable<From>,
  map: (value: From) => To | Promise<To>,
): AsyncGenerator<To> {
  for await (const value of source) yield await map(value);
}

/** A request of an RPC as received: its JSON if it was sent as JSON, else the plain value of its message. */
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

/**
 * Undefined for JSON beyond this service's limits that Connect could read; no other code checks it either.
 */
function parsed(text: string): JsonValue | undefined {
  try {
    return parseStoredJson(text);
  } catch {
    return undefined;
  }
}
