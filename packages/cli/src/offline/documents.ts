import { ControlDefinitionSchema } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import { demandedLabelOf, labelsOf } from '../../../../src/agents/agent-labels.js';
import {
  type DesiredLinks,
  type DesiredPolicy,
  objectKey,
} from '../../../../src/configuration/configuration-object.js';
import { placedItems } from '../../../../src/configuration/configuration-problems.js';
import { createDocumentSchema, type ReadObject } from '../../../../src/configuration/document-schema.js';
import { storedControlOf } from '../../../../src/configuration/prepared-controls.js';
import { ServiceError } from '../../../../src/contract/errors/service-error.js';
import { PARSE_OPTIONS } from '../../../../src/contract/input/messages.js';
import { didYouMean } from '../../../../src/contract/warnings/suggestion.js';
import { unknownMembers } from '../../../../src/contract/warnings/unknown-members.js';
import { proposeControl } from '../../../../src/controls/control-proposal.js';
import { isDraft, type StoredControl } from '../../../../src/controls/definition/definition.js';
import type { EvaluatorRegistry } from '../../../../src/core/evaluator.js';
import { isObject, type JsonObject, type JsonValue, stringifyJson } from '../../../exact-json/src/index.js';
import type { FileProblem } from '../files/problems.js';
import type { SourceDocument } from '../files/read-documents.js';
import { issueProblems, pathOfField, problemAt } from './placed-problems.js';

/** A document with the places of its members: of a file, or within another one. */
export type PlacedDocument = Pick<SourceDocument, 'file' | 'value' | 'placeOf'>;

/** A control of documents, as the service stores it. */
export interface OfflineControl {
  /** From 1, in the order of the documents. */
  readonly id: number;
  readonly name: string;
  readonly control: StoredControl;
  /** The text by which it is stored. */
  readonly data: string;
  /** Its definition as the document has it. */
  readonly written: JsonValue;
  readonly source: PlacedDocument;
}

/** The controls of documents, and which agents have them. */
export interface OfflineControls {
  readonly controls: readonly OfflineControl[];
  readonly policies: readonly Omit<DesiredPolicy, 'index'>[];
  readonly links: readonly Omit<DesiredLinks, 'index'>[];
  /** Null if there are none. */
  readonly problems: readonly FileProblem[];
}

/** Reads documents as the service does when they are applied to an empty namespace. */
export function readControls(
  sources: readonly PlacedDocument[],
  registry: EvaluatorRegistry,
): OfflineControls {
  const schema = createDocumentSchema(registry);
  const problems: FileProblem[] = [];
  const controls: OfflineControl[] = [];
  const policies: Omit<DesiredPolicy, 'index'>[] = [];
  const links: Omit<DesiredLinks, 'index'>[] = [];
  const places = new Map<string, PlacedDocument>();
  const naming: (() => void)[] = [];

  function add(object: ReadObject, source: PlacedDocument): void {
    const tell = (path: readonly PropertyKey[], message: string): void =>
      void problems.push(problemAt(source, path, message));
    const key = objectKey(object);
    const first = places.get(key);
    if (first !== undefined) {
      const { line, column } = first.placeOf([]);
      tell(['name'], `${first.file}:${line}:${column} is the same object`);
      return;
    }
    places.set(key, source);
    const demand = (family: 'control' | 'policy', names: readonly string[], member: string): void => {
      const known = [...(family === 'control' ? controls : policies)].map(({ name }) => name);
      for (const name of names) {
        if (known.includes(name)) continue;
        tell([member], `the documents have no ${family} ${name}${didYouMean(name, known)}`);
      }
    };
    if (object.family === 'control') {
      try {
        const control = storedControlOf({ ...object, index: 0 }, proposeControl(object.data, registry));
        const data = stringifyJson(control);
        const written = source.value.data ?? null;
        controls.push({ id: controls.length + 1, name: object.name, control, data, written, source });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        for (const { field, message } of placedItems(error, ''))
          tell(pathOfField(field?.replace(/^\./, '') ?? ''), message);
      }
    } else if (object.family === 'policy') {
      policies.push(object);
      naming.push(() => demand('control', object.controls, 'controls'));
    } else if (object.family === 'links') {
      links.push(object);
      naming.push(() => {
        demand('control', object.controls, 'controls');
        demand('policy', object.policies, 'policies');
      });
    } else {
      const names = object.installed.map(([, name]) => name);
      naming.push(() => demand('control', names, 'installed'));
      naming.push(() => demand('policy', [object.policy], 'policy'));
    }
  }

  for (const source of sources) {
    const read = schema.safeParse(source.value, PARSE_OPTIONS);
    const data = source.value.data ?? null;
    const options = { spelling: 'rest', path: 'data' } as const;
    const unknown = isObject(data) ? [...unknownMembers(ControlDefinitionSchema, data, options)] : [];
    for (const { field, message } of unknown) problems.push(problemAt(source, pathOfField(field), message));
    if (!read.success) problems.push(...issueProblems(source, read.error.issues));
    else if (unknown.length === 0) add(read.data.object, source);
  }
  if (problems.length === 0) for (const check of naming) check();
  return { controls, policies, links, problems };
}

/** The agent of a step. */
export interface Subject {
  /** Normalised. */
  readonly name: string;
  /** Of its registration. Its labels are in them. */
  readonly metadata: JsonObject;
}

/** The controls of an agent as the service has them; those of `bound` names are bound to the target of the step. */
export function controlsOf(
  { controls, policies, links }: OfflineControls,
  { name, metadata }: Subject,
  bound: readonly string[] = [],
): readonly OfflineControl[] {
  const labels = labelsOf(metadata);
  const own = links.find((one) => one.name === name);
  const has = policies.filter(
    (policy) =>
      policy.everyAgent ||
      own?.policies.includes(policy.name) === true ||
      (policy.agentLabels.length > 0 &&
        policy.agentLabels.every(
          (label) => labels.get(demandedLabelOf(label).name) === demandedLabelOf(label).value,
        )),
  );
  const names = new Set([...bound, ...(own?.controls ?? []), ...has.flatMap((policy) => policy.controls)]);
  return controls.filter((control) => names.has(control.name));
}

/** A control that evaluates nothing: its template lacks values. */
export function isUnfinished({ control }: OfflineControl): boolean {
  return isDraft(control);
}
