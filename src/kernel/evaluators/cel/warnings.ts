import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { ConfigUse, ConfigWarning } from '../../core/evaluator.js';
import { readExpression, rootOf } from './compiled-expressions.js';

/** Variables that every step has, without members. */
const ALWAYS_THERE = new Set(['type', 'name', 'stage', 'now']);

/** Warnings about a `cel` configuration. */
export function* celWarnings(
  { expression, on_missing }: JsonObject,
  { beforeSteps }: ConfigUse,
): Generator<ConfigWarning, void> {
  if (typeof expression !== 'string') return;
  const reading = readExpression(expression);
  if ('problems' in reading) return;
  const { problems, reads, constant } = reading.compiled;
  for (const { code } of problems) {
    // Terms that exclude each other, or of which one is true, decide nothing about a step that lacks what they read.
    const missing = constant === null ? on_missing : null;
    if (code === 'always_true' && missing !== 'no_match') {
      yield {
        code: 'always_matches',
        path: ['expression'],
        message: 'the expression is true for every step',
      };
    } else if (code === 'always_false' && missing !== 'match') {
      yield { code: 'never_matches', path: ['expression'], message: 'the expression is true for no step' };
    }
  }
  if (beforeSteps && reads.some((read) => rootOf(read) === 'output')) {
    const message =
      'the expression reads the output, which a step does not have yet at the stage pre, the only one of the scope';
    yield { code: 'output_before_step', path: ['expression'], message };
  }
  if (on_missing === undefined || on_missing === null) return;
  if (reads.every((read) => ALWAYS_THERE.has(rootOf(read)) || read === 'agent.name')) {
    const message = 'the expression reads no member that a step may lack';
    yield { code: 'no_effect', path: ['on_missing'], message };
  }
}
