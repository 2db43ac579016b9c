import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { FEATURES } from '../../../src/observe/server-info/features.js';

const GUIDE = readFileSync(path.resolve(import.meta.dirname, '../../../docs/api-guide.md'), 'utf8');

it('the features of the server are sorted, and those that the guide to the API describes', () => {
  const table = GUIDE.slice(GUIDE.indexOf('| Feature |'), GUIDE.indexOf('## Unknown values'));
  const described = [...table.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  expect(FEATURES).toEqual(described);
  expect(FEATURES).toEqual([...FEATURES].sort());
});
