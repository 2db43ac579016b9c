import type { Json } from '../../../packages/evaluator-sdk/src/index.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';

/** Start parameters of a worker. */
export interface WorkerInput {
  /** Absolute path of a module, or the name of a package. */
  readonly specifier: string;
  /** Folder from which packages are resolved. */
  readonly directory: string;
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

/** Messages to a worker, which has at most one check at a time. */
export type ToWorker =
  | {
      readonly type: 'check';
      readonly id: number;
      /** The configuration as JSON text. */
      readonly config: string;
      readonly data: Json;
    }
  /** The answer is no longer awaited. */
  | { readonly type: 'abort' };

/** Messages from a worker: first `ready` or `failed`, then one `answer` or `problem` for each check. */
export type FromWorker =
  | { readonly type: 'ready'; readonly description: EvaluatorDescription }
  | { readonly type: 'failed'; readonly problem: string }
  /** An answer with all members, as JSON text. */
  | { readonly type: 'answer'; readonly id: number; readonly answer: string }
  | { readonly type: 'problem'; readonly id: number; readonly problem: string }
  /** A line that the author's code wrote. */
  | { readonly type: 'log'; readonly text: string };
