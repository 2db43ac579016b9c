import { compilePattern, estimateCost, MAX_CLASS_WORK } from '../../../packages/linear-text/src/index.js';
import { MAX_CONDITION_COMPILE_COST } from '../../kernel/core/condition-view.js';

/** Validates patterns, as long as their total cost stays within the limit of one condition. */
export interface PatternBudget {
  /** The problem of a pattern; null when it is valid, and for every pattern after the one that exceeds the limit. */
  problemOf(pattern: string): string | null;
}

/** A budget for the patterns of one template, or of its values: each pattern alone may cost a tenth of a second. */
export function createPatternBudget(): PatternBudget {
  let instructions = 0;
  let classWork = 0;
  let isSpent = false;
  return {
    problemOf(pattern) {
      if (isSpent) return null;
      const cost = estimateCost(pattern, false);
      instructions += cost.instructions;
      classWork += cost.classWork;
      if (instructions > MAX_CONDITION_COMPILE_COST || classWork > MAX_CLASS_WORK) {
        isSpent = true;
        return 'the patterns cost too much to compile together';
      }
      try {
        compilePattern(pattern);
        return null;
      } catch (error) {
        return error instanceof Error ? error.message : 'invalid pattern';
      }
    },
  };
}
