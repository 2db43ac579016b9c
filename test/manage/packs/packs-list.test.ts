import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findUp } from '../../../src/contract/runtime/package-root.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import type { Pack, PackControl } from '../../../src/manage/packs/pack.js';
import { readPackFolder } from '../../../src/manage/packs/pack-folder.js';
import { serviceEvaluators } from '../../support/evaluators.js';

const ROOT = path.dirname(findUp('package.json'));
const FOLDER = path.join(ROOT, 'packs');
const registry = createRegistry([...serviceEvaluators]);
const HEAD = `# List of the packs

The controls of the packs that come with the service. [owasp-map.md](owasp-map.md) says what the two lists of OWASP leave to
other measures. Each control begins by observing, and has a reason that says what it does not find. The numbers are those of
its cases: steps that it must match, and steps that it must not. Generated from the files in \`packs\`.
`;

function row({ key, definition, cases }: PackControl): string {
  const matching = cases.filter(({ matches }) => matches).length;
  return `| \`${key}\` | ${definition.description ?? ''} | ${matching} + ${cases.length - matching} |`;
}

function section({ name, version, title, description, controls }: Pack): string {
  const table = ['| Control | Finds | Cases |', '|---|---|---|', ...controls.map(row)];
  return `## ${title}\n\n\`${name}\` ${version}. ${description}\n\n${table.join('\n')}\n`;
}

it('docs/packs-list.md has the controls of the packs', async () => {
  const names = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const packs: Pack[] = [];
  for (const { name } of names) packs.push(await readPackFolder(path.join(FOLDER, name), registry, true));
  const page = [HEAD, ...packs.map(section)].join('\n');
  const hint = 'run "npx vitest run test/manage/packs/packs-list.test.ts --update"';
  await expect(page, hint).toMatchFileSnapshot(path.join(ROOT, 'docs/packs-list.md'));
});
