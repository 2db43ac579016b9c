import { describe, expect, it } from 'vitest';
import { folderWith, runCli } from '../support/cli.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';

const service = suiteService();
const AGENT = 'billing-bot-01';
const suite = (controls: string, cases: string) => `kind: Suite
name: cards
${controls}
cases:
${cases}
`;
const STORED = `agent: ${AGENT}`;
const control = (name: string, evaluator: string, more = 'action: { decision: deny }') => `
  - kind: Control
    name: ${name}
    data: { execution: server, condition: { selector: { path: '*' }, evaluator: ${evaluator} }, ${more} }`;
const CARD = 'step: { name: note, input: { text: a card } }';
const DRAFTS = `controls:${control('no-cards', '{ name: regex, config: { pattern: card } }')}`;

const test = (text: string, ...words: string[]) =>
  runCli(['test', '--judge', 'server', '--server', service.url, ...words, 'a.test.yaml'], {
    cwd: folderWith({ 'a.test.yaml': text }),
  });
/** The names of the cases with what became of them. */
async function results(text: string): Promise<string[]> {
  const { stdout } = await test(text, '--output', 'json');
  const { cases } = JSON.parse(stdout) as { cases: { name: string; status: string; reasons: string[] }[] };
  return cases.map(({ name, status, reasons }) => [name, status, ...reasons].join(': '));
}

describe('test --judge server', () => {
  it('asks about the controls that an agent has there, and records nothing', async () => {
    await service.seed.agent(AGENT);
    await service.seed.link(AGENT, await service.seed.control('no-cards', denyWord('card')));
    const text = suite(
      STORED,
      `  - { name: a card, ${CARD}, expect: { outcome: deny, controls: [no-cards] } }
  - { name: a word, step: { name: note, input: { text: hello } }, expect: { outcome: deny } }`,
    );
    const { code, stdout } = await test(text);
    expect(code).toBe(2);
    expect(stdout).toContain('outcome: expected deny, but it is allow');
    expect(stdout).toContain('no-cards (deny)');
    const { body } = await service.call('POST', '/api/v1/observability/events/query', {});
    expect(body.events).toEqual([]);
  });

  it('tries documents as drafts, each by itself', async () => {
    const controls = `${DRAFTS}${control('notes', '{ name: list, config: { values: [note] } }', 'action: { decision: observe }').replace("'*'", 'name')}`;
    expect(
      await results(
        suite(
          controls,
          `  - { name: both, ${CARD}, expect: { outcome: deny, decision: deny, controls: [no-cards, notes] } }
  - { name: one, step: { name: note }, expect: { outcome: allow, decision: observe, controls: [notes] } }`,
        ),
      ),
    ).toEqual(['both: passed', 'one: passed']);
  });

  it.each([
    ['a history', STORED, `history: [{ step: { name: note }, ago: 1s }]`, 'it has a history'],
    ['a time', STORED, 'now: 2026-11-27T12:00:00Z', 'it has a time of its own'],
    ['a decided approval', STORED, 'approval: approved', 'it has a decision about an approval'],
    ['accepts', STORED, 'accepts: [allow, deny]', 'it has accepts'],
    [
      'metadata',
      STORED,
      `agent: { name: ${AGENT}, metadata: { team: pay } }`,
      'it has metadata of the agent',
    ],
    [
      'bound controls',
      STORED,
      'target: { type: place, id: a, controls: [no-cards] }',
      'it binds controls to its target',
    ],
    [
      'memory',
      `controls:${control('slow', '{ name: rate, config: { key: [session], limit: 3, period: 1m } }')}`,
      '',
      'the control slow has memory',
    ],
    [
      'an expression about the agent',
      `controls:${control('named', `{ name: cel, config: { expression: 'agent.name == "a"' } }`)}`,
      '',
      'the control named reads the agent',
    ],
    [
      'an approval',
      `controls:${control('asks', '{ name: regex, config: { pattern: card } }', 'scope: { stages: [pre] }, action: { decision: deny, approval: { approvers: ["role:approver"] } }')}`,
      '',
      'the control asks changes steps or asks for approvals',
    ],
  ])('skips and counts a case with %s, says why, and never passes it', async (_, head, member, why) => {
    const text = suite(
      head,
      `  - { name: a, ${CARD}${member === '' ? '' : `, ${member}`}, expect: { outcome: ask } }`,
    );
    const { code, stdout, stderr } = await test(text);
    expect(stdout).toContain(`  - a: cannot be asked of a server: ${why}\n`);
    expect(stdout).toMatch(/1 cases: 0 passed, 0 failed, 1 skipped/);
    expect([code, stderr]).toEqual([0, 'warning: cards: none of its 1 cases was run: all were skipped\n']);
    expect((await test(text, '--fail-skipped')).code).toBe(2);
    expect((await test(text, '--reporter', 'tap')).stdout).toContain('# SKIP cannot be asked of a server: ');
  });

  it('tells what the server refuses', async () => {
    const text = suite('agent: unknown-bot-01', `  - { name: a, ${CARD}, expect: { outcome: deny } }`);
    expect(await test(text)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('unknown-bot-01'),
    });
    expect(await test(text, '--coverage-min', '50')).toMatchObject({ code: 1 });
  });

  it('has no coverage of conditions that are not in the suites', async () => {
    const text = suite(STORED, `  - { name: a, ${CARD}, expect: { outcome: deny } }`);
    expect(await test(text, '--coverage-min', '50')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--coverage-min: the suites have no conditions of their own'),
    });
  });
});

describe('evaluate and explain --agent', () => {
  const ask = (command: string, ...words: string[]) =>
    runCli([command, '--server', service.url, '--agent', AGENT, '--name', 'note', ...words]);

  it('ask a server about the controls of the agent', async () => {
    const { code, stdout } = await ask('evaluate', '--input', '{"text":"a card"}');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^deny\ndeny control "no-cards" matched.*\n {2}matched no-cards \(deny\): /),
    ]);
    expect((await ask('evaluate', '--input', '{"text":"hello"}')).stdout).toBe('allow\n');
    const explained = await ask('explain', '--input', '{"text":"a card"}');
    expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining('no-cards (deny) ')]);
  });

  it('refuse a time, which a server has itself', async () => {
    expect(await ask('evaluate', '--now', '2026-11-27T12:00:00Z')).toMatchObject({
      code: 1,
      stderr:
        'error: the step cannot be asked of a server: it has a time of its own\nGive --controls FILE.\n',
    });
  });
});
