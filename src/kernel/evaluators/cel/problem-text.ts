import type { ExpressionProblem } from '../../../../packages/cel/src/index.js';
import { quoted } from '../../../contract/errors/quoted.js';

/** A problem of an expression as a sentence: where it is, what is wrong, and what may be meant. */
export function problemText({ start, message, suggestion }: ExpressionProblem): string {
  const meant = suggestion === null ? '' : `; did you mean ${quoted(suggestion)}?`;
  return `at character ${start + 1}: ${message}${meant}`;
}
