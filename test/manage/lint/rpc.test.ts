import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { folderWith, runCli } from '../../support/cli.js';
import { describeAboveStores } from '../../support/databases.js';
import { type RestClient, restClient } from '../../support/http.js';
import { denyWord, seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { control, leaf, links, policy, regex } from './support.js';

interface Found {
  readonly rule: string;
  readonly document: number;
  readonly field: string;
  readonly message: string;
}

describeAboveStores('LintConfiguration', (freshDatabaseUrl) => {
  let service: TestService;
  let call: RestClient;
  let seed: ReturnType<typeof seeder>;
  beforeAll(async () => {
    service = await startService({ DATABASE_URL: await freshDatabaseUrl() });
    call = restClient(service.url);
    seed = seeder(call);
    const agent = { agent_name: 'billing-bot-01', agent_metadata: { team: 'billing' } };
    const steps = [{ type: 'tool', name: 'refund', input_schema: { type: 'object' } }];
    await call('POST', '/api/v1/agents/initAgent', { agent, steps });
    await seed.agent('other-agent-01');
  });
  afterAll(async () => {
    await service.stop();
  });
  const lint = async (documents: readonly object[], more: object = {}): Promise<Found[]> => {
    const { status, body } = await call('POST', '/api/v1/configuration/lint', { documents, ...more });
    expect(status).toBe(200);
    return body.findings;
  };
  const rulesOf = (findings: readonly Found[]) => findings.map(({ rule, document }) => `${document} ${rule}`);
  const every = (...names: string[]) => policy('of-every-agent', names, { every_agent: true });

  it('compares a scope with the steps of the agents that have the control, by links and labels', async () => {
    const documents = [
      control('a', regex('x'), { scope: { step_names: ['refund'] } }),
      control('b', regex('y'), { scope: { step_names: ['refund'] } }),
      control('c', regex('z'), { scope: { step_names: ['delete'] } }),
      links('billing-bot-01', ['a']),
      links('other-agent-01', ['b']),
      policy('p', ['c'], { agent_labels: ['team=billing'] }),
    ];
    const found = await lint(documents);
    expect(rulesOf(found)).toEqual(['2 unreachable-scope']);
    expect(found[0]?.message).toBe('no step named "delete" is registered by any agent that has this control');
  });

  it('compares with stored controls and links, which documents of the same name replace', async () => {
    const deny = await seed.control('stored-deny', denyWord('secret'));
    await seed.link('billing-bot-01', deny);
    const steers = { action: { decision: 'steer', steering_context: { message: 'ask' } } };
    const { condition } = denyWord('secret') as { condition: object };
    const documents = [control('asks', condition, steers), links('billing-bot-01', ['asks', 'stored-deny'])];
    expect(rulesOf(await lint(documents))).toEqual(['0 shadowed-by-deny']);
    const replaced = [...documents, control('stored-deny', regex('another'))];
    expect(rulesOf(await lint(replaced))).toEqual([]);
    expect(rulesOf(await lint(documents, { each_alone: true }))).toEqual([]);
    expect(rulesOf(await lint([control('stored-deny', regex('another'))]))).toEqual([]);
  });

  it('is what the command finds with a server, at places of files', async () => {
    const cwd = folderWith({
      'a.yaml': stringify(control('of-a-command', regex('x'), { scope: { step_names: ['refnd'] } })),
      'b.yaml': stringify(every('of-a-command')),
    });
    const words = ['lint', '--server', service.url, 'a.yaml', 'b.yaml'];
    const found = await runCli(words, { cwd });
    expect(found).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^a\.yaml:\d+:\d+: warning: unreachable-scope: data\.scope\.step_names\[0\]: no step named "refnd" is registered by any agent\b.*\n$/,
      ),
      stderr: '',
    });
    expect((await runCli([...words, '--max-severity', 'note'], { cwd })).code).toBe(1);
    const bad = folderWith({ 'a.yaml': 'kind: Control\nname: a\ndata: {}\n' });
    expect(await runCli(['lint', '--server', service.url, 'a.yaml'], { cwd: bad })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^a\.yaml:3:1: data\.condition: /),
    });
  });

  it('knows controls that are bound to targets', async () => {
    const documents = [control('bound-one', regex('x'))];
    expect(rulesOf(await lint(documents))).toEqual(['0 unlinked-control']);
    const id = await seed.control('bound-one', denyWord('x'));
    await call('PUT', '/api/v1/control-bindings', { target_type: 'place', target_id: 'x', control_id: id });
    expect(rulesOf(await lint(documents))).toEqual([]);
  });

  it('finds windows that the service does not keep, members that it does not read, and double objects', async () => {
    const rate = leaf('rate', { limit: 5, period: '7d', key: ['agent'] }, '*');
    const documents = [
      { ...control('a', rate), data: { ...control('a', rate).data, scop: {} } },
      every('a'),
      every('a'),
    ];
    const found = await lint(documents);
    expect(found.map(({ rule, document, field }) => `${document} ${rule} ${field}`)).toEqual([
      '0 unread-member data.scop',
      '0 window-beyond-retention data.condition.evaluator.config.period',
      '2 invalid-document name',
    ]);
  });

  it('stores nothing', async () => {
    await lint([control('is-not-stored', regex('x'))]);
    const { body } = await call('GET', '/api/v1/controls?name=is-not-stored');
    expect(body.controls).toEqual([]);
  });
});
