import { z } from 'zod';
import type { Stage, Step } from '../evaluation/types.js';
import { isObject, type JsonObject, type JsonValue } from '../json/json-value.js';
import { anyJson, freeObject, nullable, oneOf, report, text } from '../validation/fields.js';
import { agentName } from '../validation/names.js';
import { parseInput } from '../validation/parse-input.js';

/** What an evaluation is asked about. */
export interface EvaluateRequest {
  /** Normalised. */
  readonly agentName: string;
  readonly stage: Stage;
  readonly step: Step;
}

/** An agent name that is in its normal form already. */
const NORMAL_AGENT_NAME = /^[a-z0-9:_-]{10,255}$/;

/**
 * Reads an evaluation request, given as parsed JSON whose depth is bounded. Throws a VALIDATION_ERROR with every
 * problem. A well-formed request, which is nearly every one, is read without a schema and allocates its result only.
 */
export function readEvaluateRequest(value: unknown): EvaluateRequest {
  return readWellFormed(value as JsonValue | undefined) ?? parseInput(evaluateRequestSchema, value);
}

function readWellFormed(request: JsonValue | undefined): EvaluateRequest | undefined {
  if (!isObject(request)) return undefined;
  const { agent_name: agentName, step, stage } = request;
  if (typeof agentName !== 'string' || !NORMAL_AGENT_NAME.test(agentName)) return undefined;
  if (stage !== 'pre' && stage !== 'post') return undefined;
  const read = readStep(step);
  return read && { agentName, stage, step: read };
}

function readStep(step: JsonValue | undefined): Step | undefined {
  if (!isObject(step)) return undefined;
  const { type, name, input, output, context } = step as Partial<JsonObject>;
  if (typeof type !== 'string' || type === '' || typeof name !== 'string' || name === '') return undefined;
  if (input === undefined || (type === 'tool' && !isObject(input))) return undefined;
  if (context !== undefined && context !== null && !isObject(context)) return undefined;
  return { type, name, input, output: output ?? null, context: context ?? null };
}

/** Reads a step. */
export const stepSchema: z.ZodType<Step> = z
  .object({
    type: text({ min: 1 }),
    name: text({ min: 1 }),
    input: anyJson(),
    output: anyJson().optional(),
    context: nullable(freeObject()),
  })
  .transform((read, sink): Step => {
    if (read.type === 'tool' && !isObject(read.input)) {
      report(sink, 'value_error', 'the input of a tool step must be an object', read.input);
    }
    return { ...read, output: read.output ?? null, context: read.context ?? null };
  });

/** Reads an evaluation request of a JSON route. */
export const evaluateRequestSchema: z.ZodType<EvaluateRequest> = z
  .object({ agent_name: agentName(), step: stepSchema, stage: oneOf(['pre', 'post']) })
  .transform(({ agent_name, step, stage }) => ({ agentName: agent_name, stage, step }));
