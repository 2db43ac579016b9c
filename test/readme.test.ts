import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationTable } from '../src/app/cli.js';
import { findUp } from '../src/process/package-root.js';

it('the README has the configuration table that the code has', () => {
  expect(readFileSync(findUp('README.md'), 'utf8')).toContain(configurationTable());
});
