import type { JsonValue } from '../../exact-json/src/index.js';

/**
 * The type of a value as far as it is known before evaluation. `number` is a JSON number of unknown kind: an integer of any
 * size or a fraction. `any` is unknown, and is compatible with everything.
 */
export type CelType =
  | {
      readonly kind:
        | 'any'
        | 'null'
        | 'bool'
        | 'int'
        | 'uint'
        | 'double'
        | 'number'
        | 'string'
        | 'bytes'
        | 'timestamp'
        | 'duration'
        | 'ip'
        | 'cidr'
        | 'type';
    }
  | { readonly kind: 'list'; readonly item: CelType }
  | { readonly kind: 'map'; readonly value: CelType }
  /** An object with known members. `open`: whether it may have others. */
  | {
      readonly kind: 'object';
      readonly members: ReadonlyMap<string, MemberType>;
      readonly open: boolean;
    }
  | { readonly kind: 'union'; readonly types: readonly CelType[] };

export interface MemberType {
  readonly type: CelType;
  /** Whether every object has it. */
  readonly required: boolean;
  /** For completion. */
  readonly description?: string;
}

/** The variables of an expression, by name. */
export type VariableTypes = ReadonlyMap<string, CelType>;

/** A problem of an expression, with the part of the text that has it, in UTF-16 code units. */
export interface ExpressionProblem {
  readonly code: ExpressionProblemCode;
  readonly start: number;
  readonly end: number;
  /** Completes a sentence; without the text of the expression. */
  readonly message: string;
  /** What may replace the part between `start` and `end`; null without one. */
  readonly suggestion: string | null;
}

export type ExpressionProblemCode =
  /** The text is no expression. */
  | 'syntax'
  /** It exceeds a limit. */
  | 'limit'
  /** A variable or function that there is not. */
  | 'unknown_name'
  /** A member that the type of its object does not have. */
  | 'unknown_member'
  /** An operator or function that does not take values of these types. */
  | 'type'
  /** The result is no boolean. */
  | 'result'
  /** The result is the same whatever the values are. */
  | 'always_true'
  | 'always_false';

/** The values of variables, by the order of the names that an expression is compiled with. */
export interface CelValues {
  /** The value of a variable; called at most once for each in an evaluation. */
  variable(index: number): JsonValue;
}

/** Result of an evaluation. */
export type CelResult =
  | { readonly ok: true; readonly value: unknown }
  /** `missing`: the path of the member that is missing, for example `input.amount`; null for another error. */
  | {
      readonly ok: false;
      readonly error: string;
      readonly missing: string | null;
      /** Whether it exceeds a limit of evaluations. */
      readonly isLimit?: true;
    };

/** The value of one sub-expression in one evaluation. */
export interface TracedExpression {
  /** Its text is between these, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Name of the type of the value, as `type()` gives it; null when it was not evaluated. */
  readonly type: string | null;
  /** JSON of the value; null when it was not evaluated, or failed. */
  readonly value: JsonValue | undefined;
  readonly error: string | null;
}

/** What an expression demands of a variable to be true: it equals one of these texts. */
export interface RequiredTexts {
  readonly variable: string;
  readonly texts: readonly string[];
}

/** A compiled expression. Immutable. */
export interface CompiledExpression {
  readonly text: string;
  /** Number of nodes of its tree, macros expanded. */
  readonly nodes: number;
  /** Members that it reads, for example `input.amount`, each once, in order of the text. */
  readonly reads: readonly string[];
  /** Equalities without which it is never true. */
  readonly requires: readonly RequiredTexts[];
  /** Constant result; null if it depends on variables. */
  readonly constant: boolean | null;
  /** Estimated memory, in bytes. */
  readonly sizeBytes: number;
  /** Warnings of the type check: problems that did not prevent compilation. */
  readonly problems: readonly ExpressionProblem[];
  /**
   * The most work, in search steps, that an evaluation takes on a step whose texts have so many characters and whose lists and
   * objects have so many values in all. Never more than `MAX_WORK`, at which an evaluation ends with an error.
   */
  workBound(size: number): number;
  /**
   * Evaluates it. Reports the work, in search steps of some 13 ns, to `spend`. Never throws: what exceeds a limit is an
   * error. `now` is in milliseconds since 1970.
   */
  evaluate(values: CelValues, nowMs: () => number, spend?: (steps: number) => void): CelResult;
  /** The same, with the values of all sub-expressions, outermost first, at most 200. */
  trace(
    values: CelValues,
    nowMs: () => number,
  ): { readonly result: CelResult; readonly parts: readonly TracedExpression[] };
}

export interface CompileOptions {
  readonly variables: VariableTypes;
  /** Whether problems of types are thrown as `ExpressionError`, or listed in `problems`. */
  readonly strictTypes: boolean;
}

/** One proposal for the text at a cursor. */
export interface Completion {
  readonly label: string;
  readonly kind: 'variable' | 'member' | 'function' | 'macro' | 'keyword';
  /** Type or signature. */
  readonly detail: string;
  readonly documentation: string;
}
