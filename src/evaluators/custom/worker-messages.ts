import type { JsonObject } from '../../json/json-value.js';
import type { Json } from './define-evaluator.js';

/** What a worker is started with. */
export interface WorkerInput {
  /** Absolute path of a module, or the name of a package. */
  readonly specifier: string;
  /** Folder from which packages are looked for. */
  readonly directory: string;
}

/** What an author's module says about its evaluator. */
export interface EvaluatorDescription {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly requiresApiKey: boolean;
  /** Time limit of one check, in milliseconds; null when it states none. */
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
  /** Nobody waits for the answer any more. */
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
