import type { DescService } from '@bufbuild/protobuf';
import type { z } from 'zod';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { ErrorItem } from '../errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../input/items.js';
import { invalidRequest, isInvalidRequest } from '../input/parse-input.js';
import type { Warning } from '../warnings/warning.js';
import type { AgentLimit } from './agent-limit.js';
import type { Grant } from './grant.js';
import { DEFAULT_NAMESPACE, type Namespace, type TargetName } from './namespace.js';
import { ALL_SCOPES, type ScopeMask } from './scopes.js';

/** Permission of a caller: no authentication, a regular key, or an admin key. */
export interface Principal {
  readonly level: 'anonymous' | 'key' | 'admin';
  /**
   * First 12 hex digits of the SHA-256 of the key, or of the subject of a token: identifies it without revealing it.
   * Null without either.
   */
  readonly keyFingerprint: string | null;
  /** Name of the key, if it is one of the keys file, or of the holder of a token; null for others. Not unique. */
  readonly name: string | null;
  /** The agents the caller is limited to; null for all. */
  readonly agents: AgentLimit | null;
  /** The namespace of everything that the caller sees and changes. */
  readonly namespace: Namespace;
  /** What the caller may do. */
  readonly scopes: ScopeMask;
  /** Name of the role that the scopes are those of; null if they were listed. */
  readonly role: string | null;
  /** The only target that the caller may evaluate for, if its token names one; null for any, and none. */
  readonly target: TargetName | null;
  /** The other namespaces that its browser session may switch to. */
  readonly namespaces?: readonly string[];
  /** When its rights end, in milliseconds since 1970: for bearer tokens, and sessions of them. */
  readonly expiresAtMs?: number;
  /** What its rights follow from; absent for callers with a key, a token of an issuer, a certificate or a session. */
  readonly grant?: Grant;
  /** The browser session of the call; absent for callers with a key, a token or a certificate. */
  readonly sessionId?: string;
}

/** A caller without a key. */
export const ANONYMOUS: Principal = {
  level: 'anonymous',
  keyFingerprint: null,
  name: null,
  agents: null,
  namespace: DEFAULT_NAMESPACE,
  scopes: ALL_SCOPES,
  role: null,
  target: null,
};

/** Context of a call besides its input. */
export interface CallContext {
  readonly principal: Principal;
  readonly requestId: string;
  /** Address of the caller, taken from trusted proxies where there are any; null if unknown. */
  readonly address: string | null;
  /** Aborted when the caller disconnected or the deadline of the call passed. */
  readonly signal: AbortSignal;
  /**
   * Whether values that were never checked are still accepted, with a warning: in the JSON routes, for deployed
   * clients.
   */
  readonly isLenient: boolean;
  /** Returns a header, or an entry of the metadata; its name is in lower case. */
  header(name: string): string | undefined;
  /** Reports the revision of the call's change to the caller: a header over HTTP, a trailer over gRPC. */
  reportRevision(revision: number): void;
  /** Reports to the caller that its controls were last certainly the latest this many seconds ago. */
  reportStaleness(seconds: number): void;
  /** Sends warnings that have no member in the reply: a header over HTTP, a trailer over gRPC. */
  warn(warnings: readonly Warning[]): void;
}

/** A call as received by its handler. */
export interface HandlerCall extends CallContext {
  /** The protocol of the call, as metrics name it. */
  readonly protocol: string;
  /** Counts evaluations beyond the first of the call. Fails with RATE_LIMITED above the caller's limit. */
  spend(evaluations: number): void;
  /**
   * Parts of the request without effect: members that the RPC does not have, and members that occur twice in
   * an object. A handler that calls this reports them itself; otherwise the host does.
   */
  ignoredParts(): readonly Warning[];
}

/** A message as it arrived, complete but not parsed. */
export interface UnreadMessage {
  /** They may be passed to another thread: nothing else reads them. */
  readonly bytes: Uint8Array;
  /** JSON of the JSON routes, the JSON mapping of protobuf, or protobuf. */
  readonly form: 'rest' | 'json' | 'binary';
}

/** The call of a message that is read elsewhere. */
export interface ReaderCall {
  /** Takes the parts of the message without effect, which are not known here. */
  ignores(parts: readonly Warning[]): void;
  /** Calls `ended` once when the call is over; for one function. */
  whenEnded(ended: () => void): void;
}

/** Reads large messages in other threads. */
export interface MessageReader<Input = unknown> {
  /** Whether a message of this size is passed to it; others are read by the schema of the handler. */
  takes(bytes: number): boolean;
  /** Another form of a message in JSON that is not passed to it, in which its numbers are kept; undefined for as it is. */
  exact?(message: Uint8Array): Uint8Array | undefined;
  /**
   * The input of the handler. Rejects with the errors that reading in the same protocol without it has, and with
   * SERVICE_UNAVAILABLE when it cannot read now.
   */
  read(message: UnreadMessage, call: ReaderCall): Promise<Input>;
}

/**
 * One RPC, independent of the protocol. Input and output are plain JSON-shaped values with the snake_case
 * names of the proto messages; an output member without a value is null, undefined or omitted.
 */
export interface Handler<Input = unknown> {
  readonly input: z.ZodType<Input>;
  /** How its JSON routes show errors; absent for problem bodies. */
  readonly errorForm?: ErrorForm | undefined;
  /** Whether its requests are so large and frequent that they are not searched for parts without effect. */
  readonly isBulk?: boolean;
  readonly reader?: MessageReader<Input> | undefined;
  /**
   * Problems of an input that the schema rejects which the schema cannot find, for example references to what is not
   * stored: so that a caller gets all of them at once.
   */
  readonly furtherProblems?: FurtherProblems | undefined;
  /** Whether one reply may be given to many calls: it is encoded once, so it must not be changed afterwards. */
  readonly sharesReplies?: boolean;
  handle(input: Input, context: HandlerCall): Promise<object> | object;
}

/** An error of a call, for a form that is not a problem body. */
export interface ShownError {
  /** The HTTP status that a problem body would have. */
  readonly status: number;
  /** Stable code, see `ERROR_TABLE`; empty for an error of HTTP itself. */
  readonly code: string;
  /** What is wrong, where, and what to do. */
  readonly message: string;
  readonly requestId: string;
}

/** Shows errors of the JSON routes of an RPC in the form of another protocol. */
export interface ErrorForm {
  /** Media type of the bodies. */
  readonly type: string;
  /** Called once for each error that is answered. */
  show(error: ShownError): { readonly status: number; readonly body: string };
}

/** Never throws for any input; `input` is as it was sent. */
export type FurtherProblems = (input: JsonObject, context: HandlerCall) => Promise<readonly ErrorItem[]>;

/** Pairs an input schema with the function for its output. */
export function handler<Input>(
  input: z.ZodType<Input>,
  handle: (input: Input, context: HandlerCall) => Promise<object> | object,
  furtherProblems?: FurtherProblems,
): Handler {
  return { input, handle, furtherProblems } as Handler;
}

/** The error of an input that the schema rejects, with the further problems that the handler knows. */
export async function wholeRefusal(
  error: unknown,
  { furtherProblems }: Pick<Handler, 'furtherProblems'>,
  input: JsonObject,
  context: HandlerCall,
): Promise<unknown> {
  if (furtherProblems === undefined || !isInvalidRequest(error)) return error;
  const { items = [], hint } = error.options;
  const all = [...items, ...(await furtherProblems(input, context))].slice(0, MAX_ERROR_ITEMS);
  return all.length === items.length ? error : invalidRequest(all, all.length, hint);
}

/** The same for an RPC that gives one reply to many calls, whose members do not depend on what a call asks to print. */
export function sharedHandler<Input>(
  input: z.ZodType<Input>,
  handle: (input: Input, context: HandlerCall) => Promise<object> | object,
): Handler {
  return { ...handler(input, handle), sharesReplies: true };
}

/** The same for an RPC with large and frequent requests: they are not searched for parts without effect. */
export function bulkHandler<Input, Read = Input>(
  input: z.ZodType<Input>,
  handle: (input: Input | Read, context: HandlerCall) => Promise<object> | object,
  reader?: MessageReader<Read>,
): Handler {
  return { ...handler(input, handle as Handler<Input>['handle']), isBulk: true, reader };
}

/**
 * One RPC that answers with a stream. An error of the iterable becomes the status of the call. It is ended,
 * by its `return`, when the caller disconnects, its deadline passes or the server shuts down;
 * `context.signal` signals this while it waits. The next value is requested once the last one is sent, so a
 * slow reader slows it down. One object may be sent to many calls: it is converted to a message once, so it
 * must not be changed afterwards.
 */
export interface StreamHandler<Input = unknown> {
  readonly input: z.ZodType<Input>;
  stream(input: Input, context: HandlerCall): AsyncIterable<object>;
}

/** Pairs an input schema with the function that answers with a stream. */
export function streamHandler<Input>(
  input: z.ZodType<Input>,
  stream: (input: Input, context: HandlerCall) => AsyncIterable<object>,
): StreamHandler {
  return { input, stream } as StreamHandler;
}

/**
 * One RPC that receives a stream and answers once. An item rejected by the schema makes the iteration fail;
 * effects of earlier ones remain.
 */
export interface CollectHandler<Item = unknown> {
  readonly item: z.ZodType<Item>;
  readonly reader?: MessageReader<Item> | undefined;
  collect(items: AsyncIterable<Item>, context: CallContext): Promise<object>;
}

/** Pairs the schema of an item with the function that receives the items. */
export function collectHandler<Item, Read = Item>(
  item: z.ZodType<Item>,
  collect: (items: AsyncIterable<Item | Read>, context: CallContext) => Promise<object>,
  reader?: MessageReader<Read>,
): CollectHandler {
  return { item, collect, reader } as CollectHandler;
}

/**
 * One RPC that receives a stream and answers with a stream. The items fail when the caller disconnects, its deadline
 * passes or the server shuts down, or when one is rejected by the schema. The answers are sent until their iterable ends:
 * it must end soon after the items fail.
 */
export interface ExchangeHandler<Item = unknown> {
  readonly item: z.ZodType<Item>;
  readonly reader?: MessageReader<Item> | undefined;
  exchange(items: AsyncIterable<Item>, context: CallContext): AsyncIterable<object>;
}

/** Pairs the schema of an item with the function that answers the items. */
export function exchangeHandler<Item, Read = Item>(
  item: z.ZodType<Item>,
  exchange: (items: AsyncIterable<Item | Read>, context: CallContext) => AsyncIterable<object>,
  reader?: MessageReader<Read>,
): ExchangeHandler {
  return { item, exchange, reader } as ExchangeHandler;
}

/** A handler of any kind. */
export type AnyHandler = Handler | StreamHandler | CollectHandler | ExchangeHandler;

type HandlerFor<Kind> = Kind extends 'server_streaming'
  ? StreamHandler
  : Kind extends 'client_streaming'
    ? CollectHandler
    : Kind extends 'bidi_streaming'
      ? ExchangeHandler
      : Handler;

/** The handlers of a service, by local method name. A method without a handler of its kind does not compile. */
export type HandlersOf<Service extends DescService> = {
  readonly [Method in keyof Service['method']]: HandlerFor<Service['method'][Method]['methodKind']>;
};

/** A plain JSON-shaped value as received and returned by handlers. */
export type Plain = JsonObject;
