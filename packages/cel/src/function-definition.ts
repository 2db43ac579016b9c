import type { Run } from './run.js';
import type { Value } from './values.js';

/**
 * Computes a call; the target of a method is the first argument, arguments of a variadic function are one list. Undefined if
 * it takes no arguments of these kinds. Counts its work in `run`.
 */
export type Implementation = (run: Run, a: Value, b: Value, c: Value, d: Value) => Value | undefined;

/** A function with its overloads. */
export interface FunctionDefinition {
  /** See `readSignature`. All have the same name. */
  readonly signatures: readonly string[];
  /** One sentence for completion and documentation. */
  readonly documentation: string;
  readonly call: Implementation;
}

/** Defines a function. */
export function define(
  signatures: string | readonly string[],
  documentation: string,
  call: Implementation,
): FunctionDefinition {
  return { signatures: typeof signatures === 'string' ? [signatures] : signatures, documentation, call };
}
