import type { Warning } from '../../contract/warnings/warning.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { type ObjectName, objectKey } from './applied-object.js';
import { createAppliedStore } from './applied-store.js';

/** The owners of objects that were applied by configuration, by the names of the objects. One query for 500 of them. */
export async function ownersOf(
  scope: Scoped,
  family: 'control' | 'policy',
  names: readonly string[],
): Promise<Map<string, string>> {
  const applied = await createAppliedStore(scope).find(names.map((name) => objectKey({ family, name })));
  return new Map(applied.map(({ name, owner }) => [name, owner]));
}

/** Warnings about a change of objects that belong to owners of configurations. `field` is the member that names them. */
export async function appliedWarnings(
  scope: Scoped,
  field: string,
  objects: readonly ObjectName[],
): Promise<Warning[]> {
  const applied = await createAppliedStore(scope).find(objects.map(objectKey));
  return applied.map((one) => ({
    code: 'applied_by_configuration',
    field,
    message: `${TEXTS[one.family]} "${one.name}" is applied by the configuration "${one.owner}"; its next application reports this change as a conflict`,
  }));
}

/** The same about changes of what is linked to agents. */
export function appliedLinkWarnings(
  scope: Scoped,
  field: string,
  agentNames: readonly string[],
): Promise<Warning[]> {
  return appliedWarnings(
    scope,
    field,
    agentNames.map((name) => ({ family: 'links', name })),
  );
}

const TEXTS: Readonly<Record<ObjectName['family'], string>> = {
  control: 'the control',
  policy: 'the policy',
  pack: 'the pack',
  links: 'what is linked to the agent',
};
