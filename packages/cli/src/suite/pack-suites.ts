import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PARSE_OPTIONS } from '../../../../src/contract/input/messages.js';
import { OUTCOME_WORDS } from '../../../../src/decide/decisions/evaluation-options.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import { casesOf } from '../../../../src/manage/packs/case-steps.js';
import { casesSchema } from '../../../../src/manage/packs/file-format.js';
import type { PackCase } from '../../../../src/manage/packs/pack.js';
import { readPackFolder } from '../../../../src/manage/packs/pack-folder.js';
import { readDocuments } from '../../../documents/src/index.js';
import { isObject, stringifyJson } from '../../../exact-json/src/index.js';
import type { OfflineControl } from '../offline/documents.js';
import type { PlacedDocument } from '../offline/placed-problems.js';
import type { Suite, SuiteCase } from './suite.js';

/**
 * The cases of a pack as suites, one for each control: it must match the cases under "matching", and no others, and is evaluated
 * by itself. Rejects with a `PackFilesError` whose message has the problems of the files.
 */
export async function packSuites(
  folder: string,
  registry: EvaluatorRegistry,
  shown = folder,
): Promise<Suite[]> {
  const pack = await readPackFolder(folder, registry, false);
  const sources = documentsIn(folder, shown);
  return pack.controls.map(({ key, definition }): Suite => {
    const source = sources.find((one) => hasName(one, 'Control', 'name', key));
    if (source === undefined)
      throw new Error(`the files of the pack have changed: there is no control ${key}`);
    const control: OfflineControl = {
      id: 1,
      name: key,
      control: definition,
      data: stringifyJson(definition),
      written: definition,
      source,
    };
    const cases = sources
      .filter((one) => hasName(one, 'Cases', 'control', key))
      .flatMap((one) => suiteCases(one, key));
    const controls = { controls: [control], policies: [], links: [], problems: [] };
    return { name: `${pack.name}/${key}`, file: shown, controls, cases };
  });
}

function suiteCases({ file, value, placeOf }: PlacedDocument, key: string): SuiteCase[] {
  const read = casesSchema.parse(value, PARSE_OPTIONS);
  return casesOf(read, () => {}).map((one, index): SuiteCase => {
    const kind = one.matches ? 'matching' : 'other';
    const at = one.matches ? index : index - read.matching.length;
    return {
      name: `${kind}: ${one.name}`,
      place: { file, ...placeOf([kind, at]) },
      skip: null,
      question: questionOf(one),
      expect: { controls: one.matches ? [key] : [] },
    };
  });
}

function questionOf({ step, stage }: PackCase): SuiteCase['question'] {
  return {
    agent: null,
    target: null,
    step,
    stage,
    sessionId: null,
    stepId: null,
    error: null,
    approval: null,
    accepts: OUTCOME_WORDS,
    nowMs: null,
    history: [],
  };
}

/** The files have been read without a problem before. `shown`: the folder as it is named in places. */
function documentsIn(folder: string, shown: string): PlacedDocument[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.(?:ya?ml|json)$/.test(name))
    .sort()
    .flatMap((name) => {
      const file = path.join(shown, name);
      const { documents } = readDocuments(readFileSync(path.join(folder, name), 'utf8'));
      return documents.flatMap(({ value, placeOf }) => (isObject(value) ? [{ file, value, placeOf }] : []));
    });
}

function hasName({ value }: PlacedDocument, kind: string, member: string, name: string): boolean {
  return value.kind === kind && value[member] === name;
}
