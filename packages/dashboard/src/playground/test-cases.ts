import { isJsonObject } from '../code/json-members.js';
import { rawValues } from '../code/raw-json.js';

export type CaseStage = 'pre' | 'post';
export type CaseOutcome = 'allow' | 'deny' | 'steer';

/** A step and the verdict that is expected of it. */
export interface TestCase {
  readonly name: string;
  readonly agent: string;
  readonly stage: CaseStage;
  /** JSON text. */
  readonly step: string;
  readonly expected: ExpectedVerdict;
  /** Revision of the controls when the case was saved, for information. */
  readonly revision: number;
}

export interface ExpectedVerdict {
  readonly outcome: CaseOutcome;
  /** Names of the controls that match, in alphabetical order. */
  readonly matches: readonly string[];
}

/** Value of the member `format` of a file of test cases. */
const FORMAT = 'control-enforcement/test-cases/1';
const OUTCOMES = new Set<unknown>(['allow', 'deny', 'steer']);
const STAGES = new Set<unknown>(['pre', 'post']);

/** A file of test cases. Steps are written as they are, with all digits of their numbers. */
export function testCasesText(cases: readonly TestCase[]): string {
  const texts = cases.map(({ name, agent, stage, step, expected, revision }) => {
    const before = JSON.stringify({ name, agent, stage }).slice(0, -1);
    const after = JSON.stringify({ expected, revision }).slice(1);
    return `    ${before},"step":${step.trim()},${after}`;
  });
  return `{\n  "format": "${FORMAT}",\n  "cases": [\n${texts.join(',\n')}\n  ]\n}\n`;
}

/** Reads a file of test cases. Throws an error that says what is wrong with it. */
export function readTestCases(text: string): TestCase[] {
  const file = parse(text);
  if (!isJsonObject(file) || file.format !== FORMAT || !Array.isArray(file.cases)) {
    throw new Error(`The file has no test cases: its member "format" is not "${FORMAT}".`);
  }
  const steps = rawValues(text, (path) => path.length === 3 && path[0] === 'cases' && path[2] === 'step');
  return file.cases.map((one: unknown, index) =>
    readCase(one, steps.get(JSON.stringify(['cases', index, 'step'])), index),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The file is not JSON: ${(error as Error).message}`);
  }
}

function readCase(one: unknown, step: string | undefined, index: number): TestCase {
  const problem = (what: string) => new Error(`Case ${index + 1} of the file has no valid ${what}.`);
  if (!isJsonObject(one)) throw problem('object');
  const { name, agent, stage, expected, revision } = one;
  if (typeof name !== 'string') throw problem('"name"');
  if (typeof agent !== 'string') throw problem('"agent"');
  if (!STAGES.has(stage)) throw problem('"stage"');
  if (step === undefined) throw problem('"step"');
  if (!isJsonObject(expected) || !OUTCOMES.has(expected.outcome)) throw problem('"expected"');
  const matches = expected.matches;
  if (!Array.isArray(matches) || !matches.every((match) => typeof match === 'string')) {
    throw problem('"expected.matches"');
  }
  return {
    name,
    agent,
    stage: stage as CaseStage,
    step,
    expected: { outcome: expected.outcome as CaseOutcome, matches },
    revision: typeof revision === 'number' ? revision : 0,
  };
}

/** How a verdict differs from the expected one; null if it does not. */
export function difference(expected: ExpectedVerdict, actual: ExpectedVerdict): string | null {
  const parts: string[] = [];
  if (expected.outcome !== actual.outcome) {
    parts.push(`the outcome is ${actual.outcome}, not ${expected.outcome}`);
  }
  const missing = expected.matches.filter((name) => !actual.matches.includes(name));
  const extra = actual.matches.filter((name) => !expected.matches.includes(name));
  if (missing.length > 0) parts.push(`no match of ${missing.join(', ')}`);
  if (extra.length > 0) parts.push(`a match of ${extra.join(', ')}`);
  return parts.length === 0 ? null : parts.join('; ');
}
