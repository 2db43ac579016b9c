import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadCustomEvaluators } from '../../../../src/kernel/evaluators/custom/load-custom-evaluators.js';
import { loadEvaluators } from '../../../../src/kernel/evaluators/load-evaluators.js';
import { customOptions, MODULES } from './support.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'evaluators-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A module whose default export has these members beside what it needs. */
function moduleText(members: string, name = 'one'): string {
  return `export default { name: '${name}', version: '1.0.0', configSchema: { type: 'object' },
    evaluate: () => ({ matched: true }), ${members} };`;
}

async function write(file: string, text: string): Promise<void> {
  const full = path.join(folder, file);
  await mkdir(path.dirname(full), { recursive: true });
  await writeFile(full, text);
}

async function load(specifiers: string[], more = {}) {
  const evaluators = await loadCustomEvaluators(specifiers, customOptions({ directory: folder, ...more }));
  onTestFinished(async () => {
    for (const one of evaluators) await one.close?.();
  });
  return evaluators;
}

describe('what SERVICE_EVALUATORS may name', () => {
  it('files by relative and absolute paths, and folders', async () => {
    await write('a.mjs', moduleText('', 'a'));
    await write('sub/b.cjs', moduleText('', 'b').replace('export default', 'module.exports ='));
    const found = await load(['./a.mjs', path.join(folder, 'sub/b.cjs'), path.join(MODULES, 'folder')]);
    expect(found.map(({ name }) => name)).toEqual(['a', 'b', 'in-a-folder']);
  });
  it('packages, looked for from the working directory upwards', async () => {
    const manifest = (name: string, more: object) => JSON.stringify({ name, type: 'module', ...more });
    await write('node_modules/plain/package.json', manifest('plain', { main: 'index.js' }));
    await write('node_modules/plain/index.js', moduleText('', 'plain'));
    const exports = { exports: { '.': { import: './main.js' } } };
    await write('node_modules/@acme/modern/package.json', manifest('@acme/modern', exports));
    await write('node_modules/@acme/modern/main.js', moduleText('', 'modern'));
    await mkdir(path.join(folder, 'below'), { recursive: true });
    const found = await load(['plain', '@acme/modern'], { directory: path.join(folder, 'below') });
    expect(found.map(({ name }) => name)).toEqual(['plain', 'modern']);
  });
});

describe('an evaluator that cannot be used', () => {
  it.each<[string, string, string]>([
    ['has a syntax error', 'export default {', 'Unexpected'],
    ['throws when it is loaded', 'throw new Error("not today")', 'not today'],
    ['ends its thread when it is loaded', 'process.exit(5)', 'exit code 5'],
    ['imports what is not there', 'import "not-installed-anywhere"', 'not-installed-anywhere'],
    ['exports nothing', 'export const x = 1', 'its default export must be the evaluator'],
    ['has no name', moduleText('name: ""'), '"name" of the evaluator must be'],
    ['has a name with a colon', moduleText('name: "agent:x"'), '"name" of the evaluator must be'],
    ['has no version', moduleText('version: 1'), '"version" of the evaluator must be'],
    ['has no function', moduleText('evaluate: "x"'), '"evaluate" of the evaluator must be a function'],
    ['has a time limit of nothing', moduleText('timeoutMs: 0'), '"timeoutMs" of the evaluator must be'],
    ['has no schema', moduleText('configSchema: null'), '"configSchema" of the evaluator must be'],
    ['has an invalid schema', moduleText('configSchema: { type: "text" }'), 'is no valid JSON Schema'],
    [
      'has a pattern that RE2 has not',
      moduleText('configSchema: { pattern: "(?=a)" }'),
      'SERVICE_EVALUATORS',
    ],
    ['has a schema of another library', moduleText('configSchema: { _def: {} }'), 'zod 4 or a JSON Schema'],
  ])('because it %s stops the start', async (_name, text, problem) => {
    await write('broken.mjs', text);
    const loading = load(['./broken.mjs']);
    await expect(loading).rejects.toThrow(/^SERVICE_EVALUATORS: \.\/broken\.mjs cannot be used: /);
    await expect(loading).rejects.toThrow(problem);
  });
  it('because it does not finish loading stops the start', async () => {
    await write('endless.mjs', 'for (;;);');
    await expect(load(['./endless.mjs'], { startLimitMs: 300 })).rejects.toThrow(
      'did not load within 300 ms',
    );
  });
  it('because it is not there stops the start, with a hint where a path was meant', async () => {
    await write('there.mjs', moduleText(''));
    await expect(load(['./nowhere.mjs'])).rejects.toThrow(`there is no ${path.join(folder, 'nowhere.mjs')}`);
    await expect(load(['not-installed'])).rejects.toThrow("Cannot find package 'not-installed'");
    await expect(load(['there.mjs'])).rejects.toThrow('as in ./there.mjs');
  });
  it('ends the others that were loaded', async () => {
    await write('good.mjs', `setTimeout(() => console.log('alive'), 500);${moduleText('')}`);
    const options = customOptions({ directory: folder });
    await expect(loadCustomEvaluators(['./good.mjs', './nowhere.mjs'], options)).rejects.toThrow('nowhere');
    expect(options.logged).toEqual([]);
  });
  it('because its name is taken stops the start', async () => {
    await write('regex.mjs', moduleText('', 'regex'));
    await write('twice.mjs', moduleText('', 'twice'));
    const start = (modules: string[]) =>
      loadEvaluators({
        modules,
        custom: customOptions({ directory: folder }),
        optional: { apiKey: null, apiUrl: null, onnxModels: [], log: { warn: () => undefined } },
        memory: { maxWindowMs: 86_400_000 },
      });
    await expect(start(['./regex.mjs'])).rejects.toThrow(
      'SERVICE_EVALUATORS: the service has an evaluator named regex already',
    );
    await expect(start(['./twice.mjs', './twice.mjs'])).rejects.toThrow('two evaluators are named twice');
  });
});
