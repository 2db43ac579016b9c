import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../scripts/compose-schema.mjs';
import { SAMPLE_CHANGES } from '../contract/sample-changes.js';
import { createTreeCopy, TREE_CONFIG, type TreeCopy } from '../support/tree-copy.js';

/** What `npm run generate` and `npm run generate:settings` write. */
const GENERATED =
  /^(?:gen\/|docs\/(?:api\.md|openapi\.json|configuration\.md|controls\.md)$|test\/contract\/rpcs\.golden\.txt$)/;

/** The tests that derive from descriptors, steps and tables, or that a sample change has added. */
const FILES = [
  'test/contract/rpcs.test.ts',
  'test/serve/auth',
  'test/serve/connect/handlers-and-messages.test.ts',
  'test/serve/openapi/examples.test.ts',
  'test/serve/openapi/committed-document.test.ts',
  'test/serve/openapi/api-table.test.ts',
  'test/e2e/every-rpc.test.ts',
  'test/e2e/limited-key.test.ts',
  'test/e2e/service-config.system.test.ts',
  'test/observe/audit/every-mutation.test.ts',
  'test/e2e/unknown-members.test.ts',
  'test/app/operations/metrics.test.ts',
  'test/contract/config/settings.test.ts',
  'test/readme.test.ts',
  'test/kernel/evaluators/list.test.ts',
];
/** Patterns of names of tests, each with how many of them there have to be: other tests of these files are not of the changes. */
const TESTS: readonly (readonly [name: string, atLeast: number])[] = [
  ['CountPolicies checks keys', 7],
  ['calls CountPolicies', 1],
  ['the input of CountPolicies', 3],
  ['PolicyService.CountPolicies\\W+finds none', 9],
  ['PolicyService.CountPolicies\\W+requires a key', 9],
  ['calls PolicyService.CountPolicies as decided', 2],
  ['the script', 2],
  ['rpcs.golden.txt has', 1],
  ['the replies of the handlers', 1],
  ['google.api.field_behavior', 1],
  ['the examples of the OpenAPI document', 3],
  ['docs/openapi.json is the document', 1],
  ['docs/api.md is', 1],
  ['service config', 1],
  ['a mutation on sqlite is declared as one', 1],
  ['members that no RPC knows on sqlite over gRPC are', 40],
  ['transactions that store events', 1],
  ['settings.golden.txt has', 1],
  ['the variable SERVICE_SAMPLE', 7],
  ['docs/configuration.md has', 1],
  ['a list that is off', 1],
];

/** The commands of `npm run generate` and `npm run generate:settings`. The tables stay, so Prisma has nothing to do. */
async function generation(): Promise<string[]> {
  const content = await readFile(path.join(PACKAGE_ROOT, 'package.json'), 'utf8');
  const { scripts } = JSON.parse(content) as { scripts: Readonly<Record<string, string>> };
  const commandsOf = (name: string): string[] =>
    (scripts[name] ?? '').split(' && ').flatMap((command) => {
      const [, inner] = /^npm run --silent (\S+)$/.exec(command) ?? [];
      return inner === undefined ? [command] : commandsOf(inner);
    });
  return [...commandsOf('generate'), ...commandsOf('generate:settings')].filter(
    (command) => !command.includes('generate-clients'),
  );
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

describe('an RPC, a metric, a setting and an option of an evaluator', { timeout: 600_000 }, () => {
  let tree: TreeCopy;
  let original: Readonly<Record<string, string>>;
  const generate = async (): Promise<void> => {
    for (const command of await generation()) await tree.run(command);
  };
  beforeAll(async () => {
    tree = await createTreeCopy();
    original = await tree.hashes();
    for (const { additions } of SAMPLE_CHANGES) for (const addition of additions) await tree.add(addition);
    await generate();
  });
  afterAll(() => tree.remove());

  it('change nothing else but what is generated', async () => {
    const changed = Object.entries(await tree.hashes()).filter(([file, hash]) => original[file] !== hash);
    const byHand = SAMPLE_CHANGES.flatMap(({ additions }) => additions.map(({ file }) => file));
    const others = changed.map(([file]) => file).filter((file) => !byHand.includes(file));
    expect(others.filter((file) => !GENERATED.test(file))).toEqual([]);
    expect(others).toEqual(expect.arrayContaining(['docs/api.md', 'test/contract/rpcs.golden.txt']));
  });

  it('compile', () => tree.run('tsc --noEmit -p tsconfig.json'));

  it('pass every test that derives from them', async () => {
    // Those of SQLite are enough: the changes are not about databases.
    const names = `^(?!.*on postgresql).*(?:${TESTS.map(([name]) => name).join('|')})`;
    const report = path.join(tree.scratch, 'report.json');
    const output = `--reporter=json --outputFile=${report}`;
    await tree.run(`vitest run --config ${TREE_CONFIG} ${FILES.join(' ')} -t '${names}' ${output}`);
    const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
    const passed = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === 'passed');
    const few = TESTS.filter(
      ([name, atLeast]) => passed.filter(({ fullName }) => new RegExp(name).test(fullName)).length < atLeast,
    );
    expect(few).toEqual([]);
  });

  it('leave nothing behind when they are taken away again', async () => {
    for (const { additions } of SAMPLE_CHANGES) for (const addition of additions) await tree.take(addition);
    await generate();
    expect(await tree.hashes()).toEqual(original);
  });
});
