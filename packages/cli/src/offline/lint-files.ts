import { LONGEST_US } from '../../../../src/kernel/evaluators/memory/duration.js';
import { evaluatorsOfWindow, lintDocuments } from '../../../../src/manage/lint/lint-documents.js';
import { LINT_RULES, type LintRule, type Severity } from '../../../../src/manage/lint/lint-rules.js';
import { isObject } from '../../../exact-json/src/index.js';
import { CliError } from '../errors.js';
import { type DisableComment, disableComments } from '../files/disable-comments.js';
import type { SourceDocument } from '../files/documents-of.js';
import { type FileProblem, FilesError, pathParts, SEVERITY_NAMES } from '../files/problems.js';
import { refusedInFiles } from '../files/refused-documents.js';
import type { Rest } from '../rest.js';
import { readObjects } from './check-documents.js';
import { offlineEvaluators } from './evaluators.js';

/** What lint found in a document. A server may have rules that this version does not know. */
export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  /** Index of the document. */
  readonly document: number;
  readonly field: string;
  readonly message: string;
}

/** A finding at its place. */
export interface ShownFinding extends FileProblem {
  readonly severity: Severity;
  readonly rule: string;
  readonly field: string;
}

const MS_PER_HOUR = 3_600_000;

/** Lints documents without a server. Throws a `FilesError` with the problems of documents that are not valid. */
export async function lintOffline(
  sources: readonly SourceDocument[],
  namespace: string | undefined,
  memoryWindowHours: number,
): Promise<readonly Finding[]> {
  const maxWindowMs = memoryWindowHours * MS_PER_HOUR;
  if (!(maxWindowMs > 0 && maxWindowMs <= LONGEST_US / 1_000)) {
    throw new CliError('--memory-window-hours must be a number above 0, and at most 8784');
  }
  const registry = offlineEvaluators;
  const { problems, objects } = readObjects(sources, registry, namespace);
  if (problems.length > 0) throw new FilesError(problems);
  const kept = evaluatorsOfWindow(maxWindowMs);
  const pause = () => Promise.resolve();
  return lintDocuments(
    objects.map(({ object }, index) => ({ ...object, index })),
    { registry, kept, agents: null, stored: null, isEachAlone: false, pause },
  );
}

/** Lints documents with the registrations and the objects of a server. Throws as `lintOffline` does. */
export async function lintOnline(
  rest: Rest,
  sources: readonly SourceDocument[],
): Promise<readonly Finding[]> {
  const documents = sources.map(({ value }) => value);
  try {
    const { findings = [] } = await rest.send('POST', '/api/v1/configuration/lint', { documents });
    return (Array.isArray(findings) ? findings : []).filter(isObject).map((one) => ({
      rule: String(one.rule),
      severity: SEVERITY_NAMES.find((name) => name === one.severity) ?? 'error',
      document: Number(one.document),
      field: String(one.field ?? ''),
      message: String(one.message),
    }));
  } catch (error) {
    throw refusedInFiles(error, sources);
  }
}

/** Findings at their places, in the order of the files, without those that a comment accepts. */
export function shownFindings(
  findings: readonly Finding[],
  sources: readonly SourceDocument[],
): readonly ShownFinding[] {
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const comments = [...texts].flatMap(([file, text]) => disableComments(file, text));
  const used = new Set<DisableComment>();
  const accepting = new Map<string, DisableComment>();
  for (const comment of comments) {
    if (problemOf(comment) === null)
      accepting.set(`${comment.file}:${comment.target} ${comment.rule}`, comment);
  }
  const shown = findings.flatMap(({ document, ...one }): ShownFinding[] => {
    const source = sources[document];
    if (source === undefined) return [];
    const place = source.placeOf(pathParts(one.field));
    const comment = accepting.get(`${source.file}:${place.line} ${one.rule}`);
    if (comment !== undefined) {
      used.add(comment);
      return [];
    }
    const where = one.field === '' ? '' : `${one.field}: `;
    return [{ file: source.file, ...place, ...one, message: `${where}${one.message}` }];
  });
  const ofComments = comments.flatMap((comment): ShownFinding[] => {
    const problem = problemOf(comment);
    if (problem !== null) return [ofComment(comment, 'invalid-disable-comment', problem)];
    if (used.has(comment)) return [];
    return [
      ofComment(comment, 'unused-disable-comment', `${comment.rule} finds nothing on line ${comment.target}`),
    ];
  });
  const order = new Map([...texts.keys()].map((file, index) => [file, index]));
  return [...shown, ...ofComments].sort(
    (one, other) =>
      (order.get(one.file) ?? 0) - (order.get(other.file) ?? 0) ||
      one.line - other.line ||
      one.column - other.column,
  );
}

function ofComment({ file, line, column }: DisableComment, rule: LintRule, message: string): ShownFinding {
  return { file, line, column, severity: LINT_RULES[rule], rule, field: '', message };
}

function problemOf({ rule, reason }: DisableComment): string | null {
  if (!Object.hasOwn(LINT_RULES, rule))
    return `there is no rule ${rule === '' ? 'without a name' : rule}; docs/lint.md lists them`;
  if (reason === '') return `write a reason behind ${rule}: why is it accepted?`;
  return null;
}

/** Whether a severity is worse than one that is accepted, or "none". */
export function isBeyond(severity: Severity, accepted: string): boolean {
  const names: readonly string[] = SEVERITY_NAMES;
  return names.indexOf(severity) > names.indexOf(accepted);
}
