import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedClientExample } from '../support/client-example.js';
import { restClient } from '../support/http.js';
import { createKeysFile, type TestKeysFile } from '../support/keys-file.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { buildGo, NO_GO, readGo, run } from './go-program.js';
import { approvePayments } from './payments.js';
import { NO_PYTHON, PYTHON, runPython } from './python-process.js';

const KEYS = [
  { name: 'boss', key: 'admin-key', role: 'admin' },
  { name: 'bot', key: 'agent-key', role: 'agent' },
  { name: 'ann', key: 'ann-key', role: 'approver' },
];
const AGENT = 'python-bot-01';
const control = (scope: object, path: string, pattern: string, action: object = {}) => ({
  execution: 'server',
  scope,
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision: 'deny', ...action },
});
const redacted = (path: string) => ({
  modify: [{ path, replace: 'matches', with: '[redacted]' }],
});
const paying = control({ step_names: ['pay'], stages: ['pre'] }, 'name', '.', {
  approval: { approvers: ['role:approver'] },
});
const limited = {
  execution: 'server',
  condition: {
    selector: { path: '*' },
    evaluator: { name: 'rate', config: { limit: 2, period: '24h', key: ['session'] } },
  },
  action: { decision: 'deny' },
};
const oneAtATime = {
  execution: 'server',
  condition: {
    selector: { path: '*' },
    evaluator: { name: 'concurrency', config: { limit: 1, key: ['session'], lease: '1h' } },
  },
  action: { decision: 'deny' },
};
const steering = { message: 'Be precise.', required_actions: ['name the customer'] };

const GO = readGo();
const PYTHON_TITLE =
  PYTHON === undefined
    ? `the tests of the Python client ${NO_PYTHON}`
    : 'the tests of the Python client pass, all of them';
const GO_TITLE =
  GO === undefined
    ? `the generated Go package ${NO_GO}`
    : 'the generated Go package compiles, and evaluates steps';

describe('clients in other languages on sqlite', () => {
  let keys: TestKeysFile;
  let service: TestService;
  let stopDeciding: () => void = () => {};
  beforeAll(async () => {
    keys = createKeysFile(KEYS);
    service = await startService({ ...keys.environment });
    const admin = restClient(service.url, { 'x-api-key': 'admin-key' });
    const seed = seeder(admin);
    await seedClientExample(service.url, { 'x-api-key': 'admin-key' });
    for (const agent of [
      AGENT,
      'watched-bot-01',
      'unchecked-bot-01',
      'session-bot-01',
      'slot-bot-01',
      'paying-bot-02',
    ])
      await seed.agent(agent);
    const controls = {
      'python-no-bad': denyWord('\\bbad\\b', { scope: { stages: ['pre'] } }),
      'python-precise': denyWord('vague', { action: { decision: 'steer', steering_context: steering } }),
      'python-no-leak': control({ stages: ['post'] }, 'output', 'secret-\\d+'),
      'python-number': control({ step_names: ['count'] }, 'input.n', '^9007199254740993$'),
      'python-secrets': control({ stages: ['pre'] }, 'input.text', 'sk-[a-z]+', redacted('input.text')),
      'python-outputs': control({ stages: ['post'] }, 'output.text', 'sk-[a-z]+', redacted('output.text')),
      'python-payments': paying,
    };
    for (const [name, data] of Object.entries(controls))
      await seed.link(AGENT, await seed.control(name, data));
    await seed.link('slot-bot-01', await seed.control('one-at-a-time', oneAtATime));
    await seed.link('session-bot-01', await seed.control('two-mails', limited));
    await seed.link('paying-bot-02', await seed.control('other-payments', paying));
    stopDeciding = approvePayments(restClient(service.url, { 'x-api-key': 'ann-key' }), [AGENT]);
  });
  afterAll(async () => {
    stopDeciding();
    await service.stop();
    keys.remove();
  });

  it.runIf(PYTHON !== undefined)(PYTHON_TITLE, async () => {
    const env = {
      CONTROL_ENFORCEMENT_URL: service.url,
      CONTROL_ENFORCEMENT_API_KEY: 'agent-key',
      CONTROL_ENFORCEMENT_ADMIN_KEY: 'admin-key',
    };
    const { code, errors } = await runPython(['-m', 'unittest', 'discover', '-v'], { env });
    expect(errors.slice(-6_000)).toMatch(/\nRan \d+ tests? in .*\n\nOK\n$/);
    expect(code).toBe(0);
  });

  it.runIf(GO !== undefined)(GO_TITLE, async () => {
    const program = await buildGo(GO ?? '');
    const steps = ['hello', 'bad'].map((text) =>
      JSON.stringify({ type: 'tool', name: 'send_mail', input: { text } }),
    );
    const { output } = await run(program, [`${service.host}:${service.port}`, 'agent-key', AGENT, ...steps]);
    expect(output).toMatch(
      /^true OUTCOME_ALLOW \nfalse OUTCOME_DENY deny control "python-no-bad" matched: .*\n$/,
    );
  });
});
