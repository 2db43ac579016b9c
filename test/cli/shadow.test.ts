import { describe, expect, it } from 'vitest';
import { folderWith, runCli } from '../support/cli.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';

describe('shadow', () => {
  const service = suiteService();
  const shadow = (...words: string[]) => runCli(['shadow', ...words, '--server', service.url]);

  it('sets, shows, promotes and drops the shadow of a control', async () => {
    const id = await service.seed.control('no-cards', denyWord('card'));
    expect(await shadow('list')).toMatchObject({ code: 0, stdout: 'No control has a shadow.\n' });
    const data = denyWord('card|iban');
    const cwd = folderWith({ 'next.yaml': JSON.stringify({ kind: 'Control', name: 'no-cards', data }) });
    const set = ['shadow', 'set', 'no-cards', '--server', service.url, '--share', '0.5', '--by', 'session'];
    expect(await runCli(set)).toMatchObject({ code: 1, stderr: expect.stringContaining('needs --file') });
    expect(await runCli([...set, '--file', 'next.yaml'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    const { shadow: stored } = (await service.call('GET', `/api/v1/controls/${id}/shadow`)).body;
    expect(stored).toMatchObject({ share: 0.5, share_by: 'session', data: { condition: data.condition } });
    expect((await shadow('list')).stdout).toMatch(/^no-cards: 0 only the shadow matched, /);
    expect((await shadow('show', 'no-cards')).stdout).toContain('both matched: 0\n');
    const unconfirmed = await shadow('promote', 'no-cards');
    expect(unconfirmed).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
    expect((await shadow('promote', 'no-cards', '--yes')).stdout).toContain('no-cards has version 2 now');
    expect(await shadow('drop', 'no-cards', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A shadow of control 1 was not found'),
    });
    await runCli([...set, '--file', 'next.yaml'], { cwd });
    expect((await shadow('drop', 'no-cards', '--yes')).code).toBe(0);
  });

  it('says what is wrong with the names that it is given', async () => {
    expect(await shadow('show')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs the name'),
    });
    expect(await shadow('show', 'nothing-01')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no control "nothing-01"'),
    });
  });
});
