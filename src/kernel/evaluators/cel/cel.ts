import { z } from 'zod';
import { type CompiledExpression, MAX_EXPRESSION_LENGTH } from '../../../../packages/cel/src/index.js';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { shorten } from '../../../../packages/linear-text/src/index.js';
import { nullable, oneOf, report, text } from '../../../contract/input/fields.js';
import type { CheckCall, CompiledEvaluator, Evaluator, RequiredStepText } from '../../core/evaluator.js';
import type { AgentReading, EvaluatorResult } from '../../core/types.js';
import { agentReading, problemText, readExpression } from './compiled-expressions.js';
import { celDemands, celForegone, requiredStepTexts } from './foregone.js';
import { evaluateFor, traceFor } from './step-values.js';
import { celWarnings } from './warnings.js';

/** What a member that the step lacks makes of a check. */
const ON_MISSING = ['error', 'no_match', 'match'] as const;
type OnMissing = (typeof ON_MISSING)[number];

/** Longest quotation of an expression in a message, in characters; the metadata have all of it. */
const QUOTED_EXPRESSION_LENGTH = 200;
/** Compiled instructions equivalent in CPU time to compiling a short expression, and to each character of it (2.6 µs). */
const CONFIG_COST = 500;
const COST_PER_CHARACTER = 10;
/** Bytes of a configuration besides its compiled expression. */
const OWN_BYTES = 1_500;

interface CelConfig {
  readonly expression: string;
  readonly onMissing: OnMissing;
  readonly compiled: CompiledExpression;
}

const configSchema = z
  .object({
    expression: text().meta({
      description: `CEL expression with a boolean result. At most ${MAX_EXPRESSION_LENGTH} characters.`,
    }),
    on_missing: nullable(oneOf(ON_MISSING)).meta({
      description: 'Result when a member that decides is missing: "error" (default), "no_match" or "match".',
    }),
  })
  .transform(({ expression, on_missing = 'error' }, sink): CelConfig => {
    const reading = readExpression(expression);
    if ('compiled' in reading) return { expression, onMissing: on_missing, compiled: reading.compiled };
    for (const problem of reading.problems) {
      report(sink, 'value_error', problemText(problem), expression, ['expression']);
    }
    return z.NEVER;
  });

/** Evaluates an expression over the step. Results are created once, but for errors. */
export const celEvaluator: Evaluator = {
  name: 'cel',
  version: '1.0.0',
  description: 'Evaluates an expression in the Common Expression Language (CEL) over the step.',
  requiresApiKey: false,
  timeoutMs: 10_000,
  configSchema,
  configJsonSchema: z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject,
  warningsFor: celWarnings,
  foregone: celForegone,
  demands: celDemands,
  compileCost: ({ expression }) =>
    typeof expression !== 'string' || expression.length > MAX_EXPRESSION_LENGTH
      ? 0
      : CONFIG_COST + COST_PER_CHARACTER * expression.length,
  compile(config): CompiledEvaluator {
    const { expression, onMissing, compiled } = configSchema.parse(config);
    return createCheck(expression, onMissing, compiled);
  },
};

/** A compiled configuration. An object of functions, because what measures and counts checks copies its members. */
function createCheck(
  expression: string,
  onMissing: OnMissing,
  compiled: CompiledExpression,
): CompiledEvaluator {
  const metadata: JsonObject = { expression };
  const result = (matched: boolean, message: string): EvaluatorResult => {
    return { matched, confidence: 1, message, metadata, error: null };
  };
  const failed = (error: string): EvaluatorResult => {
    return { matched: false, confidence: 0, message: null, metadata, error };
  };
  const quoted = shorten(expression.trim(), QUOTED_EXPRESSION_LENGTH);
  const isTrue = result(true, `${quoted} is true`);
  const isFalse = result(false, `${quoted} is false`);
  const requires = requiredStepTexts(compiled);
  const readsAgent = agentReading(compiled.reads);
  /** The last result for a missing member: it is nearly always the same member. */
  let missing: { readonly path: string; readonly result: EvaluatorResult } | null = null;

  const withoutMember = (path: string): EvaluatorResult => {
    if (missing?.path === path) return missing.result;
    const made =
      onMissing === 'error'
        ? failed(`${path} is missing`)
        : result(onMissing === 'match', `${path} is missing, which counts as ${OUTCOMES[onMissing]}`);
    missing = { path, result: made };
    return made;
  };
  return {
    usual: isFalse,
    requires,
    readsAgent,
    sizeBytes: OWN_BYTES + 4 * expression.length + compiled.sizeBytes,
    evaluate(data, call) {
      // First of all, so that a control that the core leaves out has the result that it would have here.
      if (requires.length > 0 && !isSatisfied(requires, call)) return isFalse;
      const lack = readsAgent === 'nothing' ? null : unknownOfAgent(readsAgent, call);
      if (lack !== null) return failed(lack);
      const given = evaluateFor(compiled, data, call);
      if (!given.ok) return given.missing === null ? failed(given.error) : withoutMember(given.missing);
      if (given.value === true) return isTrue;
      return given.value === false ? isFalse : failed('the result is not a boolean');
    },
    trace: (data, call) =>
      traceFor(compiled, data, call).map(({ start, end, value, error }) => ({
        start,
        end,
        text: expression.slice(start, end),
        value,
        error,
      })),
  };
}

/** What a check reads of the agent and does not know; null without such. */
function unknownOfAgent(reading: AgentReading, { agent }: CheckCall): string | null {
  if (agent === null) return 'the agent is not known here';
  return reading === 'metadata' && agent.metadata === null
    ? 'the metadata of the agent are not known here'
    : null;
}

const OUTCOMES = { match: 'a match', no_match: 'no match' } as const;

function isSatisfied(requires: readonly RequiredStepText[], { step, stage }: CheckCall): boolean {
  for (const { member, texts } of requires) {
    if (!texts.includes(member === 'stage' ? stage : step[member])) return false;
  }
  return true;
}
