import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { listed, refuseMistakes, type Warning } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { AuditFact } from '../../storage/database/audit-log.js';
import type { Mutator } from '../../storage/database/mutator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { ObjectName } from '../controls/applied-object.js';
import type { StoredControl } from '../controls/definition/definition.js';
import { definitionWarnings } from '../controls/definition-warnings/definition-warnings.js';
import { demandInstalled } from '../controls/demand-installed.js';
import type { ListedControl, ListedPack, PackCatalogue } from './catalogue.js';
import { packVersionChanged, unknownKeys } from './pack-errors.js';
import type { InstallationRow, NewInstalled } from './pack-store.js';
import { presentInstallations } from './presentation.js';
import { definitionText } from './update-plan.js';

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

/** A control that is to be written. */
export interface ReviewedControl {
  readonly name: string;
  readonly control: StoredControl;
}

/**
 * The warnings about controls that a change writes. Throws a VALIDATION_ERROR for evaluators of packages that are not
 * installed, and with the mistakes in strict mode.
 */
export function reviewControls(
  controls: readonly ReviewedControl[],
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
  changed: readonly { readonly control: { readonly name: string } | null }[],
  touchesPolicy: boolean,
): ObjectName[] {
  return [
    { family: 'pack', name: pack, policy: policyName },
    ...(touchesPolicy ? [{ family: 'policy' as const, name: policyName }] : []),
    ...changed.flatMap(({ control }): ObjectName[] =>
      control === null ? [] : [{ family: 'control', name: control.name }],
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

/** A control of a pack as the installation remembers it. */
export function remembered(control: ListedControl, controlId: number | null): NewInstalled {
  return { key: control.key, controlId, base: definitionText(control) };
}

/** A change of an installation for the audit log. */
export function packFact(
  action: `pack.${string}`,
  { id, pack }: InstallationRow,
  before: JsonObject | null,
  after: JsonObject | null,
): AuditFact {
  return { action, resource: 'pack', id: String(id), name: pack, before, after };
}

/** An installation as the audit log shows it. */
export function installationState({ pack, version, policyId, policyName }: InstallationRow): JsonObject {
  return { pack, version, policy_id: policyId, policy_name: policyName };
}
