import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileExamples, runCompiled, runExample, seedClientExample } from '../support/client-example.js';
import { installPacked } from '../support/installed-packages.js';
import { startService, type TestService } from '../support/service.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Packages for users, and below the engines of the service. */
const FOR_USERS = ['client', 'evaluator-sdk', 'proto'];
/** Largest archive of a package for users, in bytes; a sixth of the client's is the evaluator of expressions. */
const MAX_ARCHIVE_BYTES = 500_000;
const ENGINES = [
  'cel',
  'documents',
  'exact-json',
  'json-schema',
  'linear-text',
  'shell-reader',
  'sql-reader',
];
/** Packages around the sinks of events. */
const AROUND_SINKS = ['kafka-producer', 'parquet-log', 's3-files', 'supervised-worker', 'versioned-files'];
const OTHERS = [...ENGINES, ...AROUND_SINKS, 'clickhouse-tables'];

const TYPE_ROOTS = { typeRoots: [path.join(ROOT, 'node_modules', '@types')] };

/** Code blocks of a language in the README of a package. */
async function blocks(name: string, language: string): Promise<string[]> {
  const text = await readFile(path.join(ROOT, 'packages', name, 'README.md'), 'utf8');
  const found = [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))];
  return found.map(([, block = '']) => block);
}

/** Runs a module that imports the installed packages, whose types are checked too. */
const runModule = (folder: string, name: string, source: string): Promise<string> =>
  runExample(folder, name, source, TYPE_ROOTS);

/** The examples of a page in Markdown, each with the heading above it, its code, and what it prints. */
function examplesOf(page: string): [heading: string, source: string, printed: string][] {
  const found: [string, string, string][] = [];
  for (const section of page.split(/^## /m).slice(1)) {
    const heading = section.slice(0, section.indexOf('\n'));
    for (const [, source = '', printed = ''] of section.matchAll(
      /```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g,
    )) {
      found.push([heading, source, printed]);
    }
  }
  return found;
}

describe('the packages for users, packed and installed in an empty folder', () => {
  const page = readFileSync(path.join(ROOT, 'docs', 'client.md'), 'utf8');
  const examples = examplesOf(page);
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = await installPacked(FOR_USERS);
    service = await startService({
      OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.1',
      // On a busy machine the memory of controls takes its time.
      SERVICE_MEMORY_TIMEOUT_SECONDS: '60',
    });
    await seedClientExample(service.url);
    const sources: [name: string, source: string][] = examples.map(([, source], index) => [
      `example-${index}`,
      source,
    ]);
    for (const name of FOR_USERS) sources.push([name, (await blocks(name, 'ts'))[0] ?? '']);
    const here = sources.map(([name, source]) => [
      name,
      source.replaceAll('http://localhost:8000', service.url),
    ]);
    await compileExamples(folder, Object.fromEntries(here), TYPE_ROOTS);
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('carry their license, and are loaded by CommonJS as well', async () => {
    const license = await readFile(path.join(ROOT, 'LICENSE'), 'utf8');
    for (const name of FOR_USERS) {
      const own = path.join(folder, 'node_modules', '@control-enforcement', name, 'LICENSE');
      expect([name, await readFile(own, 'utf8')]).toEqual([name, license]);
    }
    const script = `const { createClient, Decision, StageValue } = require('@control-enforcement/client');
      console.log(typeof createClient, Decision.DENY, StageValue.PRE);`;
    await writeFile(path.join(folder, 'common.cjs'), script);
    const { stdout } = await promisify(execFile)(process.execPath, ['common.cjs'], { cwd: folder });
    expect(stdout).toBe('function 1 1\n');
  });

  it('bring nothing of the server', async () => {
    const modules = path.join(folder, 'node_modules');
    const names = (await readdir(modules)).filter((name) => !name.startsWith('.'));
    expect(names.sort()).toEqual(['@bufbuild', '@connectrpc', '@control-enforcement', 're2js', 'zod']);
    expect((await readdir(path.join(modules, '@connectrpc'))).sort()).toEqual([
      'connect',
      'connect-node',
      'connect-web',
    ]);
    const installed = await readdir(path.join(modules, '@control-enforcement', 'client'), {
      recursive: true,
    });
    expect(installed.filter((name) => /prisma|\.test\.|(?<!\.d)\.ts$/.test(name))).toEqual([]);
    // Local controls are evaluated by the core of the service, which needs nothing of the rest.
    const folders = installed.map(
      (name) => /^dist\/src\/(contract|kernel\/evaluators\/[^/.]+|[^/.]+\/[^/.]+)\//.exec(name)?.[1],
    );
    expect([...new Set(folders.filter((name) => name !== undefined))].sort()).toEqual([
      'contract',
      'kernel/core',
      'kernel/evaluators',
      'kernel/evaluators/cel',
      'kernel/evaluators/config',
      'kernel/evaluators/json',
      'kernel/evaluators/list',
      'kernel/evaluators/regex',
    ]);
  });

  it.each([
    ['client', 'client.md'],
    ['evaluator-sdk', 'custom-evaluators.md'],
  ])('%s carries the page that its README names', async (name, page) => {
    const own = path.join(folder, 'node_modules', '@control-enforcement', name);
    expect(await readFile(path.join(own, 'README.md'), 'utf8')).toContain(`docs/${page}`);
    const text = await readFile(path.join(own, 'docs', page), 'utf8');
    expect(text).toBe(await readFile(path.join(ROOT, 'docs', page), 'utf8'));
  });

  it.each(FOR_USERS)('%s is small', async (name) => {
    const [archive = ''] = (await readdir(folder)).filter((file) =>
      file.startsWith(`control-enforcement-${name}-`),
    );
    expect((await stat(path.join(folder, archive))).size).toBeLessThan(MAX_ARCHIVE_BYTES);
  });

  it('the client does what its README shows', async () => {
    const [source = ''] = await blocks('client', 'ts');
    expect(source).toContain("'@control-enforcement/client'");
    expect(await runCompiled(folder, 'client')).toBe('sent: hello\ndenied by no-card-numbers\n');
  });

  it('the generated messages do what their README shows', async () => {
    const [expected] = await blocks('proto', 'text');
    expect(await runCompiled(folder, 'proto')).toBe(expected);
  });

  it('the evaluator SDK does what its README shows', async () => {
    const [expected] = await blocks('evaluator-sdk', 'text');
    expect(await runCompiled(folder, 'evaluator-sdk')).toBe(expected);
  });

  it('docs/client.md says what each example prints', () => {
    expect(examples.length).toBe(page.match(/^```ts$/gm)?.length);
  });

  it.each(examples.map(([heading, , printed], index) => ({ heading, printed, index })))(
    'example $index of docs/client.md does what the page says',
    async ({ printed, index }) => {
      const text = await runCompiled(folder, `example-${index}`);
      expect(text.replaceAll(service.url, 'http://localhost:8000')).toBe(printed);
    },
  );
});

describe.each([
  // Local controls bring a zod of their own; evaluators are written with that of their author.
  { others: ['zod@3.25.76'], packages: ['client'], readmes: [] },
  { others: ['zod@4.0.0'], packages: FOR_USERS, readmes: ['evaluator-sdk'] },
])('the packages for users beside $others', ({ others, packages, readmes }) => {
  let folder: string;
  beforeAll(async () => {
    folder = await installPacked(packages, [...others, 'typescript@5.7.3']);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const installed = async (...names: string[]) =>
    JSON.parse(await readFile(path.join(folder, 'node_modules', ...names, 'package.json'), 'utf8')).version;

  it('leave the version of others as it is, and share the messages with code of the user', async () => {
    expect(`zod@${await installed('zod')}`).toBe(others[0]);
    const copies = (await readdir(path.join(folder, 'node_modules'), { recursive: true })).filter((name) =>
      /@bufbuild.protobuf.package\.json$|@connectrpc.connect.package\.json$/.test(name),
    );
    expect(copies).toHaveLength(2);
    const script = `import { localControls } from '@control-enforcement/client/local';
      console.log(typeof localControls);`;
    await writeFile(path.join(folder, 'local.mjs'), script);
    const { stdout } = await promisify(execFile)(process.execPath, ['local.mjs'], { cwd: folder });
    expect(stdout).toBe('function\n');
  });

  it('compile in a strict consumer with TypeScript 5.7, without skipLibCheck and packages of types', async () => {
    const source = `import { createClient, Decision } from '@control-enforcement/client';
      import { createClient as createWebClient } from '@control-enforcement/client/web';
      import { localControls } from '@control-enforcement/client/local';
      const client = createClient({ baseUrl: 'http://localhost:8000', agent: 'billing-bot-01' });
      export const send = client.guard(async ({ text }: { text: string }) => text, { step: 'send_mail' });
      export const used = [createWebClient, localControls, Decision.DENY];
      ${packages.includes('proto') ? "export * from '@control-enforcement/proto/enforcement/v1/control_pb.js';" : ''}
      ${packages.includes('evaluator-sdk') ? "export type * from '@control-enforcement/evaluator-sdk';" : ''}`;
    await writeFile(path.join(folder, 'consumer.ts'), source);
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    const compilerOptions = {
      ...strict,
      ...{ module: 'nodenext', target: 'es2022', lib: ['ES2022', 'DOM'], types: [], noEmit: true },
    };
    const project = path.join(folder, 'tsconfig.json');
    await writeFile(project, JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    const compiler = path.join(folder, 'node_modules', 'typescript', 'bin', 'tsc');
    await promisify(execFile)(process.execPath, [compiler, '-p', project], { cwd: folder });
  });

  it.each(readmes)('do what the README of %s shows', async (name) => {
    const [source = ''] = await blocks(name, 'ts');
    const [expected] = await blocks(name, 'text');
    expect(await runModule(folder, name, source)).toBe(expected);
  });
});

describe('the command, packed and installed in an empty folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await installPacked(['cli']);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('does what its README shows, and carries the pages that it names', async () => {
    const [lines = ''] = await blocks('cli', 'sh');
    const { stdout } = await promisify(execFile)('sh', ['-e', '-c', lines], { cwd: folder });
    expect(stdout).toMatch(/^Made controls.*2 documents are valid\..*nothing found\..*2 passed, 0 failed/s);
    const own = path.join(folder, 'node_modules', '@control-enforcement', 'cli');
    expect((await readdir(own)).sort()).toEqual([
      'LICENSE',
      'README.md',
      'bin',
      'dist',
      'docs',
      'package.json',
    ]);
    for (const page of ['controls-as-code.md', 'lint.md', 'suite.schema.json']) {
      expect(await readFile(path.join(own, 'docs', page), 'utf8')).toBe(
        await readFile(path.join(ROOT, 'docs', page), 'utf8'),
      );
    }
  });

  it('needs no other package of the repository', async () => {
    expect(await readdir(path.join(folder, 'node_modules', '@control-enforcement'))).toEqual(['cli']);
  });
});

describe('the engines and the packages around sinks and the event store, packed and installed in an empty folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await installPacked(OTHERS);
    const sources = OTHERS.map(async (name) => [name, (await blocks(name, 'ts'))[0] ?? '']);
    await compileExamples(folder, Object.fromEntries(await Promise.all(sources)), TYPE_ROOTS);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(OTHERS)('%s needs no other package of the repository', async (name) => {
    const own = path.join(folder, 'node_modules', '@control-enforcement', name);
    const files = (await readdir(own, { recursive: true })).filter((file) =>
      /\.(?:[cm]?js|ts|json)$/.test(file),
    );
    const texts = files.map((file) => readFileSync(path.join(own, file), 'utf8'));
    const named = texts.flatMap((text) => text.match(/@control-enforcement\/[\w-]+/g) ?? []);
    expect([...new Set(named)]).toEqual([`@control-enforcement/${name}`]);
  });

  it.each(OTHERS)('%s does what its README shows', async (name) => {
    const [source = ''] = await blocks(name, 'ts');
    expect(source).toContain(`'@control-enforcement/${name}'`);
    const [expected] = await blocks(name, 'text');
    expect(await runCompiled(folder, name)).toBe(expected);
  });
});
