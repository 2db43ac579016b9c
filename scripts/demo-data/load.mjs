/** Loads the demonstration data into a service, and has its agents take steps. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AGENTS } from './agents.mjs';
import { ASKED_STEP, CONTROLS, LATER_VERSIONS, POLICIES, SHADOW } from './controls.mjs';
import { createRandom, STEPS, stepFor } from './steps.mjs';

const DAY_MS = 86_400_000;
/** Most events of one request. */
const MAX_EVENTS = 1000;

/**
 * A caller of the JSON routes. It waits while the service takes no calls; any other refusal is an error with the reply.
 * @param {string} url
 * @param {string | undefined} apiKey
 */
export function createCaller(url, apiKey) {
  const key = apiKey === undefined ? {} : { 'x-api-key': apiKey };
  /** @param {string} method @param {string} path @param {unknown} [body] */
  return async function call(method, path, body) {
    const reply = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { ...key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (reply.ok) return reply.json();
    const problem = await reply.text();
    const waitSeconds = Number(reply.headers.get('retry-after') ?? Number.NaN);
    if (reply.status !== 503 || Number.isNaN(waitSeconds)) {
      throw new Error(`${method} ${path}: ${reply.status} ${problem}`);
    }
    await delay(waitSeconds * 1000);
    return call(method, path, body);
  };
}

/** Keys of the demonstration. Their secrets are thrown away. */
const KEYS = [
  { name: 'reports', role: 'viewer', owner: 'analytics team' },
  { name: 'support desk', role: 'agent', owner: 'support team', agents: ['support-assistant'] },
];
/** Where notifications of the demonstration would be sent. */
const DESTINATION = {
  name: 'on call',
  type: 'webhook',
  url: 'https://hooks.example.com/halts',
  kinds: ['halt.set'],
};
/** Keeps some steps of one agent, so that changes of controls can be tried with them. */
const SAMPLING_RULE = {
  agent_name: 'support-assistant',
  share: 0.5,
  masked_paths: ['input.to'],
  masked_patterns: ['ORD-[0-9]+'],
  retention_hours: 72,
};
/** How often agents are expected to be heard. */
const EXPECTATIONS = {
  'release-engineer': [{ point: 'rest', interval_seconds: 86_400 }],
  'support-assistant': [{ interval_seconds: 900 }],
};
/** Targets of the first control. */
const TARGETS = ['checkout', 'returns'];

/**
 * Agents with what is expected of them, controls with their links, bindings, versions and a shadow, policies, a sampling rule, and keys.
 * @param {ReturnType<typeof createCaller>} call
 */
export async function loadDefinitions(call) {
  for (const agent of AGENTS) await call('POST', '/agents/initAgent', agent);
  const policies = new Map();
  for (const [name, agents] of Object.entries(POLICIES)) {
    const { policy_id } = await call('PUT', '/policies', { name });
    policies.set(name, policy_id);
    for (const agent of agents) await call('POST', `/agents/${agent}/policies/${policy_id}`);
  }
  const ids = new Map();
  for (const { name, data, agents = [], policy } of CONTROLS) {
    const { control_id } = await call('PUT', '/controls', { name, data });
    ids.set(name, control_id);
    for (const agent of agents) await call('POST', `/agents/${agent}/controls/${control_id}`);
    if (policy !== undefined) await call('POST', `/policies/${policies.get(policy)}/controls/${control_id}`);
  }
  const latest = new Map(CONTROLS.map(({ name, data }) => [name, data]));
  for (const { name, change } of LATER_VERSIONS) {
    latest.set(name, change(latest.get(name)));
    await call('PUT', `/controls/${ids.get(name)}/data`, { data: latest.get(name) });
  }
  const [bound] = ids.values();
  for (const target_id of TARGETS) {
    await call('PUT', '/control-bindings', { target_type: 'project', target_id, control_id: bound });
  }
  await call('PUT', `/controls/${ids.get(SHADOW.name)}/shadow`, { data: SHADOW.data });
  await call('POST', '/sampling-rules', SAMPLING_RULE);
  for (const key of KEYS) await call('POST', '/keys', key);
  await call('POST', '/notification-destinations', DESTINATION);
  await call('POST', '/evaluation', ASKED_STEP);
  for (const [agent, expectations] of Object.entries(EXPECTATIONS)) {
    await call('PUT', `/coverage/${agent}/expectations`, { expectations });
  }
}

/**
 * Stores events of past days, as the service would have recorded them: each step is evaluated once, and its result is
 * stored for past times, more often by day than by night.
 * @param {ReturnType<typeof createCaller>} call
 * @param {{ days: number, count: number, now: number }} options
 */
export async function loadHistory(call, { days, count, now }) {
  const random = createRandom(1);
  const checks = new Map();
  for (const taken of STEPS) checks.set(taken, await checksOf(call, taken));
  let events = [];
  let stored = 0;
  while (stored < count) {
    const time = now - random() * days * DAY_MS;
    const hour = new Date(time).getUTCHours();
    if (random() > 0.35 + 0.65 * Math.sin((Math.PI * hour) / 24) ** 2) continue;
    const taken = stepFor(random());
    const trace = { trace_id: randomUUID().replaceAll('-', ''), span_id: randomUUID().slice(0, 16) };
    for (const check of checks.get(taken) ?? []) {
      events.push({
        ...check,
        ...trace,
        control_execution_id: randomUUID(),
        timestamp: new Date(time).toISOString(),
        execution_duration_ms: Math.round(20 + random() * 180) / 100,
      });
      stored += 1;
    }
    if (events.length > MAX_EVENTS - 10) {
      await call('POST', '/observability/events', { events });
      events = [];
    }
  }
  if (events.length > 0) await call('POST', '/observability/events', { events });
}

/** What is recorded of a step: its matches and errors, and now and then a check that did not match. */
async function checksOf(call, { agent, step, stage = 'pre' }) {
  const verdict = await call('POST', '/evaluation', { agent_name: agent, stage, step });
  return [...verdict.matches, ...verdict.errors, ...verdict.non_matches].map((check) => ({
    agent_name: agent,
    control_id: check.control_id,
    control_name: check.control_name,
    check_stage: stage,
    applies_to: step.type === 'llm' ? 'llm_call' : 'tool_call',
    action: check.action,
    matched: check.result.matched,
    confidence: check.result.confidence,
    step_type: step.type,
    step_name: step.name,
    ...(check.result.error === null ? {} : { error_message: check.result.error }),
  }));
}

/**
 * Agents take steps until the signal is aborted.
 * @param {ReturnType<typeof createCaller>} call
 * @param {{ stepsPerSecond: number, signal: AbortSignal }} options
 */
export async function takeSteps(call, { stepsPerSecond, signal }) {
  const random = createRandom(Date.now());
  while (!signal.aborted) {
    const { agent, step, stage = 'pre' } = stepFor(random());
    try {
      await call('POST', '/evaluation', {
        agent_name: agent,
        stage,
        step,
        session_id: `session-${Math.floor(random() * 40)}`,
      });
    } catch (error) {
      if (signal.aborted) return;
      console.error(`a step was not evaluated: ${error instanceof Error ? error.message : error}`);
    }
    await delay((2 * random() * 1000) / stepsPerSecond);
  }
}
