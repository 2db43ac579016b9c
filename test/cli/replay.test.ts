import { describe, expect, it } from 'vitest';
import { folderWith, runCli } from '../support/cli.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const AGENT = 'replayed-bot-1';

describe('samples and replay', () => {
  const service = suiteService();
  const cli = (words: string[], cwd?: string) =>
    runCli([...words, '--server', service.url], cwd === undefined ? {} : { cwd });

  it('keep steps, show them, and tell what a proposal changes', async () => {
    await service.seed.linked(AGENT, 'no-bad', denyWord('bad'));
    const kept = await cli(['samples', 'keep', '--share', '1', '--mask', 'input.who']);
    expect([kept.code, kept.stdout]).toEqual([
      0,
      'Rule 1 keeps steps from now on; control-enforcement samples stop 1 ends that.\n',
    ]);
    for (const text of ['bad', 'worse', 'fine']) {
      const step = { type: 'tool', name: 'send', input: { text, who: 'ann' } };
      await service.call('POST', '/api/v1/evaluation', { agent_name: AGENT, stage: 'pre', step });
    }
    await until(
      () => service.call('GET', '/api/v1/samples'),
      ({ body }) => body.pagination.total === 3,
    );
    const rules = await cli(['samples', 'rules']);
    expect(rules.stderr).toContain('SERVICE_SAMPLE_KEY_FILE');
    expect(rules.stdout).toMatch(/^RULE +AGENT +CONTROL +SHARE .*\n1 +\* +\* +1 +168 +never +3\n$/);
    const list = JSON.parse((await cli(['samples', 'list', '--output', 'json'])).stdout);
    expect(list.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['allow', 'allow', 'deny']);
    const shown = await cli(['samples', 'show', list[2].decision_id]);
    expect(shown.stdout).toContain('deny for replayed-bot-1 at the stage pre');
    expect(shown.stdout).toContain('"who": "***"');

    const cwd = folderWith({ 'a.yaml': YAML.replace('WORD', 'worse'), 'b.yaml': YAML.replace('WORD', '(') });
    const same = await cli(['replay', '--fail-on-change', '--since', '1h']);
    expect([same.code, same.stdout.split('\n')[0]]).toEqual([0, '3 samples, 0 changed: +0 denied, -0']);
    const changed = await cli(['replay', '--controls', 'a.yaml', '--fail-on-change'], cwd);
    expect([changed.code, changed.stderr]).toEqual([2, '']);
    expect(changed.stdout).toMatch(/^allow -> deny {2}replayed-bot-1 pre send \(.*no-bad/);
    expect(changed.stdout).toContain('3 samples, 2 changed: +1 denied, -1\n');
    expect(changed.stdout).toContain('agent replayed-bot-1: +1 denied, -1 of 3\n');
    const refused = await cli(['replay', '--controls', 'b.yaml'], cwd);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/b\.yaml:7:5: data\.condition\.evaluator/);
    const stopped = await cli(['samples', 'stop', '1', '--delete']);
    expect(stopped.stdout).toBe('Rule 1 is deleted, and 3 samples.\n');
  });
});

const YAML = `kind: Control
name: no-bad
data:
  execution: server
  condition:
    selector: {path: input}
    evaluator:
      {name: regex, config: {pattern: "WORD"}}
  action: {decision: deny}
`;
