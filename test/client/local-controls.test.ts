import { beforeEach, describe, expect, it } from 'vitest';
import { localControls } from '../../packages/client/src/local/index.js';
import { type Client, createClient, DeniedError, SteerError } from '../../packages/client/src/node.js';
import { createClient as createWebClient } from '../../packages/client/src/web.js';
import type { RestReply } from '../support/http.js';
import { openedInTest } from '../support/opened.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { asking, PATIENT_MS } from './client-harness.js';

const sdk = (word: string, more: object = {}) => denyWord(word, { execution: 'sdk', ...more });
const revisionOf = (reply: RestReply) => Number(reply.headers.get('x-service-revision'));
const leaf = (name: string, config: object) => ({
  selector: { path: 'input.text' },
  evaluator: { name, config },
});

describe('a client with local controls', () => {
  let agent: string;
  let agents = 0;
  const clients = openedInTest<Client>((one) => one.close());
  const service = suiteService();
  const { call, seed } = service;
  beforeEach(async () => {
    agents += 1;
    agent = `local-agent-${agents}`;
    await seed.agent(agent);
  });

  function open(options: Parameters<typeof localControls>[0] = {}, baseUrl = service.url): Client {
    const client = createClient({ baseUrl, timeoutMs: PATIENT_MS, local: localControls(options) });
    clients.push(client);
    return client;
  }
  /** Links a control to the agent; its name ends with the number of the agent. */
  async function control(name: string, data: object): Promise<number> {
    const id = await seed.control(`${name}-${agents}`, data);
    await seed.link(agent, id);
    return id;
  }
  const ask = (client: Client, text: string, more: object = {}) => client.evaluate(asking(text, agent), more);
  /** Waits until the controls that are there now have arrived. */
  const isSafeNow = (client: Client, text: string, expected: boolean) =>
    until(
      () => ask(client, text),
      ({ isSafe }) => isSafe === expected,
    );

  it('evaluates expressions, but none that read metadata of the agent, which it does not know', async () => {
    const cel = (expression: string) => ({
      execution: 'sdk',
      condition: { selector: {}, evaluator: { name: 'cel', config: { expression } } },
      action: { decision: 'deny' },
    });
    await control('expression', cel(`agent.name == '${agent}' && input.text.contains('forbidden')`));
    const client = open();
    expect(await ask(client, 'forbidden')).toMatchObject({ evaluated: true, isSafe: false });
    expect(await ask(client, 'other')).toMatchObject({ evaluated: true, isSafe: true });
    await control('metadata', cel("agent.metadata.team == 'red'"));
    const denied = await isSafeNow(client, 'other', false);
    expect(denied.reason).toContain('the metadata of the agent are not known here');
  });

  it.each([
    ['gRPC', () => open()],
    [
      'gRPC-Web with fetch',
      () => {
        const client = createWebClient({
          baseUrl: service.url,
          timeoutMs: PATIENT_MS,
          local: localControls(),
        });
        clients.push(client);
        return client;
      },
    ],
  ])('denies by them over %s, with the result of the control', async (_protocol, start) => {
    await control('local', sdk('forbidden'));
    await control('served', denyWord('bad'));
    const client = start();
    const denied = await ask(client, 'forbidden');
    expect(denied).toMatchObject({ evaluated: true, isSafe: false, outcome: 'deny' });
    expect(denied.reason).toBe(`deny control "local-${agents}" matched: Pattern found: forbidden`);
    expect(await ask(client, 'good')).toMatchObject({ evaluated: true, isSafe: true, outcome: 'allow' });
    expect(await ask(client, 'bad')).toMatchObject({ evaluated: true, isSafe: false, outcome: 'deny' });
    const both = await ask(client, 'bad and forbidden');
    if (!both.evaluated) throw both.error;
    expect(both.verdict.matches.map(({ controlName }) => controlName)).toEqual([
      `served-${agents}`,
      `local-${agents}`,
    ]);
    // Without them the service calls the step safe.
    const plain = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS });
    clients.push(plain);
    expect(await ask(plain, 'forbidden')).toMatchObject({ isSafe: true });
  });

  it('follows changes of them', async () => {
    const client = open();
    expect((await ask(client, 'later')).isSafe).toBe(true);
    const id = await control('local', sdk('later'));
    await isSafeNow(client, 'later', false);
    await call('PUT', `/api/v1/controls/${id}/data`, { data: sdk('other') });
    await isSafeNow(client, 'later', true);
    await isSafeNow(client, 'other', false);
    await call('PATCH', `/api/v1/controls/${id}`, { enabled: false });
    await isSafeNow(client, 'other', true);
    await call('PATCH', `/api/v1/controls/${id}`, { enabled: true });
    await isSafeNow(client, 'other', false);
    await call('DELETE', `/api/v1/agents/${agent}/controls/${id}`);
    await isSafeNow(client, 'other', true);
  });

  it('uses the controls of the revision that is demanded', async () => {
    const client = open();
    await ask(client, 'warm');
    for (let round = 0; round < 5; round += 1) {
      const id = await seed.control(`fresh-${agents}-${round}`, sdk(`word-${round}`));
      const reply = await call('POST', `/api/v1/agents/${agent}/controls/${id}`);
      const minRevision = revisionOf(reply);
      expect(minRevision).toBeGreaterThan(0);
      expect(await ask(client, `word-${round}`, { minRevision })).toMatchObject({ isSafe: false });
      // A change elsewhere makes a later revision without news for this agent.
      await seed.agent(`${agent}-other-${round}`);
    }
  });

  it.each([
    ['regex', leaf('regex', { pattern: '^stop$', flags: ['IGNORECASE'] }), 'STOP', 'go'],
    ['list', leaf('list', { values: ['stop', 'halt'], match_mode: 'contains' }), 'please halt', 'go on'],
    ['json', leaf('json', { json_schema: { type: 'object' } }), '[1]', '{"a": 1}'],
    ['not', { not: leaf('regex', { pattern: 'allowed' }) }, 'stop', 'allowed'],
    ['or', { or: [leaf('regex', { pattern: 'a' }), leaf('list', { values: ['b'] })] }, 'b', 'c'],
    ['and', { and: [leaf('regex', { pattern: 'a' }), leaf('regex', { pattern: 'b' })] }, 'ab', 'a'],
  ])('decides like the service with %s', async (_what, condition, denied, allowed) => {
    const data = { condition, action: { decision: 'deny' } };
    const client = open();
    const id = await control('both', { ...data, execution: 'server' });
    for (const execution of ['server', 'sdk']) {
      const reply = await call('PUT', `/api/v1/controls/${id}/data`, { data: { ...data, execution } });
      const minRevision = revisionOf(reply);
      const byService = async (text: string) => {
        const step = { type: 'tool', name: 'send_mail', input: { text } };
        const evaluation = { agent_name: agent, stage: 'pre', step, min_revision: minRevision };
        return (await call('POST', '/api/v1/evaluation', evaluation)).body.is_safe;
      };
      expect([await byService(denied), await byService(allowed)]).toEqual([execution === 'sdk', true]);
      expect(await ask(client, denied, { minRevision })).toMatchObject({ evaluated: true, isSafe: false });
      expect(await ask(client, allowed, { minRevision })).toMatchObject({ evaluated: true, isSafe: true });
    }
  });

  it('heeds the scope, and makes matches of steer errors of a guarded tool', async () => {
    const steering_context = { message: 'Be brief.', required_actions: ['shorten'] };
    await control(
      'brief',
      sdk('long', { action: { decision: 'steer', steering_context }, scope: { stages: ['post'] } }),
    );
    await control('named', sdk('long', { scope: { step_names: ['another_step'] } }));
    const client = open();
    expect(await ask(client, 'long')).toMatchObject({ isSafe: true });
    const said = client.guard(async (mail: { text: string }) => mail.text, { agent, step: 'send_mail' });
    const error = await said({ text: 'long' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SteerError);
    expect(error).toMatchObject({ steering: 'Be brief.', requiredActions: ['shorten'], stage: 'post' });
    const other = client.guard(async (mail: { text: string }) => mail.text, { agent, step: 'another_step' });
    await expect(other({ text: 'long' })).rejects.toBeInstanceOf(DeniedError);
  });

  it('denies when a deny control needs an evaluator that this process does not have, and says which', async () => {
    const client = open();
    await control('sql', {
      execution: 'sdk',
      condition: leaf('sql', { blocked_operations: ['DROP'] }),
      action: { decision: 'deny' },
    });
    const evaluation = await isSafeNow(client, 'SELECT 1', false);
    expect(evaluation.reason).toBe(
      `deny control "sql-${agents}" could not be evaluated: evaluator sql is not available in this process`,
    );
  });

  it('waits for the controls of a new agent, and denies with the reason when they do not come', async () => {
    const proxy = await startTcpProxy(service.url);
    const client = open({}, proxy.url);
    await proxy.set('pause');
    const evaluation = await ask(client, 'good', { timeoutMs: 200, onUnavailable: 'allow' });
    expect(evaluation).toMatchObject({ evaluated: false, isSafe: false });
    expect(evaluation.reason).toBe(`The local controls of agent "${agent}" have not been received`);
    await proxy.set('clear');
    expect(await ask(client, 'good')).toMatchObject({ evaluated: true, isSafe: true });
    await proxy.close();
  });

  it('denies when they were not confirmed for too long', async () => {
    const proxy: TcpProxy = await startTcpProxy(service.url);
    // The evaluations take another way than the controls.
    const watcher = createClient({ baseUrl: proxy.url });
    const inner = localControls({ maxStalenessMs: 400 });
    const local = { open: () => inner.open({ watchControls: watcher.watchControls }) };
    const client = createClient({ baseUrl: service.url, timeoutMs: PATIENT_MS, local });
    clients.push(client, watcher);
    expect(await ask(client, 'good')).toMatchObject({ isSafe: true });
    await proxy.set('pause');
    const stale = await until(
      () => ask(client, 'good', { timeoutMs: 1_000 }),
      // On a busy machine one without an answer may come first.
      ({ evaluated, isSafe }) => evaluated && !isSafe,
    );
    expect(stale).toMatchObject({ evaluated: true, outcome: 'deny' });
    expect(stale.reason).toMatch(/were last confirmed \d+ ms ago, longer than maxStalenessMs \(400\)$/);
    await proxy.set('clear');
    await isSafeNow(client, 'good', true);
    await proxy.close();
  });
});
