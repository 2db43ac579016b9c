import type { ConfigurationService as ConfigurationServiceDesc } from '../../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { type HandlerCall, type HandlersOf, handler } from '../../contract/call/handler.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { createPauses } from '../../decide/decisions/in-turns.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { withLongestWindows } from '../../kernel/evaluators/load-evaluators.js';
import type { Database } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { objectsOf } from '../configuration/configuration-problems.js';
import { createConfigurationSchemas } from '../configuration/configuration-schemas.js';
import { createDocumentReader } from '../configuration/document-reading.js';
import { evaluatorsOfWindow, lintDocuments } from './lint-documents.js';
import { finding, type LintFinding, ruleOfWarning } from './lint-rules.js';
import { readLintAgents, readStored } from './namespace-facts.js';

export interface LintOptions {
  readonly database: Pick<Database, 'client'>;
  readonly registry: EvaluatorRegistry;
  /** Longest window of controls with memory, in milliseconds. */
  readonly maxWindowMs: number;
}

/** Lint of documents, with the registrations and the objects of the namespace. */
export function createLint({
  database,
  registry,
  maxWindowMs,
}: LintOptions): Pick<HandlersOf<typeof ConfigurationServiceDesc>, 'lintConfiguration'> {
  // A window that the service does not keep is found, not refused.
  const wide = withLongestWindows(registry);
  const kept = evaluatorsOfWindow(maxWindowMs);
  const readDocuments = createDocumentReader(wide);
  return {
    lintConfiguration: handler(createConfigurationSchemas().lintConfiguration, async (input, context) => {
      const read = await readDocuments(input.documents, context.signal);
      if (read.problems.length > 0) throw invalidRequest(read.problems);
      const scope = scopeOf(context, database.client);
      const { objects, problems } = objectsOf(read.documents, context.principal.namespace.name);
      const found = documentFindings(problems, context);
      // It is not awaited after the time limit of requests.
      const pause = createPauses(context.signal);
      const isEachAlone = input.each_alone;
      const facts = {
        registry: wide,
        kept,
        agents: await readLintAgents(scope),
        stored: isEachAlone ? null : await readStored(scope, wide, pause),
        isEachAlone,
        pause,
      };
      const all = [...found, ...(await lintDocuments(objects, facts))];
      return { findings: all.sort((one, other) => one.document - other.document) };
    }),
  };
}

const PLACE = /^documents\[(\d+)\]\.?/;

/** What is wrong with the documents as a set, and members that the service does not read. */
function documentFindings(problems: readonly ErrorItem[], context: HandlerCall): LintFinding[] {
  const ignored = context.ignoredParts();
  context.warn(ignored.filter(({ field }) => !PLACE.test(field)));
  return [
    ...problems.flatMap(({ field = '', message }) => placed(field, 'invalid-document', message ?? '')),
    ...ignored.flatMap((warning: Warning) => {
      const rule = ruleOfWarning(warning);
      return rule === null ? [] : placed(warning.field, rule, warning.message);
    }),
  ];
}

function placed(field: string, rule: LintFinding['rule'], message: string): LintFinding[] {
  const [start = '', document] = PLACE.exec(field) ?? [];
  return document === undefined ? [] : [finding(rule, Number(document), field.slice(start.length), message)];
}
