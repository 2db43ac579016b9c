import { documentsOf } from '../../packages/cli/src/files/documents-of.js';
import { FilesError } from '../../packages/cli/src/files/problems.js';
import { createOfflineJudge } from '../../packages/cli/src/offline/offline-judge.js';
import { type RunOptions, runSuites, type SuiteRun } from '../../packages/cli/src/suite/run-suites.js';
import type { Suite } from '../../packages/cli/src/suite/suite.js';
import { readSuites } from '../../packages/cli/src/suite/suite-reader.js';
import { createRegistry } from '../../src/kernel/evaluators/load-evaluators.js';
import { serviceEvaluators } from '../support/evaluators.js';

export const registry = createRegistry([...serviceEvaluators]);
/** 2026-11-27T12:00:00Z. */
export const PRESENT_MS = Date.UTC(2026, 10, 27, 12);

/** The suites of a text; `files` are those of controls, by name. */
export function suitesOf(text: string, files: Readonly<Record<string, string>> = {}): Promise<Suite[]> {
  return readSuites('cards.test.yaml', text, {
    registry,
    presentMs: PRESENT_MS,
    async controlsAt(_, path) {
      const content = files[path];
      if (content === undefined) throw new Error(`there is no file ${path}`);
      return documentsOf(path, content);
    },
  });
}

/** The lines of what is wrong with a text. */
export async function problemsOf(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  try {
    await suitesOf(text, files);
    return [];
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    return error.message.split('\n');
  }
}

export function judgeOf({ controls }: Suite) {
  if (controls === null) throw new Error('the suite has no controls');
  return createOfflineJudge(controls, registry);
}

export async function runText(text: string, options: Partial<RunOptions> = {}): Promise<SuiteRun> {
  return runSuites(await suitesOf(text), { judgeOf, ...options });
}

/** A suite with a control that denies card numbers, one that steers, one that observes, and a limit. */
export const CONTROLS = String.raw`
kind: Suite
name: cards
now: 2026-11-27T12:00:00Z
controls:
  - kind: Control
    name: no-cards
    data:
      execution: server
      scope: { stages: [pre] }
      condition:
        and:
          - { selector: { path: input.text }, evaluator: { name: regex, config: { pattern: '\b\d{16}\b' } } }
          - not: { selector: { path: name }, evaluator: { name: list, config: { values: [vault] } } }
      action: { decision: deny }
  - kind: Control
    name: be-polite
    data:
      execution: server
      condition: { selector: { path: input.text }, evaluator: { name: regex, config: { pattern: damn } } }
      action: { decision: steer, steering_context: { message: Be polite. } }
  - kind: Control
    name: long-texts
    data:
      execution: server
      condition: { selector: { path: input.text }, evaluator: { name: regex, config: { pattern: '.{40}' } } }
      action: { decision: observe }
`;
