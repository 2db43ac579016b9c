import type { Json } from '../../../../packages/evaluator-sdk/src/index.js';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';

/** Start parameters of a worker. */
export interface WorkerInput {
  /** Absolute path of a module, or the name of a package. */
  readonly specifier: string;
  /** Folder from which packages are resolved. */
  readonly directory: string;
  /** Memory at which the process of the worker is ended, in bytes. */
  readonly maxMemoryBytes: number;
}

/** Description of an evaluator by its module. */
export interface EvaluatorDescription {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly requiresApiKey: boolean;
  /** Time limit of one check, in milliseconds; null when not set. */
  readonly timeoutMs: number | null;
  readonly configJsonSchema: JsonObject;
}

/** A request to a worker, which has at most one. The message `'abort'` says that its reply is no longer awaited. */
export interface Check {
  readonly id: number;
  /** The configuration as JSON text. */
  readonly config: string;
  readonly data: Json;
}

export type CheckReply =
  /** An answer with all members, as JSON text. */
  { readonly id: number; readonly answer: string } | { readonly id: number; readonly problem: string };

/** Messages from a worker: first `ready` or `failed`, then replies, and lines that the author's code wrote. */
export type FromWorker =
  | { readonly ready: EvaluatorDescription }
  | { readonly failed: string }
  /** The uncaught error that ends the process. */
  | { readonly crashed: string }
  | CheckReply
  | LogLine;

export type LogLine = { readonly log: string };
