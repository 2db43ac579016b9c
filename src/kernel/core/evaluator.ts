import type { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { WarningCode } from '../../contract/warnings/warning.js';
import type { DataTexts } from './data-texts.js';
import type { MemoryRule } from './memory.js';
import type { AgentFacts, AgentReading, Detail, EvaluatorResult, Stage, Step } from './types.js';

/** Position of a check in a condition. */
export interface LeafPlace {
  /** The path of the selector of the data; `*`, and no other path, selects the whole step. */
  readonly path: string;
  /**
   * Whether the check is below an odd number of `not`: then the condition requires a match, and matching in
   * more texts would make the control weaker. Always false for evaluators without `heedsNegation`.
   */
  readonly negated: boolean;
}

/** Call context of a check besides the data. */
export interface CheckCall {
  readonly place: LeafPlace;
  /** Requested detail: with `verdict`, metadata are not used and need not be built. */
  readonly detail: Detail;
  /** The step that the data are selected from. */
  readonly step: Step;
  readonly stage: Stage;
  /** Null where it is not known. */
  readonly agent: AgentFacts | null;
  /** Milliseconds since 1970, the same in all checks of an evaluation. Throws where the core has no clock. */
  nowMs(): number;
  /** Aborted when the answer is no longer awaited: the check timed out, or the step is already denied. */
  readonly signal: AbortSignal;
  /** The texts of the selected object or list, created once for all checks of the same data. */
  textsOf(data: JsonValue[] | JsonObject): DataTexts;
  /** Reports the work of a check, in search steps of some 13 ns; see `StepAccount`. */
  spend?(steps: number): void;
}

/**
 * What a text must contain for a check to be worth running. Lets the core look for the literals of many
 * evaluators in one pass over a text (`linear-text/prefilter.ts`) and run only those whose answer may differ from
 * `miss`.
 */
export interface TextPrefilter {
  /**
   * If `evaluate` returns anything other than `miss`, errors included, at least one of these occurs in the
   * folded form (`linear-text/fold-case.ts`) of one of the texts of the data; where none occurs, the result is
   * `miss`. Never empty; each is folded and not empty. Null when no literals are known: then the check must
   * always run.
   */
  readonly literals: readonly string[] | null;
  /** Whether `evaluate` uses the normalised texts (`normalize-text.ts`), where the literals then occur. */
  readonly normalizes: boolean;
  /** The object (identity) that `evaluate` returns for a text without a match. */
  readonly miss: EvaluatorResult;
}

/** A text of the step that must be one of these. */
export interface RequiredStepText {
  readonly member: 'type' | 'name' | 'stage';
  readonly texts: readonly string[];
}

/** A part of an expression, with its value in one evaluation. */
export interface TracedValue {
  /** Its text is between these, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Undefined when it was not evaluated, or failed. */
  readonly value: JsonValue | undefined;
  /** Null when it did not fail. */
  readonly error: string | null;
}

/** A part of a text, in UTF-16 code units; the end is not part of it. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** A configured evaluator, ready to check data. */
export interface CompiledEvaluator {
  /**
   * Present when `evaluate` depends only on the texts of the data: the text (`textOf`) of a string, number or
   * boolean, or the texts of an object or list (`SearchTexts`). The core may then return `miss` itself for
   * data that are not null; null data are always passed to `evaluate`.
   */
  readonly prefilter?: TextPrefilter;
  /** Whether the result depends on `LeafPlace.negated`. Other checks run once for both sides of a `not`. */
  readonly heedsNegation?: true;
  /**
   * What of a step must hold for a match: for any other step `evaluate` returns a result without a match and without an
   * error. Lets the core leave out whole controls (`narrowing.ts`).
   */
  readonly requires?: readonly RequiredStepText[];
  /** What it reads of the agent; nothing when absent. */
  readonly readsAgent?: AgentReading;
  /**
   * Present when the answer depends on earlier steps: then the core asks the rule, after everything else has let the step pass,
   * and `evaluate` is called only where there is no memory, to say so by an error.
   */
  readonly memory?: MemoryRule;
  /** The values of the parts of its expression for some data, for an explanation. Never throws. */
  readonly trace?: (data: JsonValue, call: CheckCall) => readonly TracedValue[];
  /**
   * Where it matches in a text of the data: places in the text as it is, also where checks ignore case or normalise. In any
   * order; empty if it does not match there. Called only after a match of the control. Throws or rejects if it cannot say.
   */
  readonly locate?: (
    text: string,
    call: Pick<CheckCall, 'signal' | 'spend'>,
  ) => readonly TextSpan[] | Promise<readonly TextSpan[]>;
  /** By far the most frequent result, always the same object: everything derived from it is created once. */
  readonly usual?: EvaluatorResult;
  /**
   * Estimated maximum memory in bytes, caches included. Never less for a larger configuration. When absent,
   * the core estimates from the length of the configuration.
   */
  readonly sizeBytes?: number;
  /** Time limit of one check with this configuration, in milliseconds; that of the evaluator when absent. */
  readonly timeoutMs?: number;
  /** Checks the selected data; null when nothing was selected. May throw: this becomes a leaf error. */
  evaluate(data: JsonValue, call: CheckCall): EvaluatorResult | Promise<EvaluatorResult>;
}

/** Status of an evaluator that works outside the main thread; read when metrics are collected. */
export interface EvaluatorStatus {
  /** Checks under way. */
  readonly running: number;
  /** Checks waiting for a free worker. */
  readonly queued: number;
  /** Number of worker replacements. */
  readonly workerRestarts?: number;
  /** State of the circuit breaker in front of a remote endpoint. */
  readonly breaker?: BreakerState;
  /** Checks that failed and were answered nevertheless, as configured (`on_error`). */
  readonly answeredErrors?: number;
  /** Those of `answeredErrors` that timed out. */
  readonly answeredTimeouts?: number;
}

/** `open` makes no calls, `half_open` makes one call to test whether the endpoint responds again. */
export type BreakerState = 'closed' | 'half_open' | 'open';

/** A warning for the author of a valid configuration. */
export interface ConfigWarning {
  readonly code: WarningCode;
  /** Path of the member within the configuration. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What every check of a configuration gives, whatever the data; a member is null where that depends on them. */
export interface ForegoneResult {
  /** Whether it matches data that are there. */
  readonly data: boolean | null;
  /** Whether it matches when nothing is selected. */
  readonly absent: boolean | null;
}

/** A text of the step that must be one of these for a check to match, as its configuration says. */
export interface DemandedTexts extends RequiredStepText {
  readonly ignoresCase: boolean;
  /** Whether a check of a step with one of these matches, as they are written. */
  readonly isEnough?: true;
}

/** How a configuration is used. */
export interface ConfigUse {
  /** Path of the selector of the data. */
  readonly selectorPath: string;
  /** Whether a match of the check makes its control match; false below an odd number of `not`. */
  readonly positive: boolean;
  /** Whether its control is for the stage pre only, at which steps have no output and no error. */
  readonly beforeSteps: boolean;
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
   * Whether it calls a remote service. Such checks begin once all local controls have been evaluated, and are
   * skipped once a deny has matched.
   */
  readonly external?: boolean;
  /** Why every check is an error, such as a setting of the service that is missing. Absent when checks are possible. */
  readonly unavailable?: string;
  /** Whether it only stands for one whose package is not installed; see `missing-evaluators.ts`. */
  readonly isMissing?: true;
  /** Whether its checks depend on earlier steps; see `memory.ts`. They are evaluated by the service only. */
  readonly remembers?: true;
  /** Whether its checks can say where they match, see `CompiledEvaluator.locate`. */
  readonly locates?: true;
  /** Validates a configuration, with the issue codes of `validation/`. */
  readonly configSchema: z.ZodType;
  /** JSON Schema of the configuration, as shown to clients. */
  readonly configJsonSchema: JsonObject;
  /**
   * Estimated work of validating and compiling a configuration, in compiled instructions; 0 for anything that
   * is not a configuration. Absent when negligible.
   */
  readonly compileCost?: (config: JsonObject) => number;
  /**
   * Warnings about members of a configuration accepted by `configSchema` that have no effect, or less than
   * apparent, except members missing from the schema, which `config-members.ts` finds. Absent when there are
   * none.
   */
  readonly warningsFor?: (config: JsonObject, use: ConfigUse) => Iterable<ConfigWarning>;
  /** What every check of a configuration accepted by `configSchema` gives; null when that is not known. */
  readonly foregone?: (config: JsonObject, selectorPath: string) => ForegoneResult | null;
  /** What a check with a selector path demands of the step, if a configuration accepted by `configSchema` says so. */
  readonly demands?: (config: JsonObject, selectorPath: string) => readonly DemandedTexts[];
  /** Compiles a configuration accepted by `configSchema`. Throws on any other. */
  compile(config: JsonObject): CompiledEvaluator;
  /** Current status. Absent when it works in the main thread and awaits nothing. */
  status?(): EvaluatorStatus;
  /** Releases threads and connections. Checks in progress fail. */
  close?(): Promise<void>;
}

/** Evaluators by name. */
export type EvaluatorRegistry = ReadonlyMap<string, Evaluator>;
