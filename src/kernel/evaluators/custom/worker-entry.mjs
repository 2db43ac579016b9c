// @ts-check
/**
 * Entry of a custom evaluator's worker, a process of its own: loads the author's module, describes it, and
 * answers checks. Plain JavaScript, because Node.js loads the same file whether the service runs from `src` or
 * from `dist`. The messages are described in worker-messages.ts.
 */
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';

/** Longest text of an answer, in characters. */
const MAX_ANSWER_LENGTH = 256 * 1024;
/** Output beyond this is dropped: lines in a second, and characters in a line. */
const MAX_LINES_PER_SECOND = 50;
const MAX_LINE_LENGTH = 1_000;
/** Number of cached parsed configurations. */
const MAX_CONFIGS = 1_000;
/** Below the service, so that a busy evaluator does not slow it down. */
const NICENESS = 10;

/** @typedef {import('./worker-messages.js').FromWorker} FromWorker */
/** @typedef {import('./worker-messages.js').Check} Check */
/** @typedef {import('./worker-messages.js').WorkerInput} WorkerInput */
/** @typedef {import('../../../../packages/evaluator-sdk/src/index.js').EvaluatorDefinition<any>} Definition */

const sendToService = process.send?.bind(process);
if (sendToService === undefined) throw new Error('this module runs in processes of the service only');
// Messages of the author's code would be taken for those of this module.
Reflect.deleteProperty(process, 'send');
/** @type {WorkerInput} */
const input = JSON.parse(process.argv.pop() ?? '');
process.title = `evaluator ${input.specifier}`;

/**
 * @param {FromWorker} message
 * @param {() => void} [sent]
 */
const send = (message, sent = () => {}) => sendToService(message, undefined, undefined, sent);

/** 1 while a check runs; read by memory-watch.mjs. */
const isBusy = new Int32Array(new SharedArrayBuffer(4));

// As in the service: a member named __proto__ is data.
Reflect.deleteProperty(Object.prototype, '__proto__');
endWithService();
sendOutputToLog();

try {
  const definition = await loadDefinition();
  const description = describe(definition);
  serve(definition);
  send({ ready: description });
} catch (error) {
  send({ failed: messageOf(error) });
}

/** @returns {Promise<Definition>} */
async function loadDefinition() {
  const { specifier, directory } = input;
  // Packages are resolved from the working directory, as if a module there imported them.
  const importFrom = vm.runInThisContext('(specifier) => import(specifier)', {
    filename: path.join(directory, 'importer.js'),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const url = path.isAbsolute(specifier) ? String(pathToFileURL(specifier)) : specifier;
  const { default: definition } = await importFrom(url);
  if (typeof definition !== 'object' || definition === null) {
    throw new Error('its default export must be the evaluator: export default defineEvaluator({ … })');
  }
  return definition;
}

/** @param {Definition} definition */
function describe(definition) {
  const { name, version, description, timeoutMs, requiresApiKey, configSchema, evaluate } = definition;
  demand(typeof name === 'string' && /^[A-Za-z0-9._-]{1,255}$/.test(name), 'name', 'letters, digits, . _ -');
  demand(typeof version === 'string' && version !== '' && version.length <= 255, 'version', 'a text');
  demand(description === undefined || typeof description === 'string', 'description', 'a text');
  demand(
    timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs >= 1 && timeoutMs <= 3_600_000),
    'timeoutMs',
    'a number from 1 to 3600000',
  );
  demand(requiresApiKey === undefined || typeof requiresApiKey === 'boolean', 'requiresApiKey', 'a boolean');
  demand(typeof configSchema === 'object' && configSchema !== null, 'configSchema', 'a schema');
  demand(typeof evaluate === 'function', 'evaluate', 'a function');
  return {
    name,
    version,
    description: description ?? '',
    requiresApiKey: requiresApiKey ?? false,
    timeoutMs: timeoutMs ?? null,
    configJsonSchema: jsonSchemaOf(configSchema),
  };
}

/**
 * @param {boolean} holds
 * @param {string} member
 * @param {string} expected
 */
function demand(holds, member, expected) {
  if (!holds) throw new Error(`"${member}" of the evaluator must be ${expected}`);
}

/** @param {any} schema */
function isZod(schema) {
  return '_zod' in schema;
}

/** @param {any} schema */
function jsonSchemaOf(schema) {
  if (isZod(schema)) {
    const { $schema: _, ...shown } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return JSON.parse(JSON.stringify(shown));
  }
  if ('_def' in schema || '~standard' in schema) {
    throw new Error('"configSchema" of the evaluator must be a schema of zod 4 or a JSON Schema');
  }
  return JSON.parse(JSON.stringify(schema));
}

/** @param {Definition} definition */
function serve(definition) {
  /** @type {Map<string, unknown>} */
  const configs = new Map();
  /** @type {AbortController | null} */
  let running = null;
  const schema = /** @type {any} */ (definition.configSchema);

  /** @param {string} text */
  async function configOf(text) {
    if (configs.has(text)) return configs.get(text);
    let config = JSON.parse(text);
    if (isZod(schema)) {
      const read = await schema.safeParseAsync(config);
      if (!read.success) throw new Error(`the configuration is invalid: ${read.error.issues[0]?.message}`);
      config = read.data;
    }
    if (configs.size >= MAX_CONFIGS) configs.clear();
    configs.set(text, config);
    return config;
  }

  /** @param {Check} check */
  async function answer({ id, config, data }) {
    running = new AbortController();
    setBusy(1);
    try {
      const context = { signal: running.signal };
      const answered = await definition.evaluate(data, await configOf(config), context);
      send({ id, answer: answerText(answered, data) });
    } catch (error) {
      send({ id, problem: messageOf(error) });
    } finally {
      running = null;
      setBusy(0);
    }
  }

  process.on('message', (/** @type {Check | 'abort'} */ message) => {
    if (message === 'abort') running?.abort();
    else void answer(message);
  });
}

/**
 * The answer as JSON text, with every member. Validated here, so that invalid or huge answers never reach the
 * main thread.
 * @param {any} answered
 * @param {unknown} data
 */
function answerText(answered, data) {
  if (typeof answered !== 'object' || answered === null) throw new Error('the answer is no object');
  const { matched, confidence = 1, message = null, metadata = null, spans = null } = answered;
  if (typeof matched !== 'boolean') throw new Error('"matched" of the answer is no boolean');
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) {
    throw new Error('"confidence" of the answer is no number from 0 to 1');
  }
  if (message !== null && typeof message !== 'string') throw new Error('"message" of the answer is no text');
  if (typeof metadata !== 'object' || Array.isArray(metadata)) {
    throw new Error('"metadata" of the answer is no object');
  }
  const text = JSON.stringify({ matched, confidence, message, metadata, spans: checkedSpans(spans, data) });
  if (text.length > MAX_ANSWER_LENGTH) throw new Error(`the answer exceeds ${MAX_ANSWER_LENGTH} characters`);
  return text;
}

/**
 * @param {unknown} spans
 * @param {unknown} data
 */
function checkedSpans(spans, data) {
  if (spans === null) return null;
  if (!Array.isArray(spans)) throw new Error('"spans" of the answer is no list');
  if (typeof data !== 'string') throw new Error('"spans" of the answer need data that are a text');
  let last = 0;
  return spans.map((span) => {
    const { start, end } = span ?? {};
    const isWithin =
      Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= data.length;
    if (!isWithin || start < last) {
      throw new Error('"spans" of the answer are no places in the text, in the order of their starts');
    }
    last = start;
    return { start, end };
  });
}

/** Sends output line by line to the service log; excess output is dropped in this process. */
function sendOutputToLog() {
  let left = MAX_LINES_PER_SECOND;
  let dropped = 0;
  let second = 0;
  /** @param {string} line */
  const sendLine = (line) => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      if (dropped > 0) send({ log: `${dropped} further lines were dropped` });
      second = now;
      left = MAX_LINES_PER_SECOND;
      dropped = 0;
    }
    if (left === 0) dropped += 1;
    else {
      left -= 1;
      send({ log: line.slice(0, MAX_LINE_LENGTH) });
    }
  };
  /**
   * @param {string | Uint8Array} chunk
   * @param {...any} rest
   */
  const write = (chunk, ...rest) => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    for (const line of text.split('\n', MAX_LINES_PER_SECOND)) if (line.trim() !== '') sendLine(line);
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(done);
    return true;
  };
  process.stdout.write = write;
  process.stderr.write = write;
}

/** Ends the process with the service, for a reason of its own, and not with signals that are meant for the service. */
function endWithService() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  process.on('disconnect', () => process.exit());
  process.on('uncaughtException', (error) => {
    send({ crashed: messageOf(error) }, () => process.exit(1));
  });
  const { maxMemoryBytes } = input;
  const workerData = { isBusy, maxMemoryBytes, parent: process.ppid };
  new Worker(new URL('./memory-watch.mjs', import.meta.url), { workerData }).unref();
  try {
    os.setPriority(NICENESS);
  } catch {
    // Some containers forbid it, and nothing depends on it.
  }
}

/** @param {0 | 1} value */
function setBusy(value) {
  Atomics.store(isBusy, 0, value);
  if (value === 1) Atomics.notify(isBusy, 0);
}

/** @param {unknown} thrown */
function messageOf(thrown) {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.slice(0, MAX_LINE_LENGTH);
}
