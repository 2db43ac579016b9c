import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PROBLEM_KINDS } from '../../../src/observe/problems/problem.js';

const RUNBOOK = readFileSync(path.resolve(import.meta.dirname, '../../../docs/runbook.md'), 'utf8');

it('the runbook has a row for each kind of problem, with its severities, in their order', () => {
  const rows = [...RUNBOOK.matchAll(/^\| `(\w+)` \| ([\w, ]+) \| (.+) \| (.+) \|$/gm)];
  expect(rows.map(([, kind, severities]) => [kind, severities?.split(', ')])).toEqual(
    Object.entries(PROBLEM_KINDS),
  );
});
