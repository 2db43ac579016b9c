import { PARSE_OPTIONS } from '../../../../src/contract/input/messages.js';
import { didYouMean } from '../../../../src/contract/warnings/suggestion.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import type { JsonObject, JsonValue } from '../../../exact-json/src/index.js';
import { documentsOf } from '../files/documents-of.js';
import { type FileProblem, FilesError } from '../files/problems.js';
import { controlsOf, type OfflineControls, readControls } from '../offline/documents.js';
import { issueProblems, type PlacedDocument, problemAt } from '../offline/placed-problems.js';
import { questionOf, type Tell } from './case-reader.js';
import type { Question } from './judge.js';
import {
  type Combination,
  combinationCount,
  combinationsOf,
  combinationText,
  substituted,
} from './matrix.js';
import type { Suite, SuiteCase } from './suite.js';
import {
  caseSchema,
  type Expectation,
  MAX_CASES,
  MEMBER_NAMES,
  matrixSchema,
  suiteSchema,
} from './suite-schema.js';

/** What the reading of suites needs. */
export interface SuiteSources {
  readonly registry: EvaluatorRegistry;
  /**
   * The documents of a file or folder of controls that a suite names. Throws a `FilesError` with problems of the files, or an
   * Error that says why there are none.
   */
  controlsAt(suiteFile: string, path: string): Promise<readonly PlacedDocument[]>;
  /** Milliseconds since 1970. */
  readonly presentMs: number;
}

/** Reads the suites of a file. Rejects with a `FilesError` with the problems of all of them. */
export async function readSuites(file: string, content: string, sources: SuiteSources): Promise<Suite[]> {
  const read: SuiteReading[] = [];
  for (const document of documentsOf(file, content)) read.push(await readSuite(document, sources));
  const found = read.flatMap((one) => one.problems);
  if (found.length > 0) throw new FilesError(found);
  return read.flatMap(({ suite }) => suite ?? []);
}

interface SuiteReading {
  readonly suite: Suite | null;
  readonly problems: readonly FileProblem[];
}

async function readSuite(document: PlacedDocument, sources: SuiteSources): Promise<SuiteReading> {
  const { file } = document;
  const problems: FileProblem[] = [];
  const tell: Tell = (path, message) => void problems.push(problemAt(document, path, message));
  const parsed = suiteSchema.safeParse(document.value, PARSE_OPTIONS);
  if (!parsed.success) {
    return { suite: null, problems: issueProblems(document, parsed.error.issues, MEMBER_NAMES) };
  }
  const suite = parsed.data;
  if (suite.controls === undefined && suite.agent === undefined) {
    tell([], 'must have controls, or an agent whose controls a server has');
  }
  const controls = suite.controls === undefined ? null : await controlsOfSuite(suite.controls);

  async function controlsOfSuite(given: readonly (string | JsonObject)[]): Promise<OfflineControls> {
    const found: PlacedDocument[] = [];
    for (const [index, one] of given.entries()) {
      if (typeof one !== 'string') {
        found.push(inside(document, ['controls', index], one));
        continue;
      }
      try {
        found.push(...(await sources.controlsAt(file, one)));
      } catch (error) {
        if (error instanceof FilesError) problems.push(...error.problems);
        else tell(['controls', index], error instanceof Error ? error.message : String(error));
      }
    }
    const read = readControls(found, sources.registry);
    problems.push(...read.problems);
    return read;
  }

  const cases = suite.cases.flatMap((written, index) => casesOf(written, index));
  const names = new Set<string>();
  for (const { name, place } of cases) {
    if (names.has(name))
      problems.push({ ...place, message: `name: another case of the suite is named ${name}` });
    names.add(name);
  }
  if (cases.length > MAX_CASES)
    tell(['cases'], `has ${cases.length} cases with matrices; at most ${MAX_CASES} are run`);
  return { suite: { name: suite.name ?? file, file, controls, cases }, problems };

  function casesOf(written: JsonObject, index: number): SuiteCase[] {
    const at = ['cases', index] as const;
    const before = problems.length;
    if (Object.hasOwn(written, 'only')) {
      tell(
        [...at, 'only'],
        'cases cannot be singled out in a file, where the others would go unnoticed; use --filter NAME',
      );
      return [];
    }
    const { matrix, ...plain } = written;
    if (matrix === undefined) return caseOf(plain, null);
    const read = matrixSchema.safeParse(matrix, PARSE_OPTIONS);
    if (!read.success) {
      problems.push(...issueProblems(document, read.error.issues, [], [...at, 'matrix']));
      return [];
    }
    if (combinationCount(read.data) > MAX_CASES) {
      tell(
        [...at, 'matrix'],
        `has ${combinationCount(read.data)} combinations; at most ${MAX_CASES} are run`,
      );
      return [];
    }
    return combinationsOf(read.data).flatMap((combination) =>
      // Its other combinations are most likely wrong the same way.
      problems.length > before ? [] : caseOf(plain, combination),
    );

    function caseOf(given: JsonObject, combination: Combination | null): SuiteCase[] {
      const suffix = combination === null ? '' : ` ${combinationText(combination)}`;
      const told: Tell = (path, message) =>
        tell([...at, ...path], `${message}${suffix === '' ? '' : `; in ${suffix.trim()}`}`);
      const whole: JsonValue =
        combination === null
          ? given
          : substituted(given, combination, (parameter) =>
              told([], `the matrix has no value for ${parameter}`),
            );
      if (problems.length > before) return [];
      const parsedCase = caseSchema.safeParse(whole, PARSE_OPTIONS);
      if (!parsedCase.success) {
        problems.push(...issueProblems(document, parsedCase.error.issues, MEMBER_NAMES, at));
        return [];
      }
      const { name, skip = null, expect } = parsedCase.data;
      const question = questionOf(parsedCase.data, suite, sources.presentMs, told);
      if (controls !== null && controls.problems.length === 0) {
        checkAgent(question, controls, parsedCase.data.agent === undefined ? ['agent'] : [...at, 'agent']);
        checkNames(expect, controls, told);
      }
      return [{ name: `${name}${suffix}`, place: { file, ...document.placeOf(at) }, skip, question, expect }];
    }
  }

  function checkAgent(
    { agent, target }: Question,
    known: OfflineControls,
    path: readonly PropertyKey[],
  ): void {
    if (agent === null || controlsOf(known, agent, target?.controls).length > 0) return;
    const message = `the documents give the agent ${agent.name} no control`;
    const meant = didYouMean(
      agent.name,
      known.links.map(({ name }) => name),
    );
    // Once for all cases of the suite.
    if (problems.some((one) => one.message.endsWith(`${message}${meant}`))) return;
    tell(path, `${message}${meant}`);
  }
}

function checkNames(expect: Expectation, { controls }: OfflineControls, tell: Tell): void {
  const known = controls.map(({ name }) => name);
  const listed =
    expect.controls === undefined || Array.isArray(expect.controls)
      ? expect.controls
      : expect.controls.contains;
  for (const [member, names] of [
    ['controls', listed],
    ['errors', expect.errors],
  ] as const) {
    for (const name of names ?? []) {
      if (!known.includes(name))
        tell(['expect', member], `the suite has no control ${name}${didYouMean(name, known)}`);
    }
  }
}

/** A document within another one. */
function inside(
  { file, placeOf }: Omit<PlacedDocument, 'value'>,
  path: readonly PropertyKey[],
  value: JsonObject,
): PlacedDocument {
  return { file, value, placeOf: (inner) => placeOf([...path, ...inner]) };
}
