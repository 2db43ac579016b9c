import type { DescService } from '@bufbuild/protobuf';
import type { z } from 'zod';
import type { JsonObject } from '../json/json-value.js';

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
}

/**
 * One RPC, whatever protocol it is called over. Input and output are plain JSON-shaped values with the snake_case
 * names of the proto messages; an output member without a value is null, undefined or left out.
 */
export interface Handler<Input = unknown> {
  readonly input: z.ZodType<Input>;
  handle(input: Input, context: CallContext): Promise<object> | object;
}

/** Pairs an input schema with the function that takes what it reads. */
export function handler<Input>(
  input: z.ZodType<Input>,
  handle: (input: Input, context: CallContext) => Promise<object> | object,
): Handler {
  return { input, handle } as Handler;
}

/** The handlers of a service, by local method name. A method without a handler does not compile. */
export type HandlersOf<Service extends DescService> = {
  readonly [Method in keyof Service['method']]: Handler;
};

/** A plain JSON-shaped value as handlers take and return it. */
export type Plain = JsonObject;
