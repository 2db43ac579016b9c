import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../../scripts/compose-schema.mjs';
import { CONTRACT_ROWS } from './contract-rows.js';

const TABLE = readFileSync(path.join(PACKAGE_ROOT, 'docs/api.md'), 'utf8');
const ROWS = TABLE.split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('`'))
  .map((line) => line.slice(2, -2).split(' | '));

describe('docs/api.md', () => {
  it('is what the proto files and the tests give now', async () => {
    const script = path.join(PACKAGE_ROOT, 'scripts/api-table.mjs');
    await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toMatchObject({
      stderr: '',
    });
  });

  it.each(CONTRACT_ROWS.map((row, index) => ({ row: index + 1, ...row })))(
    'has row $row of the contract: $method $path for $level',
    ({ method, path: at, level }) => {
      const found = ROWS.filter(([, route]) => route === `\`${method} ${at}\``);
      expect(found).toHaveLength(1);
      expect(found[0]?.[2]).toBe(level);
    },
  );

  it('has the 42 rows of the contract', () => {
    expect(CONTRACT_ROWS).toHaveLength(42);
  });

  it('names a test that exists in every row', () => {
    for (const [, , , , , , test = ''] of ROWS) {
      expect(existsSync(path.join(PACKAGE_ROOT, test.replaceAll('`', ''))), test).toBe(true);
    }
  });

  it('states that an RPC with a path is served over every protocol, and a scope of every RPC', () => {
    const rpcs = ROWS.filter(([rpc]) => rpc !== '–');
    expect(rpcs.length).toBeGreaterThanOrEqual(40);
    for (const [rpc, route, , agents, scope, protocols] of rpcs) {
      expect([rpc, scope]).toEqual([
        rpc,
        expect.stringMatching(/^[a-z]+(?:\.[a-z]+)?(?:, [a-z]+\.[a-z]+)*$/),
      ]);
      expect([rpc, agents]).toEqual([rpc, expect.stringMatching(/^(?:any|own|none)$/)]);
      if (route !== '–') expect([rpc, protocols]).toEqual([rpc, 'REST, gRPC, gRPC-Web, Connect']);
    }
  });
});
