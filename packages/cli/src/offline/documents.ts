import { didYouMean } from '../../../../src/contract/warnings/suggestion.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import { demandedLabelOf, labelsOf } from '../../../../src/manage/agents/agent-labels.js';
import type {
  DesiredLinks,
  DesiredPolicy,
} from '../../../../src/manage/configuration/configuration-object.js';
import { isDraft, type StoredControl } from '../../../../src/manage/controls/definition/definition.js';
import { type JsonObject, type JsonValue, stringifyJson } from '../../../exact-json/src/index.js';
import type { FileProblem } from '../files/problems.js';
import { type CheckedObject, readObjects } from './check-documents.js';
import { type PlacedDocument, problemAt } from './placed-problems.js';

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
  readonly problems: readonly FileProblem[];
}

/** Reads documents as the service does when they are applied to an empty namespace. */
export function readControls(
  sources: readonly PlacedDocument[],
  registry: EvaluatorRegistry,
): OfflineControls {
  const { problems, objects } = readObjects(sources, registry, undefined);
  const controls: OfflineControl[] = [];
  const policies: Omit<DesiredPolicy, 'index'>[] = [];
  const links: Omit<DesiredLinks, 'index'>[] = [];
  for (const { source, object, control } of objects) {
    if (object.family === 'policy') policies.push(object);
    else if (object.family === 'links') links.push(object);
    if (object.family !== 'control' || control === undefined) continue;
    const data = stringifyJson(control);
    const written = source.value.data ?? null;
    controls.push({ id: controls.length + 1, name: object.name, control, data, written, source });
  }
  const unknown = problems.length > 0 ? [] : unknownNames(objects);
  return { controls, policies, links, problems: [...problems, ...unknown] };
}

/** Names of controls and policies that the documents do not have. */
function unknownNames(objects: readonly CheckedObject[]): FileProblem[] {
  const namesOf = (family: 'control' | 'policy'): ReadonlySet<string> =>
    new Set(objects.flatMap(({ object }) => (object.family === family ? [object.name] : [])));
  const known = { control: namesOf('control'), policy: namesOf('policy') };
  return objects.flatMap(({ source, object }) => {
    const missing = (family: 'control' | 'policy', names: readonly string[], member: string): FileProblem[] =>
      names
        .filter((name) => !known[family].has(name))
        .map((name) => {
          const meant = didYouMean(name, [...known[family]]);
          return problemAt(source, [member], `the documents have no ${family} ${name}${meant}`);
        });
    if (object.family === 'policy') return missing('control', object.controls, 'controls');
    if (object.family === 'links') {
      return [
        ...missing('control', object.controls, 'controls'),
        ...missing('policy', object.policies, 'policies'),
      ];
    }
    if (object.family !== 'pack') return [];
    const installed = object.installed.map(([, name]) => name);
    return [...missing('control', installed, 'installed'), ...missing('policy', [object.policy], 'policy')];
  });
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
