import { expect } from 'vitest';
import type { TestService } from '../../support/service.js';
import type { ServiceSuite } from '../../support/service-suite.js';

export interface Sent {
  readonly name?: string;
  readonly input?: object;
  readonly output?: unknown;
  readonly stage?: 'pre' | 'post';
  readonly session_id?: string;
  readonly step_id?: string;
  readonly step_error?: string;
}

/** What a reply says: its outcome, and what is left of its limits, the smallest share first. */
export interface Seen {
  readonly outcome: string;
  readonly remaining: number[];
  // biome-ignore lint/suspicious/noExplicitAny: a JSON reply of the route
  readonly body: any;
}

export interface Bot {
  readonly name: string;
  /** Ids of its controls, in the order in which they were given. */
  readonly controls: readonly number[];
  send(sent?: Sent): Promise<Seen>;
  /** Outcomes of steps, one after another. */
  outcomes(...sent: readonly Sent[]): Promise<string[]>;
  add(data: object): Promise<number>;
  change(controlId: number, data: object): Promise<void>;
}

export const leaf = (name: string, config: object) => ({
  selector: { path: '*' },
  evaluator: { name, config },
});
export const word = (pattern: string) => ({
  selector: { path: 'input.text' },
  evaluator: { name: 'regex', config: { pattern } },
});
export function control(condition: object, decision = 'deny', more: object = {}): object {
  const action = decision === 'steer' ? { decision, steering_context: { message: 'no' } } : { decision };
  return { execution: 'server', condition, action, ...more };
}
export const rate = (limit: number, more: object = {}) =>
  leaf('rate', { limit, period: '24h', key: ['session'], ...more });
export const budget = (limit: number, more: object = {}) =>
  leaf('budget', { limit, amount: 'input.amount', window: { rolling: '24h' }, key: ['session'], ...more });
export const slots = (limit: number, more: object = {}) =>
  leaf('concurrency', { limit, lease: '24h', key: ['session'], ...more });
/** True once a step `read` has had the event of the kind. */
export const formerly = (kind: string, more: object = {}) =>
  leaf('history', { op: 'formerly', within: '24h', event: { kinds: [kind], step_names: ['read'] }, ...more });

let bots = 0;

/** Registers an agent with controls of its own, whose steps are in the session `s` unless told otherwise. */
export async function botOf({ call, seed }: Kit, ...definitions: readonly object[]): Promise<Bot> {
  bots += 1;
  const name = `remembered-bot-${bots}`;
  const controls: number[] = [];
  await seed.agent(name);
  async function add(data: object): Promise<number> {
    const id = await seed.control(`${name}-control-${controls.length}`, data);
    controls.push(id);
    await seed.link(name, id);
    return id;
  }
  for (const definition of definitions) await add(definition);
  async function send({ name: stepName = 'act', input = {}, output, ...sent }: Sent = {}): Promise<Seen> {
    const step = { type: 'tool', name: stepName, input, ...(output === undefined ? {} : { output }) };
    const request = { agent_name: name, stage: 'pre', session_id: 's', accepts: ['steer'], step, ...sent };
    const { status, body } = await call('POST', '/api/v1/evaluation', request);
    expect({ status, body }).toMatchObject({ status: 200 });
    const limits: { remaining: number }[] = body.limits ?? [];
    return { outcome: body.outcome, remaining: limits.map(({ remaining }) => remaining), body };
  }
  return {
    name,
    controls,
    send,
    async outcomes(...sent) {
      const seen: string[] = [];
      for (const each of sent) seen.push((await send(each)).outcome);
      return seen;
    },
    add,
    async change(controlId, data) {
      const { status, body } = await call('PUT', `/api/v1/controls/${controlId}/data`, { data });
      expect({ status, body }).toMatchObject({ status: 200 });
    },
  };
}

/** What a sentence is tested with. */
export interface Kit extends ServiceSuite {
  /** Starts another service on the same database, which is stopped after the test. */
  another(environment: Record<string, string>): Promise<Kit>;
  readonly service: ServiceSuite['service'] & TestService;
}

/** Tests by the sentence of docs/memory.md that each of them holds. */
export type Sentences = Readonly<Record<string, (kit: Kit) => Promise<void>>>;
