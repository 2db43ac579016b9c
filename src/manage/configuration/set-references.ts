import type { ErrorItem } from '../../contract/errors/service-error.js';
import { type Family, objectKey } from '../controls/applied-object.js';
import type { DesiredLinks, DesiredPolicy } from './configuration-object.js';
import type { PlannedChange } from './configuration-plan.js';
import { unknownName } from './configuration-problems.js';
import type { WantedPack } from './wanted-packs.js';

interface Documents {
  readonly policies: readonly DesiredPolicy[];
  readonly packs: readonly WantedPack[];
  readonly links: readonly DesiredLinks[];
}

/** Names of controls and policies in documents that neither `known` nor the documents have. */
export function unknownNames(
  documents: Documents,
  known: { readonly controls: ReadonlySet<string>; readonly policies: ReadonlySet<string> },
): ErrorItem[] {
  const items: ErrorItem[] = [];
  for (const { family, name, field } of referencesOf(documents)) {
    const names = family === 'control' ? known.controls : known.policies;
    if (!names.has(name)) items.push(unknownName(family, field, name, [...names]));
  }
  return items;
}

/** Documents that name what is deleted, because no document has it any more. */
export function removedReferences(documents: Documents, removed: readonly PlannedChange[]): ErrorItem[] {
  const gone = new Set(removed.map(objectKey));
  const items: ErrorItem[] = [];
  for (const { family, name, field } of referencesOf(documents)) {
    if (!gone.has(objectKey({ family, name }))) continue;
    items.push({
      resource: 'Request',
      field,
      code: 'deleted',
      message: `no document has the ${family} any more, so that it is deleted`,
      value: name,
      quotable: true,
    });
  }
  return items;
}

/** What documents name besides themselves, each with the member that names it. */
function* referencesOf({ policies, packs, links }: Documents): Generator<{
  readonly family: Extract<Family, 'control' | 'policy'>;
  readonly name: string;
  readonly field: string;
}> {
  for (const { index, controls } of [...policies, ...links]) {
    for (const name of controls) yield { family: 'control', name, field: `documents[${index}].controls` };
  }
  for (const { index, policies: names } of links) {
    for (const name of names) yield { family: 'policy', name, field: `documents[${index}].policies` };
  }
  for (const { desired } of packs) {
    const at = `documents[${desired.index}]`;
    yield { family: 'policy', name: desired.policy, field: `${at}.policy` };
    for (const [key, name] of desired.installed) {
      yield { family: 'control', name, field: `${at}.installed.${key}` };
    }
  }
}
