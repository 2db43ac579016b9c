import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationTable } from '../src/app/cli.js';
import { findUp } from '../src/process/package-root.js';

it('docs/configuration.md has the table of variables that the code has', () => {
  expect(readFileSync(findUp('docs/configuration.md'), 'utf8')).toContain(configurationTable());
});
