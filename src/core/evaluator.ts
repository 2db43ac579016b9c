import type { z } from 'zod';
import type { WarningCode } from '../contract/warnings/warning.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';
import type { DataTexts } from './data-texts.js';
import type { Detail, EvaluatorResult } from './types.js';

/** Where in a condition a check stands. */
export interface LeafPlace {
  /** The path of the selector that selected the data; `*` selects the whole step, and nothing else does. */
  readonly path: string;
  /**
   * Whether the check stands below an odd number of `not`: then the condition demands what the check looks for, and
   * finding it in more texts would make the control weaker. Always false for evaluators without `heedsNegation`.
   */
  readonly negated: boolean;
}

/** What a check is told beside the data. */
export interface CheckCall {
  readonly place: LeafPlace;
  /** What is wanted: with `verdict` nobody looks at metadata, so they need not be built. */
  readonly detail: Detail;
  /** Aborted when nobody waits for the answer any more: its time is up, or the step is denied already. */
  readonly signal: AbortSignal;
  /** The texts of the selected object or list, made once for all checks of the same data. */
  textsOf(data: JsonValue[] | JsonObject): DataTexts;
  /** To be told of the work that a check did, in search steps of some 13 ns; see `StepAccount`. */
  spend?(steps: number): void;
}

/**
 * What a text must contain for a check to be worth running. Lets the core look for the literals of many evaluators
 * in one pass over a text (`regex/prefilter.ts`) and run only those that may answer something else than `miss`.
 */
export interface TextPrefilter {
  /**
   * At least one of these occurs in the folded form (`list/fold-case.ts`) of one of the texts of all data of which
   * `evaluate` says anything else than `miss`: so where none does, `miss` is the answer, errors included. Never empty;
   * each is folded and not empty. Null when nothing can be told: then the check must always run.
   */
  readonly literals: readonly string[] | null;
  /** Whether `evaluate` looks at the normalised texts (`normalize-text.ts`), so that the literals occur in those. */
  readonly normalizes: boolean;
  /** The very object that `evaluate` returns for a text without a match. */
  readonly miss: EvaluatorResult;
}

/** A configured evaluator, ready to look at data. */
export interface CompiledEvaluator {
  /**
   * Present when `evaluate` looks at the texts of the data only: at the text (`textOf`) of a string, number or boolean,
   * at the texts of an object or list (`SearchTexts`). The core may then answer `miss` itself for data that are not
   * null; null data always go to `evaluate`.
   */
  readonly prefilter?: TextPrefilter;
  /**
   * Whether the result depends on `LeafPlace.negated`. Other checks are done once for leaves on both sides of a `not`.
   */
  readonly heedsNegation?: true;
  /** The result that comes by far the most often, always as this very object: what goes with it is then made once. */
  readonly usual?: EvaluatorResult;
  /**
   * About how many bytes of memory it takes at most, its caches included. Never less for a larger configuration. When
   * absent, the core guesses from the length of the configuration.
   */
  readonly sizeBytes?: number;
  /** Time limit of one check with this configuration, in milliseconds; the one of the evaluator when absent. */
  readonly timeoutMs?: number;
  /** Looks at the selected data; null when the selector led nowhere. May throw: the core turns that into an error. */
  evaluate(data: JsonValue, call: CheckCall): EvaluatorResult | Promise<EvaluatorResult>;
}

/** What an evaluator that works outside the main thread is doing; asked for when somebody reads the metrics. */
export interface EvaluatorStatus {
  /** Checks under way. */
  readonly running: number;
  /** Checks that wait for their turn. */
  readonly queued: number;
  /** How often a worker had to be replaced. */
  readonly workerRestarts?: number;
  /** State of the circuit breaker in front of a remote endpoint. */
  readonly breaker?: BreakerState;
  /** Checks that failed and were answered all the same, as the configuration says (`on_error`). */
  readonly answeredErrors?: number;
  /** Those of `answeredErrors` that ran out of time. */
  readonly answeredTimeouts?: number;
}

/** `open` calls nobody, `half_open` makes one call to see whether the endpoint answers again. */
export type BreakerState = 'closed' | 'half_open' | 'open';

/** Something that the author of a valid configuration should know. */
export interface ConfigWarning {
  readonly code: WarningCode;
  /** Path of the member within the configuration. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** How a configuration is used. */
export interface ConfigUse {
  /** Path of the selector that gives the data. */
  readonly selectorPath: string;
  /** Whether a match of the check makes its control match; false below an odd number of `not`. */
  readonly positive: boolean;
}

/** An evaluator of the service. */
export interface Evaluator {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly requiresApiKey: boolean;
  /** Time limit of one check, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Whether it asks somebody elsewhere. Such checks begin when all local controls have been looked at, and are left
   * out once a deny has matched.
   */
  readonly external?: boolean;
  /** Validates a configuration, with the issue codes of `validation/`. */
  readonly configSchema: z.ZodType;
  /** JSON Schema of the configuration, as shown to clients. */
  readonly configJsonSchema: JsonObject;
  /**
   * About how much work validating and compiling a configuration takes, in compiled instructions; 0 for anything
   * that is no configuration. Absent when it takes next to nothing.
   */
  readonly compileCost?: (config: JsonObject) => number;
  /**
   * What of a configuration that `configSchema` accepts has no effect, or less than it seems, but for members that the
   * schema does not have, which `config-members.ts` finds. Absent when there is nothing to say.
   */
  readonly warningsFor?: (config: JsonObject, use: ConfigUse) => Iterable<ConfigWarning>;
  /** Compiles a configuration that `configSchema` accepts. Throws on one that it does not. */
  compile(config: JsonObject): CompiledEvaluator;
  /** What it is doing now. Absent when it works in the main thread and waits for nobody. */
  status?(): EvaluatorStatus;
  /** Lets go of threads and connections. Checks that are under way fail. */
  close?(): Promise<void>;
}

/** Evaluators by name. */
export type EvaluatorRegistry = ReadonlyMap<string, Evaluator>;
