import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationTable } from '../src/app/wiring/cli.js';
import { findUp } from '../src/contract/runtime/package-root.js';

it('docs/configuration.md has the table of variables that the code has', async () => {
  const file = findUp('docs/configuration.md');
  const table = `${configurationTable()}\n`;
  const current = readFileSync(file, 'utf8').replace(/\| Variable \|[\s\S]*?\n(?=\n)/, () => table);
  await expect(current, 'run "npm run generate:settings"').toMatchFileSnapshot(file);
});
