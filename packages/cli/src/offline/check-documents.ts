import { ServiceError } from '../../../../src/contract/errors/service-error.js';
import { PARSE_OPTIONS } from '../../../../src/contract/input/messages.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import { objectsOf } from '../../../../src/manage/configuration/configuration-problems.js';
import {
  createDocumentSchema,
  type ReadDocument,
} from '../../../../src/manage/configuration/document-schema.js';
import { storedControlOf } from '../../../../src/manage/configuration/prepared-controls.js';
import { isTemplateInput } from '../../../../src/manage/controls/control-data.js';
import { proposeControl } from '../../../../src/manage/controls/control-proposal.js';
import type { StoredControl } from '../../../../src/manage/controls/definition/definition.js';
import { definitionWarnings } from '../../../../src/manage/controls/definition-warnings/definition-warnings.js';
import { type FileProblem, pathParts } from '../files/problems.js';
import { documentField, withPlaces } from '../files/refused-documents.js';
import { issueProblems, type PlacedDocument, problemAt, unknownInData } from './placed-problems.js';

/** What documents say, without a server. */
export interface Reading {
  readonly problems: readonly FileProblem[];
  /** The documents that were read, in their order. */
  readonly objects: readonly CheckedObject[];
}

/** A document that was read. */
export interface CheckedObject {
  readonly source: PlacedDocument;
  readonly object: ReadDocument['object'];
  /** The control as it is stored; undefined for other kinds, and for one with problems. */
  readonly control: StoredControl | undefined;
}

/** Reads documents by the schemas of the service, as if they were applied to an empty namespace, and renders templates. */
export function readObjects(
  sources: readonly PlacedDocument[],
  registry: EvaluatorRegistry,
  namespace: string | undefined,
): Reading {
  const schema = createDocumentSchema(registry);
  const problems: FileProblem[] = [];
  const read: { readonly source: PlacedDocument; readonly document: ReadDocument }[] = [];
  for (const source of sources) {
    problems.push(...unknownInData(source));
    const result = schema.safeParse(source.value, PARSE_OPTIONS);
    if (result.success) read.push({ source, document: result.data });
    else problems.push(...issueProblems(source, result.error.issues));
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
      return { source, object, control };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      problems.push(...problemsOf(error, source));
      return { source, object, control: undefined };
    }
  });
  return { problems, objects };
}

/** Members of the controls that have no effect, and conditions that are not what they seem. */
export function warningsOf({ objects }: Reading, registry: EvaluatorRegistry): FileProblem[] {
  return objects.flatMap(({ source, object, control }) => {
    if (control === undefined || object.family !== 'control') return [];
    const isTemplate = isTemplateInput(object.data);
    return [...definitionWarnings(control, registry)].map(({ field, message }) =>
      // What a template renders has no place in the file.
      problemAt(source, pathParts(isTemplate ? 'data' : field), `${field}: ${message}`),
    );
  });
}

function problemsOf(
  { options: { items = [], detail } }: ServiceError,
  source: PlacedDocument,
): FileProblem[] {
  if (items.length === 0) return [problemAt(source, [], detail)];
  return items.map(({ field = '', message = detail }) =>
    problemAt(source, pathParts(field), field === '' ? message : `${field}: ${message}`),
  );
}

function placed(
  field: string,
  message: string,
  read: readonly { readonly source: PlacedDocument }[],
): FileProblem {
  const { index, path } = documentField(field) ?? { index: 0, path: '' };
  const text = withPlaces(
    message,
    read.map(({ source }) => source),
  );
  const source = read[index]?.source;
  return source === undefined
    ? { file: '', line: 1, column: 1, message: text }
    : problemAt(source, pathParts(path), text);
}
