// @ts-check
/**
 * The process of one model: loads it, and answers each text with the scores of the labels. Inference is synchronous work
 * of WebAssembly, so memory is watched, and the end of the service noticed, in a thread.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { Tokenizer } from '@huggingface/tokenizers';

const { folder, labels, memoryMib, windows: maxWindows } = JSON.parse(process.argv[2] ?? '{}');
/** Length of the windows of a model whose configuration says none. */
const USUAL_TOKENS = 512;
/** Share of a window that the next one repeats, so that nothing is cut apart. */
const OVERLAP = 0.25;

const WATCH = `
  const { writeSync } = require('node:fs');
  const { parent, maxBytes } = require('node:worker_threads').workerData;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
    if (process.memoryUsage.rss() <= maxBytes) return;
    writeSync(2, 'Ended: it needs more than ' + Math.round(maxBytes / 2 ** 20) + ' MiB of memory\\n');
    process.kill(process.pid, 'SIGKILL');
  }, 50);`;
new Worker(WATCH, {
  eval: true,
  workerData: { parent: process.ppid, maxBytes: memoryMib * 2 ** 20 },
}).unref();
process.on('disconnect', () => process.exit());

/** @param {string} name */
const readJson = async (name) => JSON.parse(await readFile(path.join(folder, name), 'utf8'));

/** The runtime that is installed: the native one where there is one. */
async function loadRuntime() {
  for (const name of ['onnxruntime-node', 'onnxruntime-web']) {
    try {
      return await import(name);
    } catch (error) {
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw error;
    }
  }
  throw new Error('neither onnxruntime-node nor onnxruntime-web is installed; install one of them');
}

async function load() {
  const ort = await loadRuntime();
  if (ort.env?.wasm !== undefined) ort.env.wasm.numThreads = 1;
  const config = await readJson('config.json');
  const tokenizerConfig = await readJson('tokenizer_config.json').catch(() => ({}));
  const tokenizer = new Tokenizer(await readJson('tokenizer.json'), tokenizerConfig);
  const session = await ort.InferenceSession.create(await readFile(path.join(folder, 'model.onnx')), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const unknown = session.inputNames.filter(
    (/** @type {string} */ name) => !['input_ids', 'attention_mask', 'token_type_ids'].includes(name),
  );
  if (unknown.length > 0) throw new Error(`it wants the inputs ${unknown.join(', ')}, which are not known`);
  const specials = tokenizer.encode('').ids;
  const length = Math.min(config.max_position_embeddings ?? USUAL_TOKENS, USUAL_TOKENS) - specials.length;
  // Two special tokens stand around a text; one alone before it.
  const before = specials.slice(0, Math.ceil(specials.length / 2));
  const after = specials.slice(before.length);
  const isMultiLabel = config.problem_type === 'multi_label_classification' || labels === 1;

  /** @param {string} text */
  return async (text) => {
    const ids = tokenizer.encode(text, { add_special_tokens: false }).ids;
    const step = Math.max(1, Math.floor(length * (1 - OVERLAP)));
    const count = Math.max(1, Math.ceil((ids.length - length) / step) + 1);
    if (count > maxWindows) {
      throw new Error(
        `the text has ${ids.length} tokens, which are ${count} windows; at most ${maxWindows} are read`,
      );
    }
    /** @type {number[]} */
    const scores = new Array(labels).fill(0);
    for (let index = 0; index < count; index += 1) {
      const window = [...before, ...ids.slice(index * step, index * step + length), ...after];
      const found = await scoresOf(window);
      for (let label = 0; label < labels; label += 1) {
        scores[label] = Math.max(scores[label] ?? 0, found[label] ?? 0);
      }
    }
    return { scores, windows: count, tokens: ids.length };
  };

  /** @param {number[]} ids */
  async function scoresOf(ids) {
    const tensor = (/** @type {number[]} */ values) =>
      new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
    const inputs = {
      input_ids: tensor(ids),
      attention_mask: tensor(ids.map(() => 1)),
      token_type_ids: tensor(ids.map(() => 0)),
    };
    const used = Object.entries(inputs).filter(([name]) => session.inputNames.includes(name));
    const outputs = await session.run(Object.fromEntries(used));
    const logits = Array.from((outputs.logits ?? outputs[session.outputNames[0]]).data, Number);
    if (logits.length !== labels || !logits.every(Number.isFinite)) {
      throw new Error(`the model gave ${logits.length} numbers for ${labels} labels, or one that is none`);
    }
    if (isMultiLabel) return logits.map((value) => 1 / (1 + Math.exp(-value)));
    const highest = Math.max(...logits);
    const powers = logits.map((value) => Math.exp(value - highest));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  }
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

try {
  const classify = await load();
  process.on('message', (message) => {
    const { text } = /** @type {{ text: string }} */ (message);
    classify(text).then(
      (answer) => process.send?.({ answer }),
      (error) => process.send?.({ problem: messageOf(error) }),
    );
  });
  process.send?.({ ready: true });
} catch (error) {
  process.send?.({ failed: messageOf(error) }, () => process.exit(1));
}
