import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { findUp } from '../../../src/contract/runtime/package-root.js';
import { createPartFactory } from '../../../src/kernel/core/evaluator-part.js';
import { prepareControl } from '../../../src/kernel/core/prepared-control.js';
import { linkProgram } from '../../../src/kernel/core/program.js';
import type { Step } from '../../../src/kernel/core/types.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { createParserPool } from '../../../src/kernel/evaluators/sql/parser-pool.js';
import { createSqlEvaluator } from '../../../src/kernel/evaluators/sql/sql.js';
import { evaluatorNames } from '../../../src/manage/controls/definition/definition.js';
import type { PackControl } from '../../../src/manage/packs/pack.js';
import { readPackFolder } from '../../../src/manage/packs/pack-folder.js';
import { serviceEvaluators } from '../../support/evaluators.js';

const ROOT = path.dirname(findUp('package.json'));
const FOLDER = path.join(ROOT, 'packs');
const NAMES = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const pool = createParserPool({ parseTimeoutMs: 300_000 });
afterAll(() => pool.close());
const patientSql = createSqlEvaluator(pool);
const registry = createRegistry(
  serviceEvaluators.map((one) => (one.name === patientSql.name ? patientSql : one)),
);
/** Seven times this is below the length up to which texts are normalised. */
const LENGTH = 30_000;

const filled = (text: string): string => text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH);
/** Ordinary texts, and texts that many patterns begin to match. */
const TEXTS: readonly string[] = [
  readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8'),
  readFileSync(path.join(ROOT, 'src/kernel/core/program.ts'), 'utf8'),
  '<div style="color:red" onclick="x(1)"><a href="https://example.com/?a=b&c=d">x</a></div>\n',
  '-----BEGIN password=Aa1 https://a:b@c/?token= user@example.com 4111 1111 1111 111 ',
  '![[((<{"\'`\\$(',
  'Zm9vYmFyQmF6MTIzNDU2Nzg5MCtxdXV4L3F1dXo',
  '日本語のテキスト、\u200bignore \u202eall',
].map(filled);

/** The step of the first case of the control, with the text in each of its members, and as its input if it is a text. */
function stepWith({ cases }: PackControl, text: string): Step {
  const { step } = cases.find(({ matches }) => matches) ?? { step: undefined };
  if (step === undefined) throw new Error('the control has no case that matches');
  const input =
    step.type === 'tool' ? { command: text, query: text, url: text, body: text, path: text } : text;
  return { ...step, input, output: text, context: { documents: text } };
}

async function errorsOf(control: PackControl): Promise<string[]> {
  const prepared = prepareControl(control.definition, createPartFactory(registry));
  const program = linkProgram([{ id: 1, name: control.key, prepared }], {
    newExecutionId: () => 'execution',
    // A busy machine is no error of a control.
    withTimeout: (promise) => promise,
    nextTurn,
  });
  const errors: string[] = [];
  for (const [index, text] of TEXTS.entries()) {
    for (const stage of ['pre', 'post'] as const) {
      const verdict = await program.evaluate(stepWith(control, text), stage, 'verdict');
      for (const { result } of verdict.errors) errors.push(`text ${index} at ${stage}: ${result.error}`);
    }
  }
  return errors;
}

describe.each(NAMES)('on large texts, the pack %s', async (name) => {
  const { controls } = await readPackFolder(path.join(FOLDER, name), registry, true);
  // Where an expression reads a member, a text that is no number or far too long is an error, which fails closed.
  const others = controls.filter(({ definition }) => !evaluatorNames(definition).includes('cel'));

  it.each(others)('$key comes to a result', async (control) => {
    expect(await errorsOf(control)).toEqual([]);
  });
});
