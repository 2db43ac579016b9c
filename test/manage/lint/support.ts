import { parseAllDocuments } from 'yaml';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { objectsOf } from '../../../src/manage/configuration/configuration-problems.js';
import { createDocumentReader } from '../../../src/manage/configuration/document-reading.js';
import {
  evaluatorsOfWindow,
  type LintFacts,
  lintDocuments,
} from '../../../src/manage/lint/lint-documents.js';
import type { LintFinding } from '../../../src/manage/lint/lint-rules.js';
import type { LintAgent } from '../../../src/manage/lint/registration-rules.js';
import { serviceRegistry } from '../../support/evaluators.js';

export const registry = serviceRegistry;
const readDocuments = createDocumentReader(registry);

/** A registered agent with steps. */
export interface TestAgent {
  readonly name: string;
  readonly labels?: readonly string[];
  readonly steps: readonly object[];
}

export const FACTS: LintFacts = {
  registry,
  kept: evaluatorsOfWindow(24 * 3_600_000),
  agents: null,
  stored: null,
  isEachAlone: false,
  pause: () => Promise.resolve(),
};

export function registered(...agents: readonly TestAgent[]): Pick<LintFacts, 'agents'> {
  const read = agents.map(({ name, labels = [], steps }): LintAgent => {
    return { name, labels, registration: JSON.stringify({ agent: { agent_name: name }, steps }) };
  });
  return { agents: { agents: read, isComplete: true } };
}

/** Lints documents, with what is known besides. */
export async function lint(
  documents: readonly unknown[],
  facts: Partial<LintFacts> = {},
): Promise<readonly LintFinding[]> {
  const read = await readDocuments(documents as JsonValue[]);
  if (read.problems.length > 0) throw new Error(JSON.stringify(read.problems));
  const { objects } = objectsOf(read.documents, 'default');
  return lintDocuments(objects, { ...FACTS, ...facts });
}

/** The same as `RULE INDEX FIELD`. */
export async function found(
  documents: readonly unknown[],
  facts: Partial<LintFacts> = {},
): Promise<string[]> {
  return (await lint(documents, facts)).map(({ rule, document, field }) => `${rule} ${document} ${field}`);
}

export function yamlDocuments(text: string): unknown[] {
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** A document of a control. */
export const control = (name: string, condition: object, more: object = {}) => ({
  kind: 'Control',
  name,
  data: { execution: 'server', condition, action: { decision: 'deny' }, ...more },
});
export const leaf = (evaluator: string, config: object, path = 'input') => ({
  selector: { path },
  evaluator: { name: evaluator, config },
});
export const regex = (pattern: string, path = 'input') => leaf('regex', { pattern }, path);
export const policy = (name: string, controls: readonly string[], more: object = {}) => ({
  kind: 'Policy',
  name,
  controls,
  ...more,
});
export const links = (name: string, controls: readonly string[], policies: readonly string[] = []) => ({
  kind: 'AgentLinks',
  name,
  controls,
  policies,
});
