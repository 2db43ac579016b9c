import type { Stage } from '../../../../src/kernel/core/types.js';
import {
  compareNumbers,
  isIntegral,
  isNumber,
  isObject,
  type JsonValue,
  jsonEqual,
} from '../../../exact-json/src/index.js';
import type { ForeignStep } from '../steps/adapter-evaluations.js';
import { type Members, textOf } from '../steps/members.js';
import type { WebhookStep } from '../steps/webhook.js';

/** Interception points (section 3 of the specification). */
const POINTS = [
  'agent_startup',
  'input',
  'pre_model_call',
  'post_model_call',
  'pre_tool_call',
  'post_tool_call',
  'output',
  'agent_shutdown',
] as const;
type Point = (typeof POINTS)[number];

/** The part of a context that is the target, by its point (section 4.3). */
const TARGETS: { readonly [Name in Point]: readonly string[] } = {
  agent_startup: ['agent_init'],
  input: ['input'],
  pre_model_call: ['messages'],
  post_model_call: ['response'],
  pre_tool_call: ['tool_call', 'args'],
  post_tool_call: ['tool_result', 'value'],
  output: ['output'],
  agent_shutdown: ['summary'],
};

/** Hosts wait for five seconds, unless they say otherwise (section 7). */
const TIMEOUT_MS = 4_500;
/** Longest error of a step, in UTF-16 code units. */
const MAX_ERROR = 4_096;
const VERSION = 'agent-hooks/0.1';
const FRAMEWORK = /^[a-z0-9_-]+$/;
/** RFC 3339, in UTC. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|\+00:00)$/;

/** The step of an agent context. Throws a VALIDATION_ERROR that names the member that is wrong. */
export function stepOfContext(context: Members): WebhookStep {
  const version = context.text('spec');
  if (version !== VERSION) context.refuse('spec', `must be ${VERSION}`);
  const point = pointOf(context);
  checkEnvelope(context);
  checkIntegers(context.all, (path, message) => context.refuse(path, message));
  const target = targetOf(context, point);
  const agent = context.object('agent');
  const trace = context.optionalObject('trace');
  return {
    ...partsOf(context, point, target),
    context: Object.fromEntries(Object.entries(context.all).filter(([name]) => !OF_STEP.has(name))),
    protocol: {
      agent: agent.text('id'),
      session: context.object('session').text('id'),
      step_id: context.optionalObject('tool_call')?.optionalText('id') ?? textOf(context.all.request_id),
      traceparent: traceparentOf(trace),
    },
    timeoutMs: TIMEOUT_MS,
  };
}

/** Members that are the input and the output of a step, not its context. */
const OF_STEP = new Set(['target', 'agent_init', 'input', 'response', 'tool_result', 'output', 'summary']);

function pointOf(context: Members): Point {
  const name = context.text('interception_point');
  const point = POINTS.find((one) => one === name);
  return (
    point ?? context.refuse('interception_point', `must be one of: ${POINTS.join(', ')}`, 'literal_error')
  );
}

function checkEnvelope(context: Members): void {
  if (!TIMESTAMP.test(context.text('timestamp')))
    context.refuse('timestamp', 'must be a time of RFC 3339, in UTC');
  const { sequence = null } = context.all;
  if (!isNumber(sequence) || !isIntegral(sequence) || compareNumbers(sequence, 0) < 0)
    context.refuse('sequence', 'must be an integer from 0');
  const agent = context.object('agent');
  if (!FRAMEWORK.test(agent.text('framework')))
    agent.refuse('framework', `must match ${FRAMEWORK.source}`, 'string_pattern_mismatch');
}

/**
 * Contexts cross languages: a host whose numbers are doubles has such an integer rounded, and runs something else than what was
 * evaluated (sections 4.4 and 10.2). Numbers with an exponent, such as 1e+21, are doubles for every host.
 */
function checkIntegers(value: JsonValue, refuse: (path: string, message: string) => never, path = ''): void {
  if (typeof value === 'bigint' && (value > MAX || value < -MAX))
    refuse(path, 'must be at most 2^53 - 1 in size; send a larger integer as a string');
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkIntegers(item, refuse, `${path}[${index}]`);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value))
      checkIntegers(member, refuse, path === '' ? name : `${path}.${name}`);
  }
}

const MAX = Number.MAX_SAFE_INTEGER;

/** What the host uses next must be what is evaluated: the target, and the part of the context that it is. */
function targetOf(context: Members, point: Point): JsonValue {
  const path = TARGETS[point];
  const [last = '', ...parents] = [...path].reverse();
  const parent = parents.reduceRight((members, name) => members.object(name), context);
  const part = parent.all[last];
  if (part === undefined) return parent.refuse(last, 'Field required', 'missing');
  const { target } = context.all;
  if (target === undefined) return context.refuse('target', 'Field required', 'missing');
  if (!jsonEqual(target, part)) context.refuse('target', `must be the same as ${path.join('.')}`);
  return target;
}

type Parts = Pick<ForeignStep, 'type' | 'name' | 'input' | 'output' | 'error' | 'accepts'> & {
  readonly stage: Stage;
};

/** The input or the output is always the target, so that what it is changed to is a transform of `$target`. */
function partsOf(context: Members, point: Point, target: JsonValue): Parts {
  const accepts = ['steer', 'ask', 'modify'] as const;
  const afterwards = { stage: 'post', output: target, accepts: ['steer', 'modify'] } as const;
  switch (point) {
    // A transform is forbidden at both, and the end of a session cannot wait for an approval.
    case 'agent_startup': {
      context.object('agent_init').texts('tools_registered');
      return { stage: 'pre', type: 'agent', name: 'startup', input: target, accepts: ['steer', 'ask'] };
    }
    case 'agent_shutdown':
      return { stage: 'pre', type: 'agent', name: 'shutdown', input: target, accepts: ['steer'] };
    case 'input':
      return {
        stage: 'pre',
        type: 'input',
        name: context.object('input').text('role'),
        input: target,
        accepts,
      };
    case 'output':
      return { ...afterwards, type: 'output', name: 'output', input: {} };
    case 'pre_model_call':
      context.objects('messages');
      return { stage: 'pre', type: 'llm', name: context.object('model').text('id'), input: target, accepts };
    case 'post_model_call': {
      context.object('response').list('tool_calls');
      const input = context.all.messages ?? {};
      return { ...afterwards, type: 'llm', name: context.object('model').text('id'), input };
    }
    case 'pre_tool_call': {
      const call = toolCall(context);
      return { stage: 'pre', type: 'tool', name: call.text('name'), input: call.object('args').all, accepts };
    }
    case 'post_tool_call': {
      const call = toolCall(context);
      const failed = context.object('tool_result').all.is_error === true;
      const error = failed ? (textOf(target) ?? '').slice(0, MAX_ERROR) : undefined;
      return { ...afterwards, type: 'tool', name: call.text('name'), input: call.object('args').all, error };
    }
  }
}

function toolCall(context: Members): Members {
  const call = context.object('tool_call');
  call.text('id');
  return call;
}

function traceparentOf(trace: Members | undefined): string | undefined {
  const traceId = textOf(trace?.all.trace_id);
  const spanId = textOf(trace?.all.span_id);
  return traceId === undefined || spanId === undefined ? undefined : `00-${traceId}-${spanId}-00`;
}
