/** A service for the scripts of frameworks: agents whose controls deny, steer, ask, change and redact, and a person. */
import { restClient } from '../support/http.js';
import { createKeysFile } from '../support/keys-file.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

/** The agent of guarded tools alone, and the one of the adapters. */
const AGENT = 'billing-bot-01';
const ADAPTERS_AGENT = 'framework-bot-01';
/** The key of the agents. */
export const AGENT_KEY = 'agent-key';
const KEYS = [
  { name: 'boss', key: 'admin-key', role: 'admin' },
  { name: 'bot', key: AGENT_KEY, role: 'agent' },
  { name: 'ann', key: 'ann-key', role: 'approver' },
];

const control = (scope: object, path: string, pattern: string, action: object = {}) => ({
  execution: 'server',
  scope,
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision: 'deny', ...action },
});
const redacting = (path: string, replacement: string) => ({
  modify: [{ path, replace: 'matches', with: replacement }],
});
const of = (type: string, stage: string) => ({ step_types: [type], stages: [stage] });

const ADAPTERS_CONTROLS = {
  'no-cards': control(of('tool', 'pre'), 'input', '\\b\\d{16}\\b'),
  'no-hurry': control(of('tool', 'pre'), 'input', 'urgent', {
    decision: 'steer',
    steering_context: { message: 'Write it without haste.', required_actions: ['rewrite'] },
  }),
  'no-passwords': control(of('tool', 'pre'), 'input', 'password \\w+', redacting('input', '[hidden]')),
  'no-table-rows': control(of('tool', 'post'), 'output', 'SECRET-\\d+'),
  'no-keys': control(of('tool', 'post'), 'output', 'sk-[a-z]+', redacting('output', '[redacted]')),
  'ask-about-payments': control({ step_names: ['pay'], stages: ['pre'] }, 'name', '.', {
    approval: { approvers: ['role:approver'] },
  }),
  'no-forbidden-words': control(of('llm', 'pre'), 'input', 'FORBIDDEN'),
  'no-ssn': control(of('llm', 'pre'), 'input', 'ssn \\d+', redacting('input', '[ssn]')),
  'no-codes': control(of('llm', 'post'), 'output', 'launch code \\d{6}'),
  'no-keys-in-answers': control(of('llm', 'post'), 'output', 'sk-[a-z]+', redacting('output', '[redacted]')),
};

const CONTROLS = {
  // That of the README of the service.
  'no-card-numbers': control(of('tool', 'pre'), 'input.text', '\\b\\d{16}\\b'),
  'no-haste': control({}, 'input.text', 'urgent', {
    decision: 'steer',
    steering_context: { message: 'Write it without haste.' },
  }),
  'no-rows': control({}, 'output', 'SECRET-\\d+'),
};

/** Starts a service with keys for the scripts. */
export async function startFrameworkService(): Promise<TestService> {
  const keys = createKeysFile(KEYS);
  const service = await startService(keys.environment);
  const seed = seeder(restClient(service.url, { 'x-api-key': 'admin-key' }));
  for (const [agent, controls] of [
    [AGENT, CONTROLS],
    [ADAPTERS_AGENT, ADAPTERS_CONTROLS],
  ] as const) {
    await seed.agent(agent);
    for (const [name, data] of Object.entries(controls))
      await seed.link(agent, await seed.control(name, data));
  }
  return {
    ...service,
    async stop() {
      await service.stop();
      keys.remove();
    },
  };
}
