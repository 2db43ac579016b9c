import { objectsOf } from '../../../../src/configuration/configuration-problems.js';
import { createDocumentSchema, type ReadDocument } from '../../../../src/configuration/document-schema.js';
import { storedControlOf } from '../../../../src/configuration/prepared-controls.js';
import { ServiceError } from '../../../../src/contract/errors/service-error.js';
import { PARSE_OPTIONS } from '../../../../src/contract/input/messages.js';
import { isTemplateInput } from '../../../../src/controls/control-data.js';
import { proposeControl } from '../../../../src/controls/control-proposal.js';
import type { StoredControl } from '../../../../src/controls/definition/definition.js';
import { definitionWarnings } from '../../../../src/controls/definition-warnings/definition-warnings.js';
import type { EvaluatorRegistry } from '../../../../src/core/evaluator.js';
import { type FileProblem, pathParts } from '../files/problems.js';
import type { SourceDocument } from '../files/read-documents.js';
import { unknownInData } from './unknown-in-data.js';

/** What was found in documents without a server. */
export interface Check {
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
  /** The documents that were read, in their order. */
  readonly objects: readonly CheckedObject[];
}

/** A document that was read. */
export interface CheckedObject {
  readonly source: SourceDocument;
  readonly object: ReadDocument['object'];
  /** The control as it is stored; undefined for other kinds, and for one with problems. */
  readonly control: StoredControl | undefined;
}

/** Reads documents by the schemas of the service, renders templates, and looks for members that have no effect. */
export function checkDocuments(
  sources: readonly SourceDocument[],
  registry: EvaluatorRegistry,
  namespace: string | undefined,
): Check {
  const schema = createDocumentSchema(registry);
  const problems: FileProblem[] = [];
  const warnings: FileProblem[] = [];
  const read: { readonly source: SourceDocument; readonly document: ReadDocument }[] = [];
  for (const source of sources) {
    problems.push(...unknownInData(source));
    const result = schema.safeParse(source.value, PARSE_OPTIONS);
    if (result.success) read.push({ source, document: result.data });
    else {
      for (const { path, message } of result.error.issues) problems.push(problemAt(source, path, message));
    }
  }
  const named = namespace ?? read.find(({ document }) => document.namespace !== null)?.document.namespace;
  const set = objectsOf(
    read.map(({ document }) => document),
    named ?? '',
  );
  for (const { field = '', message = '' } of set.problems) problems.push(placed(field, message, read));
  const objects = read.map(({ source, document: { object } }): CheckedObject => {
    if (object.family !== 'control') return { source, object, control: undefined };
    try {
      const control = storedControlOf({ ...object, index: 0 }, proposeControl(object.data, registry));
      for (const { field, message } of definitionWarnings(control, registry)) {
        warnings.push(
          problemAt(source, pathParts(isTemplateInput(object.data) ? 'data' : field), `${field}: ${message}`),
        );
      }
      return { source, object, control };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      problems.push(...problemsOf(error, source));
      return { source, object, control: undefined };
    }
  });
  return { problems, warnings, objects };
}

function problemsOf(
  { options: { items = [], detail } }: ServiceError,
  source: SourceDocument,
): FileProblem[] {
  if (items.length === 0) return [problemAt(source, [], detail)];
  return items.map(({ field = '', message = detail }) =>
    problemAt(source, pathParts(field), field === '' ? message : `${field}: ${message}`),
  );
}

function problemAt(source: SourceDocument, path: readonly PropertyKey[], message: string): FileProblem {
  const where = path.length === 0 || message.startsWith(`${pathText(path)}: `) ? '' : `${pathText(path)}: `;
  return { file: source.file, ...source.placeOf(path), message: `${where}${message}` };
}

function placed(
  field: string,
  message: string,
  read: readonly { readonly source: SourceDocument }[],
): FileProblem {
  const { index, path } = documentField(field) ?? { index: 0, path: '' };
  const source = read[index]?.source;
  const text = message.replaceAll(/documents\[(\d+)\]/g, (whole, other: string) => {
    const first = read[Number(other)]?.source;
    if (first === undefined) return whole;
    const { line } = first.placeOf([]);
    return `the document in ${first.file}:${line}`;
  });
  return source === undefined
    ? { file: '', line: 1, column: 1, message: text }
    : problemAt(source, pathParts(path), text);
}

/** `documents[3].data.scope` → 3 and `data.scope`; undefined for a field of no document. */
export function documentField(field: string): { readonly index: number; readonly path: string } | undefined {
  const found = /^documents\[(\d+)\](?:\.(.*))?$/s.exec(field);
  return found === null ? undefined : { index: Number(found[1]), path: found[2] ?? '' };
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
