import type { MemoryRule, RuleKind } from './memory.js';
import type { Outcome } from './outcome.js';
import type { LeafLabel } from './trace.js';
import type { Step } from './types.js';

const LETTERS: Readonly<Record<RuleKind, string>> = {
  history: 'h',
  rate: 'r',
  budget: 'b',
  concurrency: 'c',
  loop: 'l',
};

/** Identifies a rule in what is kept for a key. Rules with the same id have one state. */
export function ruleIdOf(
  { kind, fingerprint, isPerControl }: Pick<MemoryRule, 'kind' | 'fingerprint' | 'isPerControl'>,
  controlId: number,
): string {
  return `${LETTERS[kind]}${isPerControl ? controlId : ''}.${fingerprint}`;
}

/** A check with memory, at its place in a control. */
export interface MemoryLeaf {
  readonly rule: MemoryRule;
  readonly ruleId: string;
  readonly controlId: number;
  readonly controlName: string;
  readonly label: LeafLabel;
  /** The outcome of a check that does not match, where only that matters. */
  readonly unmatched: Outcome;
  /** Whether the step lacks data that the selector of the leaf requires. */
  lacksData(step: Step): boolean;
}
