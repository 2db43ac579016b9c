import type { DescService } from '@bufbuild/protobuf';
import type { z } from 'zod';
import type { JsonObject } from '../../json/json-value.js';
import type { Warning } from '../warnings/warning.js';

/** What a caller may do: nothing was asked of it, it has a regular key, or it has an admin key. */
export interface Principal {
  readonly level: 'anonymous' | 'key' | 'admin';
  /** First 12 hex digits of the SHA-256 of the key: names a key without telling it. Null without a key. */
  readonly keyFingerprint: string | null;
}

/** What is known about a call beside its input. */
export interface CallContext {
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborted when the caller went away or the time of the call is up. */
  readonly signal: AbortSignal;
  /** A header, or an entry of the metadata; its name is in lower case. */
  header(name: string): string | undefined;
  /** Tells the caller which revision its change produced: a header over HTTP, a trailer over gRPC. */
  reportRevision(revision: number): void;
  /** Tells the caller that it is answered by controls that were certainly the latest so many seconds ago. */
  reportStaleness(seconds: number): void;
  /** Tells the caller something that the reply has no member for: a header over HTTP, a trailer over gRPC. */
  warn(warnings: readonly Warning[]): void;
}

/** A call as its handler gets it. */
export interface HandlerCall extends CallContext {
  /**
   * What of the request has no effect: members that the RPC does not have, and members that stand in an object twice.
   * A handler that asks for it tells the caller itself; otherwise the host does.
   */
  ignoredParts(): readonly Warning[];
}

/**
 * One RPC, whatever protocol it is called over. Input and output are plain JSON-shaped values with the snake_case
 * names of the proto messages; an output member without a value is null, undefined or left out.
 */
export interface Handler<Input = unknown> {
  readonly input: z.ZodType<Input>;
  /** Whether its requests are so large and frequent that nothing without effect is looked for in them. */
  readonly isBulk?: boolean;
  handle(input: Input, context: HandlerCall): Promise<object> | object;
}

/** Pairs an input schema with the function that takes what it reads. */
export function handler<Input>(
  input: z.ZodType<Input>,
  handle: (input: Input, context: HandlerCall) => Promise<object> | object,
): Handler {
  return { input, handle } as Handler;
}

/** The same for an RPC whose requests are large and frequent: nothing without effect is looked for in them. */
export function bulkHandler<Input>(
  input: z.ZodType<Input>,
  handle: (input: Input, context: HandlerCall) => Promise<object> | object,
): Handler {
  return { ...handler(input, handle), isBulk: true };
}

/**
 * One RPC that answers with a stream. What the iterable fails with becomes the status of the call. It is given up, by
 * its `return`, when the caller goes away, its deadline passes or the server shuts down; `context.signal` tells of that
 * while it waits. The next value is asked for when the last one is on its way, so a slow reader slows it down. One object
 * may be given to many calls: it is turned into a message once, so it must not be changed afterwards.
 */
export interface StreamHandler<Input = unknown> {
  readonly input: z.ZodType<Input>;
  stream(input: Input, context: HandlerCall): AsyncIterable<object>;
}

/** Pairs an input schema with the function that answers what it reads with a stream. */
export function streamHandler<Input>(
  input: z.ZodType<Input>,
  stream: (input: Input, context: HandlerCall) => AsyncIterable<object>,
): StreamHandler {
  return { input, stream } as StreamHandler;
}

/**
 * One RPC that takes a stream and answers once. An item that the schema refuses makes the iteration fail; what the
 * handler did with earlier ones stays.
 */
export interface CollectHandler<Item = unknown> {
  readonly item: z.ZodType<Item>;
  collect(items: AsyncIterable<Item>, context: CallContext): Promise<object>;
}

/** Pairs the schema of an item with the function that takes the items. */
export function collectHandler<Item>(
  item: z.ZodType<Item>,
  collect: (items: AsyncIterable<Item>, context: CallContext) => Promise<object>,
): CollectHandler {
  return { item, collect } as CollectHandler;
}

/** A handler of whatever kind its RPC is. */
export type AnyHandler = Handler | StreamHandler | CollectHandler;

type HandlerFor<Kind> = Kind extends 'server_streaming'
  ? StreamHandler
  : Kind extends 'client_streaming'
    ? CollectHandler
    : Handler;

/** The handlers of a service, by local method name. A method without a handler of its kind does not compile. */
export type HandlersOf<Service extends DescService> = {
  readonly [Method in keyof Service['method']]: HandlerFor<Service['method'][Method]['methodKind']>;
};

/** A plain JSON-shaped value as handlers take and return it. */
export type Plain = JsonObject;
