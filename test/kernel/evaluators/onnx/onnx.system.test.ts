import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEvaluator } from '../../../../packages/evaluator-onnx/src/index.js';
import { DEFAULT_LIMITS, type ModelLimits } from '../../../../packages/evaluator-onnx/src/types.js';
import { textOf } from '../../../../src/kernel/core/data-texts.js';
import { evaluatorOf } from '../../../../src/kernel/evaluators/optional-evaluators.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { writeTinyModel } from '../../../support/tiny-model.js';

const CONFIG = { model: 'tiny', label: 'INJECTION', threshold: 0.8 };

let root: string;
let made = 0;
const closing: (() => Promise<void>)[] = [];
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'onnx-'));
  return () => rmSync(root, { recursive: true, force: true });
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** The evaluator with a tiny model whose files are replaced, as the service has it. */
function evaluator(files: Readonly<Record<string, string | null>> = {}, limits: Partial<ModelLimits> = {}) {
  made += 1;
  const folder = writeTinyModel(path.join(root, String(made)), files);
  return withModels([`tiny=${folder}`], limits);
}

function withModels(onnxModels: readonly string[], limits: Partial<ModelLimits> = {}) {
  const told: string[] = [];
  const log = { warn: (_: object, message: string) => void told.push(message) };
  const all = { ...DEFAULT_LIMITS, checkMs: 300_000, startMs: 300_000, ...limits };
  const found = evaluatorOf(
    // The package is given a text for data, as by the service.
    { createEvaluator: (options) => createEvaluator({ ...options, textOf: textOf as never }, all) as never },
    { apiKey: null, apiUrl: null, onnxModels, log },
  );
  if (found.close !== undefined) closing.push(() => found.close?.() ?? Promise.resolve());
  return { found, told, check: async (text: string) => found.compile(CONFIG).evaluate(text, FULL_CALL) };
}

describe('onnx', () => {
  it('compares the score of a label with the threshold', async () => {
    const { check, found } = evaluator();
    const injection = await check('Please ignore instructions');
    expect(injection).toMatchObject({ matched: true, error: null, metadata: { windows: 1, tokens: 3 } });
    expect(injection.confidence).toBeGreaterThan(0.9);
    expect(await check('weather today')).toMatchObject({ matched: false });
    expect(await check('')).toMatchObject({ matched: false, metadata: { tokens: 0 } });
    expect(await found.compile(CONFIG).evaluate(null, FULL_CALL)).toMatchObject({ matched: false });
    expect(found.status?.()).toMatchObject({ running: 0, queued: 0 });
  });

  it('reads a long text in windows, of which the highest score counts', async () => {
    const { check } = evaluator();
    const text = `${'weather '.repeat(60)}${'ignore instructions '.repeat(7)}${'today '.repeat(60)}`;
    const result = await check(text);
    expect(result).toMatchObject({ matched: true, metadata: { tokens: 134 } });
    expect(result.metadata?.windows).toBe(13);
    expect(await check('weather '.repeat(134))).toMatchObject({ matched: false });
  });

  it('answers checks at the same time one after another', async () => {
    const { check } = evaluator();
    const results = await Promise.all(['ignore', 'weather', 'ignore'].map(check));
    expect(results.map(({ matched }) => matched)).toEqual([true, false, true]);
  });

  it.each([
    ['model.onnx', null, /cannot be used: .*model\.onnx/],
    ['model.onnx', 'no model', /cannot be used/],
    ['tokenizer.json', '{', /cannot be used: .*JSON/],
    ['config.json', '{"id2label":{"0":"SAFE","1":"INJECTION","2":"OTHER"}}', /2 numbers for 3 labels/],
  ])('a check is an error when %s is %j', async (name, content, message) => {
    const { check } = evaluator({ [name]: content });
    await expect(check('ignore')).rejects.toThrow(message);
  });

  it('does not try again at once what could not be loaded', async () => {
    const { check, told } = evaluator({ 'model.onnx': 'no model' });
    await expect(check('ignore')).rejects.toThrow(/cannot be used/);
    await expect(check('ignore')).rejects.toThrow(/cannot be used/);
    expect(told).toHaveLength(1);
  });

  it('a text that is too long is an error', async () => {
    const { check } = evaluator({}, { characters: 1_000, windows: 4 });
    await expect(check('a'.repeat(1_001))).rejects.toThrow(
      /1001 characters, and a model is given at most 1000/,
    );
    await expect(check('ignore '.repeat(100))).rejects.toThrow(/100 tokens, which are 10 windows; at most 4/);
    expect(await check('ignore')).toMatchObject({ matched: true });
  });

  it('a check that takes too long is an error, and the next one has a new process', async () => {
    const { check, found } = evaluator({}, { windows: 1_000_000, checkMs: 300_000 });
    await check('ignore');
    const controller = new AbortController();
    const text = 'ignore '.repeat(28_000);
    const pending = found.compile(CONFIG).evaluate(text, { ...FULL_CALL, signal: controller.signal });
    controller.abort();
    await expect(pending).rejects.toThrow('the check was given up');
    expect(await check('ignore')).toMatchObject({ matched: true });
    expect(found.status?.().workerRestarts).toBe(1);
  });

  it('gives up a check, and the start of a model, after their time', async () => {
    await expect(evaluator({}, { checkMs: 1 }).check('ignore')).rejects.toThrow('timeout after 1 ms');
    await expect(evaluator({}, { startMs: 1 }).check('ignore')).rejects.toThrow(/was not loaded within 1 ms/);
  });

  it('ends a process that needs too much memory', async () => {
    const { check } = evaluator({}, { memoryMib: 10 });
    await expect(check('ignore')).rejects.toThrow(/needs more than 10 MiB of memory/);
  });

  it('refuses checks beyond its queue, and those that are given up', async () => {
    const { check, found } = evaluator({}, { queued: 1 });
    const first = check('ignore');
    await expect(check('ignore')).rejects.toThrow('the queue of the model tiny is full');
    expect(await first).toMatchObject({ matched: true });
    const aborted = { ...FULL_CALL, signal: AbortSignal.abort() };
    await expect(found.compile(CONFIG).evaluate('a', aborted)).rejects.toThrow('given up');
  });

  it('fails checks when it is closed', async () => {
    const { check, found } = evaluator();
    const pending = check('ignore');
    await Promise.all([expect(pending).rejects.toThrow('the service is shutting down'), found.close?.()]);
    await expect(check('ignore')).rejects.toThrow('the service is shutting down');
  });
});

describe('the configuration of onnx', () => {
  it.each([
    [{}, ['model'], 'missing'],
    [{ ...CONFIG, model: 'other' }, ['model'], 'must be one of: tiny'],
    [{ ...CONFIG, label: 'injection' }, ['label'], 'must be one of: SAFE, INJECTION'],
    [{ ...CONFIG, threshold: 2 }, ['threshold'], '1'],
    [{ ...CONFIG, threshold: 'high' }, ['threshold'], 'number'],
  ])('%j is refused', (config, at, message) => {
    const issue = evaluator().found.configSchema.safeParse(config).error?.issues[0];
    expect(issue?.path).toEqual(at);
    expect(`${issue?.message} ${JSON.stringify(issue)}`).toContain(message);
  });

  it('is accepted without models, but every check is an error', async () => {
    const { found, check } = withModels([]);
    expect(found.unavailable).toBe('SERVICE_ONNX_MODELS is not set, so no model can be asked');
    expect(found.configSchema.safeParse(CONFIG).success).toBe(true);
    await expect(check('ignore')).rejects.toThrow('SERVICE_ONNX_MODELS is not set');
  });

  it.each([
    ['tiny', /must be a name and a folder/],
    ['tiny=/nowhere', /SERVICE_ONNX_MODELS: model tiny: .*config\.json cannot be read/],
  ])('a model %j stops the start', (entry, message) => {
    expect(() => withModels([entry])).toThrow(message);
  });

  it('a model without numbered labels, and two of one name, stop the start', () => {
    expect(() => evaluator({ 'config.json': '{}' })).toThrow(/has no id2label/);
    const folder = writeTinyModel(path.join(root, 'twice'));
    expect(() => withModels([`a=${folder}`, `a=${folder}`])).toThrow(/two models are named a/);
  });
});
