/** Clients that change things and report events, and keep a ledger of everything that was acknowledged. */
import { randomUUID } from 'node:crypto';

const WRITERS = 3;
const EVENTS_OF_A_JOB = 10;
/** The watched agent gets the control of one job in so many. */
const WATCHED_EVERY = 5;
export const WATCHED_AGENT = 'drill-watched-agent';

const deniesWord = (word) => ({
  execution: 'server',
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: word } } },
  action: { decision: 'deny' },
});

const eventOf = (id, controlId) => ({
  control_execution_id: id,
  trace_id: 'drill',
  span_id: 'drill',
  agent_name: WATCHED_AGENT,
  control_id: controlId,
  control_name: 'reported',
  check_stage: 'pre',
  applies_to: 'llm_call',
  action: 'observe',
  matched: true,
  confidence: 1,
});

/** Sends requests to the JSON routes; rejects with what was refused. */
export function createSender(url) {
  return async (method, path, body) => {
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text;
  };
}

/**
 * Creates the ledger and its clients. They write between `start` and `stop`; errors count only while `mayFail` was not
 * called.
 * @returns {import('./drill.mjs').Load}
 */
export function createLoad(url) {
  const send = createSender(url);
  const ledger = [];
  const errors = [];
  let jobs = 0;
  let isOn = false;
  let failuresCount = true;
  let running = Promise.resolve();

  async function link(agent, id) {
    await send('POST', `/api/v1/agents/${agent}/controls/${id}`);
    ledger.push({ kind: 'link', agent, id });
  }

  async function agentWithControl(agent, name, word) {
    await send('POST', '/api/v1/agents/initAgent', { agent: { agent_name: agent } });
    ledger.push({ kind: 'agent', agent });
    const created = await send('PUT', '/api/v1/controls', { name, data: deniesWord(word) });
    const id = JSON.parse(created).control_id;
    ledger.push({ kind: 'control', id, name });
    await link(agent, id);
    return id;
  }

  async function job() {
    jobs += 1;
    const number = jobs;
    const id = await agentWithControl(`drill-agent-${number}`, `drill-control-${number}`, `word-${number}`);
    if (number % WATCHED_EVERY === 0) await link(WATCHED_AGENT, id);
    const ids = Array.from({ length: EVENTS_OF_A_JOB }, () => randomUUID());
    const events = ids.map((one) => eventOf(one, id));
    const { status } = JSON.parse(await send('POST', '/api/v1/observability/events', { events }));
    if (status !== 'queued') throw new Error(`events: ${status}`);
    for (const one of ids) ledger.push({ kind: 'event', id: one });
  }

  async function write() {
    while (isOn) {
      try {
        await job();
      } catch (error) {
        if (failuresCount) errors.push(String(error));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  return {
    ledger,
    errors,
    seed: () => agentWithControl(WATCHED_AGENT, 'drill-no-forbidden', 'forbidden'),
    start() {
      isOn = true;
      failuresCount = true;
      running = Promise.all(Array.from({ length: WRITERS }, write));
    },
    mayFail() {
      failuresCount = false;
    },
    async stop() {
      isOn = false;
      await running;
    },
  };
}
