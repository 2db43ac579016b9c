import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationTable } from '../src/cli.js';
import { findUp } from '../src/package-root.js';

it('the README has the configuration table that the code has', () => {
  expect(readFileSync(findUp('README.md'), 'utf8')).toContain(configurationTable());
});
