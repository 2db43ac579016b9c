import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import { FAMILIES } from '../controls/applied-object.js';
import { createDifferences } from './configuration-differences.js';
import type { Plan, PlannedChange } from './configuration-plan.js';

/** Objects that one entry of the audit log lists. */
const MAX_AUDITED = 1_000;

/** Changes as replies have them: controls, policies, packs and links, each by name. */
export function shownChanges(changes: readonly PlannedChange[]) {
  const differencesOf = createDifferences();
  const sorted = [...changes].sort((a, b) => {
    const families = FAMILIES.indexOf(a.family) - FAMILIES.indexOf(b.family);
    if (families !== 0) return families;
    return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  });
  return sorted.map(({ family, kind, name, policy, change, before, after, adopted }) => {
    const root = family === 'control' ? 'data' : '';
    const differences = change === 'update' ? differencesOf(before ?? '{}', after ?? '{}', root) : [];
    return { kind, name, policy: policy ?? null, change, differences, adopted };
  });
}

/** An applied set for the audit log. */
export function appliedFact(owner: string, note: string | undefined, { changes }: Plan): AuditFact {
  const made = changes.filter(({ change }) => change !== 'unchanged');
  const counts: JsonObject = {};
  for (const { change } of changes) counts[change] = Number(counts[change] ?? 0) + 1;
  const listed = made.slice(0, MAX_AUDITED).map(({ kind, name, change }) => ({ kind, name, change }));
  const after = { owner, ...(note === undefined ? {} : { note }), ...counts, changes: listed };
  return { action: 'configuration.apply', resource: 'configuration', id: owner, before: null, after };
}
