import { type AuditStore, createAuditStore } from '../../../src/observe/audit/audit-store.js';
import type { AuditEntry } from '../../../src/storage/database/audit-chain.js';
import { type AuditFact, originOfService } from '../../../src/storage/database/audit-log.js';
import type { Database } from '../../../src/storage/database/database.js';

/** All entries after a position, oldest first. */
export async function allEntries(store: AuditStore, afterPosition = 0): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const entries of store.walk({ afterPosition })) found.push(...entries);
  return found;
}

export const storeOf = ({ bulk }: Pick<Database, 'bulk'>): AuditStore => createAuditStore(bulk);

const FACT: AuditFact = { action: 'control.create', resource: 'control', id: '1', before: null, after: null };

/** Makes a mutation that does nothing but write an entry. */
export async function record(
  database: Database,
  fact: Partial<AuditFact> = {},
  timeMs = 1_000,
): Promise<void> {
  const audit = { ...FACT, ...fact, origin: originOfService(timeMs) };
  await database.mutate(async () => ({ value: null, changed: true, change: {}, audit }));
}

/** Removes the triggers that refuse changes of the audit log, as an attacker with all rights would. */
export function withoutTriggers(kind: Database['kind']): string {
  if (kind === 'sqlite') {
    return ['no_update', 'no_delete', 'only_append']
      .map((name) => `DROP TRIGGER "audit_entries_${name}"`)
      .join('; ');
  }
  return 'ALTER TABLE "audit_entries" DISABLE TRIGGER ALL';
}
