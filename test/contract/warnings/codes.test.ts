import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findUp } from '../../../src/contract/runtime/package-root.js';
import { WARNING_CODES } from '../../../src/contract/warnings/warning.js';

/** The codes in the table below a heading of the documentation. */
function documented(heading: string): string[] {
  const page = readFileSync(findUp('docs/warnings.md'), 'utf8');
  const section = page.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] as string);
}

it('the documentation of warnings lists every code under what strict mode does about it', () => {
  const codes = (kind: string) =>
    Object.entries(WARNING_CODES).flatMap(([code, its]) => (its === kind ? code : []));
  expect(documented('Mistakes')).toEqual(codes('mistake'));
  expect(documented('Notes')).toEqual(codes('note'));
});
