import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type RestReply, restClient } from '../support/http.js';

/** Members that the Python client cannot do without; it takes others when they are there. */
const RESULT = z.object({
  matched: z.boolean(),
  confidence: z.number(),
  message: z.string().nullish(),
  error: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
const ITEM = z.object({
  control_id: z.int(),
  control_name: z.string(),
  action: z.string(),
  result: RESULT,
  control_execution_id: z.string().nullish(),
  steering_context: z.object({ message: z.string() }).nullish(),
});
type Item = z.infer<typeof ITEM>;
const VERDICT = z.object({
  is_safe: z.boolean(),
  confidence: z.number(),
  matches: z.array(ITEM).nullish(),
  errors: z.array(ITEM).nullish(),
  non_matches: z.array(ITEM).nullish(),
});
const LEAF = z.object({
  selector: z.object({ path: z.string() }),
  evaluator: z.object({ name: z.string() }),
});
const CONTROL = z.object({
  id: z.int(),
  name: z.string(),
  control: z.object({
    execution: z.string(),
    scope: z
      .object({ stages: z.array(z.string()).nullish(), step_types: z.array(z.string()).nullish() })
      .nullish(),
    condition: z.record(z.string(), z.unknown()),
  }),
});
type CachedControl = z.infer<typeof CONTROL>;
const REGISTERED = z.object({ created: z.boolean(), controls: z.array(CONTROL) });

export interface Step {
  readonly type: string;
  readonly name: string;
  readonly input: unknown;
  readonly output?: unknown;
}

/** How the decorator ends. */
export type Outcome =
  | { readonly kind: 'passed'; readonly asked: boolean }
  | { readonly kind: 'denied' | 'steered'; readonly message: string }
  | { readonly kind: 'blocked'; readonly why: string };

export interface PythonClientOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly agent: string;
  readonly steps: readonly object[];
  /** Waits before another attempt. */
  pause(attempt: number): Promise<void>;
}

const EVENT_BATCH = 100;
const EVENT_ATTEMPTS = 3;

/** Does what the Python client does around each step of an agent, in the same order, over the same calls. */
export function pythonClient(options: PythonClientOptions) {
  const key = { 'x-api-key': options.apiKey };
  const base = options.url.replace(/\/$/, '');
  const call = restClient(base, {
    ...key,
    'x-service-client': 'python',
    'x-service-client-version': '7.4.1',
  });
  // The sender of events is another HTTP client, without the headers above.
  const send = restClient(base, key);
  let controls: readonly CachedControl[] = [];
  let pending: object[] = [];

  const demand = (reply: RestReply): RestReply => {
    if (reply.status < 200 || reply.status > 299) throw new HttpStatusError(reply);
    return reply;
  };

  /** Registers the agent; statuses of failure are the caller's, as in the decorator's setup. */
  async function start(): Promise<{ created: boolean; version: string | null }> {
    const health = await call('GET', '/health');
    z.object({ status: z.string() }).parse(health.body);
    const reply = await call('POST', '/api/v1/agents/initAgent', {
      agent: { agent_name: options.agent, agent_created_at: new Date().toISOString() },
      steps: options.steps,
      conflict_mode: 'overwrite',
    });
    const registered = REGISTERED.parse(demand(reply).body);
    controls = registered.controls;
    return { created: registered.created, version: reply.headers.get('x-service-server-version') };
  }

  /** What happens every minute in the background. */
  async function refresh(): Promise<readonly number[]> {
    const path = `/api/v1/agents/${options.agent}/controls?rendered_state=rendered&enabled_state=enabled`;
    const { body } = demand(await call('GET', path));
    controls = z.object({ controls: z.array(CONTROL) }).parse(body).controls;
    return controls.map(({ id }) => id);
  }

  /** Checks a step; every match, error and non-match becomes an event. */
  async function check(stage: 'pre' | 'post', step: Step): Promise<Outcome> {
    if (!controls.some(({ control }) => applies(control, stage, step)))
      return { kind: 'passed', asked: false };
    const trace = { trace_id: randomBytes(16).toString('hex'), span_id: randomBytes(8).toString('hex') };
    const reply = await call(
      'POST',
      '/api/v1/evaluation',
      { agent_name: options.agent, step, stage },
      { 'x-trace-id': trace.trace_id, 'x-span-id': trace.span_id },
    );
    if (reply.status < 200 || reply.status > 299) return { kind: 'blocked', why: `status ${reply.status}` };
    const verdict = VERDICT.parse(reply.body);
    const { matches, errors, non_matches: nonMatches } = verdict;
    for (const item of [...(matches ?? []), ...(errors ?? []), ...(nonMatches ?? [])]) {
      pending.push(eventOf(item, stage, step, trace));
    }
    const failed = errors?.[0];
    if (failed !== undefined) return { kind: 'blocked', why: failed.result.error ?? failed.control_name };
    return verdict.is_safe ? { kind: 'passed', asked: true } : refusal(matches ?? []);
  }

  function eventOf(item: Item, stage: string, step: Step, trace: object): object {
    const cached = controls.find(({ id }) => id === item.control_id);
    const leaf = cached === undefined ? undefined : firstLeaf(cached.control.condition);
    return {
      ...trace,
      control_execution_id: item.control_execution_id ?? randomUUID(),
      agent_name: options.agent,
      control_id: item.control_id,
      control_name: item.control_name,
      check_stage: stage,
      applies_to: step.type === 'tool' ? 'tool_call' : 'llm_call',
      action: item.action,
      matched: item.result.matched,
      confidence: item.result.confidence,
      timestamp: new Date().toISOString(),
      ...(item.result.error == null ? {} : { error_message: item.result.error }),
      ...(leaf === undefined
        ? {}
        : { evaluator_name: leaf.evaluator.name, selector_path: leaf.selector.path }),
      metadata: item.result.metadata ?? {},
    };
  }

  /** Sends what is pending, a batch at a time. Returns how many events are still pending. */
  async function flush(): Promise<number> {
    const batches: object[][] = [];
    for (let start = 0; start < pending.length; start += EVENT_BATCH) {
      batches.push(pending.slice(start, start + EVENT_BATCH));
    }
    pending = [];
    for (const batch of batches) if (!(await sendBatch(batch))) pending.push(...batch);
    return pending.length;
  }

  /** Only 202 is success, and only 401 is final. */
  async function sendBatch(events: readonly object[]): Promise<boolean> {
    for (let attempt = 1; attempt <= EVENT_ATTEMPTS; attempt += 1) {
      const status = await send('POST', '/api/v1/observability/events', { events }).then(
        (reply) => reply.status,
        () => 0,
      );
      if (status === 202) return true;
      if (status === 401) return false;
      if (attempt < EVENT_ATTEMPTS) await options.pause(attempt);
    }
    return false;
  }

  return { call, start, refresh, check, flush };
}

/** A status of failure, raised to the user. */
export class HttpStatusError extends Error {
  constructor(readonly reply: RestReply) {
    super(`status ${reply.status}: ${JSON.stringify(reply.body)}`);
  }
}

function applies({ execution, scope }: CachedControl['control'], stage: string, step: Step): boolean {
  const { stages, step_types: types } = scope ?? {};
  return (
    execution === 'server' &&
    (stages ?? [stage]).includes(stage) &&
    (types ?? [step.type]).includes(step.type)
  );
}

/** The first deny decides, else the first steer. */
function refusal(matches: readonly Item[]): Outcome {
  const denied = matches.find(({ action }) => action === 'deny');
  if (denied !== undefined) return { kind: 'denied', message: denied.result.message ?? '' };
  const steered = matches.find(({ action }) => action === 'steer');
  if (steered === undefined) return { kind: 'blocked', why: 'unsafe without a match' };
  return { kind: 'steered', message: steered.steering_context?.message ?? steered.result.message ?? '' };
}

function firstLeaf(node: Record<string, unknown>): z.infer<typeof LEAF> | undefined {
  const leaf = LEAF.safeParse(node);
  if (leaf.success) return leaf.data;
  const children = [node.and, node.or, node.not]
    .flat()
    .filter((child) => child !== null && typeof child === 'object');
  for (const child of children) {
    const found = firstLeaf(child as Record<string, unknown>);
    if (found !== undefined) return found;
  }
  return undefined;
}
