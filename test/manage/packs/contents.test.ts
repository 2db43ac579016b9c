import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findUp } from '../../../src/contract/runtime/package-root.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { evaluatorNames } from '../../../src/manage/controls/definition/definition.js';
import { definitionWarnings } from '../../../src/manage/controls/definition-warnings/definition-warnings.js';
import { readPackFolder } from '../../../src/manage/packs/pack-folder.js';
import { serviceEvaluators } from '../../support/evaluators.js';
import { wrongCases } from './run-cases.js';

/** The built-in packs; `PACK=NAME` runs the tests of one. */
const FOLDER = path.join(path.dirname(findUp('package.json')), 'packs');
const NAMES = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && [undefined, entry.name].includes(process.env.PACK))
  .map(({ name }) => name);
const LEAST_CASES = 20;
const registry = createRegistry([...serviceEvaluators]);

it('finds the folder of the packs, with lower-case names', () => {
  expect(NAMES.filter((name) => !/^[a-z0-9-]+$/.test(name))).toEqual([]);
});

describe.each(NAMES)('the pack %s', async (name) => {
  const { controls } = await readPackFolder(path.join(FOLDER, name), registry, true);
  const wrong = await wrongCases(path.join(FOLDER, name), registry);

  it('has controls with a reason of some sentences and references', () => {
    const poor = controls.filter(({ reason, references }) => reason.length < 80 || references.length === 0);
    expect(poor.map(({ key }) => key)).toEqual([]);
  });

  it('uses evaluators that every service has', () => {
    const used = controls.flatMap(({ definition }) => evaluatorNames(definition));
    expect(used.filter((one) => !registry.has(one))).toEqual([]);
  });

  it('has controls whose definitions give no warning', () => {
    const warnings = controls.flatMap(({ key, definition }) =>
      [...definitionWarnings(definition, registry)].map(
        ({ field, message }) => `${key}: ${field}: ${message}`,
      ),
    );
    expect(warnings).toEqual([]);
  });

  describe.each(controls)('control $key', (control) => {
    it(`has at least ${LEAST_CASES} different cases of either kind`, () => {
      const texts = (matches: boolean) =>
        new Set(
          control.cases
            .filter((one) => one.matches === matches)
            .map(({ step, stage }) => JSON.stringify([stage, step])),
        );
      expect(texts(true).size).toBeGreaterThanOrEqual(LEAST_CASES);
      expect(texts(false).size).toBeGreaterThanOrEqual(LEAST_CASES);
    });

    it('matches the cases that it must, and no other', () => {
      expect(wrong.get(control.key)).toEqual([]);
    });
  });
});
