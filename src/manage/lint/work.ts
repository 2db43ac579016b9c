import { finding, type LintFinding, type LintRule } from './lint-rules.js';

/** Most findings that are listed. */
export const MAX_FINDINGS = 10_000;

/** A bounded amount of work for a rule. What does not fit is told once. */
export interface WorkLimit {
  /** Whether there is room for so much more work. */
  spend(amount: number): boolean;
  /** Says that something was left out. */
  leaveOut(document: number): void;
  findings(): readonly LintFinding[];
}

/** `rule` and `what` say what was left out beyond the limit. */
export function createWorkLimit(most: number, rule: LintRule, what: string): WorkLimit {
  let left = most;
  let omitted: number | null = null;
  let count = 0;
  return {
    spend(amount) {
      left -= amount;
      return left >= 0;
    },
    leaveOut(document) {
      omitted ??= document;
      count += 1;
    },
    findings() {
      if (omitted === null) return [];
      const message = `${rule} is incomplete: for ${count} ${count === 1 ? 'document' : 'documents'}, this one first, ${what}`;
      return [finding('incomplete-lint', omitted, '', message)];
    },
  };
}
