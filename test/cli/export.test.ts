import { describe, expect, it } from 'vitest';
import { readDocuments } from '../../packages/documents/src/index.js';
import { runCli } from '../support/cli.js';
import { suiteService } from '../support/service-suite.js';

describe('export', () => {
  const service = suiteService();

  it('writes documents with every digit', async () => {
    const documents = [
      {
        kind: 'Control',
        name: 'numbers',
        data: {
          execution: 'server',
          condition: {
            selector: { path: 'input.id' },
            evaluator: { name: 'list', config: { values: ['9007199254740993', 'a: b', ' c', '1'] } },
          },
          action: { decision: 'deny' },
        },
      },
      { kind: 'Policy', name: 'baseline', controls: ['numbers'] },
    ];
    const { status } = await service.call('POST', '/api/v1/configuration/apply', {
      owner: 'main',
      documents,
    });
    expect(status).toBe(200);
    const words = ['export', '--server', service.url];
    const { code, stdout, stderr } = await runCli(words);
    expect([code, stderr]).toEqual([0, '']);
    expect(readDocuments(stdout).documents.map(({ value }) => value)).toMatchObject(documents);
    const { stdout: policies } = await runCli([...words, '--kind', 'Policy', '--output', 'json']);
    expect(JSON.parse(policies)).toEqual(documents[1]);
  });

  it('says why it cannot reach a server', async () => {
    const { code, stderr } = await runCli(['export', '--server', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: cannot reach http:\/\/127\.0\.0\.1:1: /);
    expect((await runCli(['export'])).stderr).toMatch(/^error: no server is given\n.*--server URL/);
  });
});
