/**
 * Changes the code in one place at a time and runs the tests of its area: a change that no test notices, a survivor, is
 * behaviour that the tests do not hold. Works on a copy of the tree.
 *
 *     node scripts/mutants.mjs [--most 400] [--seed 1] [--area core] [--places FILE]
 *
 * `--most` is the number of changes, spread over the areas by their size; `--seed` repeats a choice; `--places` names a
 * file with lines `PATH:LINE:COLUMN` (as printed) to try these only.
 */
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'vite';
import { createVitest } from 'vitest/node';

/** Folders and files of the source, and the tests that hold them without starting processes. */
const AREAS = {
  core: { sources: ['src/kernel/core'], tests: ['test/kernel/core'] },
  decisions: { sources: ['src/decide/decisions'], tests: ['test/decide/decisions', 'test/kernel/core'] },
  auth: { sources: ['src/serve/auth'], tests: ['test/serve/auth'] },
  admission: { sources: ['src/serve/admission'], tests: ['test/serve/admission'] },
  lane: {
    sources: ['src/serve/lane', 'src/serve/call', 'src/serve/evaluation', 'src/serve/wire'],
    tests: ['test/serve/lane', 'test/serve/call', 'test/serve/wire', 'test/serve/evaluation'],
  },
  stores: {
    sources: [
      'src/manage/agents/agent-store.ts',
      'src/decide/agent-state/agent-use-store.ts',
      'src/decide/agent-state/agent-control-store.ts',
      'src/decide/agent-state/control-links-store.ts',
      'src/manage/controls/control-store.ts',
    ],
    tests: ['test/storage/database'],
  },
};
/** A change that makes the tests hang is noticed, too. */
const LIMIT_MS = 180_000;

const SWAPPED = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
};

const { values } = parseArgs({
  options: {
    most: { type: 'string', default: '400' },
    seed: { type: 'string', default: '1' },
    area: { type: 'string' },
    places: { type: 'string' },
  },
});

/** The changes that can be made to a file. */
function mutantsOf(file) {
  const text = readFileSync(file, 'utf8');
  const found = [];
  const add = (start, end, replacement) => {
    const before = text.slice(0, start).split('\n');
    const place = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    found.push({ file, start, end, replacement, place, original: text.slice(start, end) });
  };
  visit(parseSync(file, text).program, add, text);
  return found;
}

function visit(node, add, text) {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, add, text);
    return;
  }
  if (node === null || typeof node !== 'object' || typeof node.type !== 'string') return;
  // Types have no effect, and imports only this one.
  if (node.type.startsWith('TS') && !/^TS(?:As|NonNull|Satisfies)/.test(node.type)) return;
  if (node.type.startsWith('Import')) return;
  if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
    const operator = SWAPPED[node.operator];
    const at = text.indexOf(node.operator, node.left.end);
    if (operator !== undefined && at >= 0) add(at, at + node.operator.length, operator);
  } else if (node.type === 'UnaryExpression' && node.operator === '!') {
    add(node.start, node.start + 1, '');
  } else if (node.type === 'Literal' && typeof node.value === 'boolean') {
    add(node.start, node.end, String(!node.value));
  } else if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
    add(node.test.start, node.test.end, `!(${text.slice(node.test.start, node.test.end)})`);
  } else if (node.type === 'ExpressionStatement' && node.directive === undefined) {
    add(node.start, node.end, ';');
  }
  for (const key in node) if (key !== 'parent') visit(node[key], add, text);
}

function filesIn(folder) {
  if (folder.endsWith('.ts')) return [folder];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
    .sort();
}

/** Numbers from 0 to 1 (mulberry32). */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sample(all, count, random) {
  const left = [...all];
  for (let index = left.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [left[index], left[other]] = [left[other], left[index]];
  }
  return left.slice(0, count);
}

function chosen() {
  const names = Object.keys(AREAS).filter((name) => values.area === undefined || name === values.area);
  const all = new Map(
    names.map((name) => [name, AREAS[name].sources.flatMap(filesIn).flatMap((file) => mutantsOf(file))]),
  );
  if (values.places !== undefined) {
    const wanted = new Set(readFileSync(values.places, 'utf8').match(/[\w./-]+:\d+:\d+/g));
    return new Map([...all].map(([name, some]) => [name, some.filter(({ place }) => wanted.has(place))]));
  }
  const total = [...all.values()].reduce((sum, { length }) => sum + length, 0);
  const random = createRandom(Number(values.seed));
  return new Map(
    [...all].map(([name, some]) => [
      name,
      sample(some, Math.round((Number(values.most) * some.length) / total), random),
    ]),
  );
}

function copyOfTree() {
  const copy = mkdtempSync(path.join(os.tmpdir(), 'mutants-'));
  // The user that PostgreSQL runs as has to enter it.
  chmodSync(copy, 0o755);
  const left = new Set(['node_modules', '.git', 'coverage']);
  cpSync('.', copy, { recursive: true, filter: (from) => !left.has(path.normalize(from)) });
  symlinkSync(path.resolve('node_modules'), path.join(copy, 'node_modules'));
  return copy;
}

const mutants = chosen();
const copy = copyOfTree();
process.chdir(copy);
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));

const silent = { onInit() {} };
class AsGiven {
  shard(files) {
    return files;
  }
  sort(files) {
    return files;
  }
}
const vitest = await createVitest('test', {
  watch: false,
  bail: 1,
  reporters: [silent],
  root: copy,
  sequence: { sequencer: AsGiven },
});

/** Runs the files in this order until one fails; `outcome` is `incomplete` if the end of the run before reached into it. */
async function run(specifications) {
  const ending = AbortSignal.timeout(LIMIT_MS);
  const running = vitest.runTestSpecifications(specifications);
  const onEnd = () => void vitest.cancelCurrentRun('keyboard-input');
  ending.addEventListener('abort', onEnd);
  const { testModules, unhandledErrors } = await running.finally(() =>
    ending.removeEventListener('abort', onEnd),
  );
  const states = testModules.map((module) => module.state());
  if (ending.aborted || unhandledErrors.length > 0 || states.includes('failed')) {
    return { outcome: 'failed', testModules };
  }
  const isWhole = states.length === specifications.length && states.every((state) => state === 'passed');
  return { outcome: isWhole ? 'passed' : 'incomplete', testModules };
}

async function runWhole(specifications) {
  for (let tries = 0; tries < 5; tries += 1) {
    const result = await run(specifications);
    if (result.outcome !== 'incomplete') return result;
  }
  throw new Error('the tests do not run to their end');
}

let isIncomplete = false;
for (const [area, some] of mutants) {
  if (some.length === 0) continue;
  const specifications = (await vitest.globTestSpecifications(AREAS[area].tests)).filter(
    ({ moduleId }) => !/\.system\./.test(path.basename(moduleId)),
  );
  const first = await runWhole(specifications);
  if (first.outcome !== 'passed') {
    console.log(`${area}: its tests fail without any change`);
    isIncomplete = true;
    continue;
  }
  const times = new Map(first.testModules.map((module) => [module.moduleId, module.diagnostic().duration]));
  specifications.sort((one, other) => (times.get(one.moduleId) ?? 0) - (times.get(other.moduleId) ?? 0));
  let survivors = 0;
  for (const { file, start, end, replacement, place, original } of some) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.slice(0, start) + replacement + text.slice(end));
    vitest.invalidateFile(path.resolve(file));
    const { outcome } = await runWhole(specifications);
    writeFileSync(file, text);
    vitest.invalidateFile(path.resolve(file));
    if (outcome === 'failed') continue;
    survivors += 1;
    console.log(`survived ${place}  ${original.split('\n')[0]}  ->  ${replacement.split('\n')[0]}`);
  }
  console.log(`${area}: ${some.length - survivors} of ${some.length} changes noticed`);
}
await vitest.close();
process.exit(isIncomplete ? 1 : 0);
