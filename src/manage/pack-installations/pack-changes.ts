import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { listed, refuseMistakes, type Warning } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { type AuditFact, storedState } from '../../storage/database/audit-log.js';
import type { Mutator } from '../../storage/database/mutator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { ObjectName } from '../controls/applied-object.js';
import type { StoredControl } from '../controls/definition/definition.js';
import { definitionWarnings } from '../controls/definition-warnings/definition-warnings.js';
import { demandInstalled } from '../controls/demand-installed.js';
import type { ListedPack, PackCatalogue } from '../packs/catalogue.js';
import type { InstallationRow } from '../packs/pack-store.js';
import { packVersionChanged, unknownKeys } from './pack-errors.js';
import type { WrittenPack } from './pack-writing.js';
import { presentInstallations } from './presentation.js';

/** What changes of installations need. Each is one mutation: all of it or nothing. */
export interface PackChangesOptions {
  readonly catalogue: PackCatalogue;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Whether mistakes in definitions are always rejected. */
  readonly strict: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The warnings about controls that a change writes. Throws a VALIDATION_ERROR for evaluators of packages that are not
 * installed, and with the mistakes in strict mode.
 */
export function reviewControls(
  controls: readonly { readonly name: string; readonly control: StoredControl }[],
  { registry, strict }: Pick<PackChangesOptions, 'registry' | 'strict'>,
): Warning[] {
  for (const { control } of controls) demandInstalled(control, registry);
  const warnings = controls.map(({ name, control }) =>
    [...definitionWarnings(control, registry)].map(
      (warning): Warning => ({ ...warning, message: `control "${name}": ${warning.message}` }),
    ),
  );
  const all = listed(...warnings);
  if (strict) refuseMistakes(all, 'Control');
  return all;
}

/** What may be applied as configuration of what a change of an installation changes: the pack, its controls, and maybe its policy. */
export function appliedParts(
  { pack, policyName }: Pick<InstallationRow, 'pack' | 'policyName'>,
  changed: WrittenPack['controls'],
  touchesPolicy: boolean,
): ObjectName[] {
  return [
    { family: 'pack', name: pack, policy: policyName },
    ...(touchesPolicy ? [{ family: 'policy' as const, name: policyName }] : []),
    ...changed.flatMap(({ row, name }): ObjectName[] =>
      row?.control == null ? [] : [{ family: 'control', name }],
    ),
  ];
}

/** An installation as a reply shows it, with what the transaction has written. */
export async function shownInstallation(scope: Scoped, row: InstallationRow, packs: readonly ListedPack[]) {
  const [installation] = await presentInstallations([row], { scope, packs });
  if (installation === undefined) throw new Error(`installation ${row.id} is not presented`);
  return installation;
}

/** Throws PACK_VERSION_CHANGED. */
export function demandPackVersion(pack: ListedPack, version: string): void {
  if (pack.version !== version) throw packVersionChanged(pack.name, version, pack.version);
}

/** Throws a VALIDATION_ERROR for keys that are not known. */
export function demandKnown(
  member: 'keys' | 'overwrite',
  keys: readonly string[],
  known: readonly string[],
): void {
  const names = new Set(known);
  const unknown = keys.map((key, index) => ({ key, index })).filter(({ key }) => !names.has(key));
  if (unknown.length > 0) throw unknownKeys(member, unknown, known);
}

/** A change of an installation for the audit log, with the states of its controls. */
export function packFact(
  action: `pack.${string}`,
  row: InstallationRow,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'pack', id: String(row.id), name: row.pack, before, after };
}

/** An installation as the audit log shows it. */
export function installationState(
  { pack, version, policyId, policyName }: InstallationRow,
  controls: readonly JsonObject[],
): JsonObject {
  return { pack, version, policy_id: policyId, policy_name: policyName, controls: [...controls] };
}

/** A control as the audit log shows it; without a text, only which one it is. */
export function controlState(
  { key, id, name }: WrittenPack['controls'][number],
  text: string | null | undefined,
): JsonObject {
  return { key, control_id: id, name, ...(text == null ? {} : { data: storedState(text) }) };
}
