import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { isChanged } from '../configuration/member-merge.js';
import { evaluatorNames } from '../controls/definition/definition.js';
import { presentDefinition } from '../controls/definition-presentation.js';
import type { ListedControl, ListedPack } from '../packs/catalogue.js';
import type { PackCase } from '../packs/pack.js';
import { createPackStore, type InstallationRow, type ListedInstalled } from '../packs/pack-store.js';
import { isLater } from '../packs/versions.js';

/** What the presentation of an installation needs of the caller's namespace and of the packs. */
export interface PresentationOptions {
  readonly scope: Scoped;
  readonly packs: readonly ListedPack[];
}

/** PackSummary. */
export function presentPack(pack: ListedPack, registry: EvaluatorRegistry) {
  const names = new Set(pack.controls.flatMap(({ definition }) => evaluatorNames(definition)));
  const evaluators = [...names].sort();
  const { name, version, title, description, tags, builtIn, controls } = pack;
  return {
    name,
    version,
    title,
    description,
    control_count: controls.length,
    case_count: controls.reduce((sum, one) => sum + one.matchingCases + one.otherCases, 0),
    tags: [...tags],
    built_in: builtIn,
    evaluators,
    missing_evaluators: evaluators.filter(
      (used) => registry.get(used)?.unavailable !== undefined || !registry.has(used),
    ),
  };
}

/** PackControl. */
export function presentPackControl(control: ListedControl) {
  const { key, title, reason, references, definition, matchingCases, otherCases, examples } = control;
  return {
    key,
    title,
    reason,
    references: [...references],
    data: presentDefinition(definition),
    matching_cases: matchingCases,
    other_cases: otherCases,
    examples: examples.map(presentCase),
  };
}

function presentCase({ name, step, stage, matches }: PackCase) {
  return { name, step: { ...step }, stage, matches };
}

/** PackInstallation, of each of the rows, in their order. */
export async function presentInstallations(
  rows: readonly InstallationRow[],
  { scope, packs }: PresentationOptions,
) {
  const store = createPackStore(scope);
  const listed = await store.listed(rows.map(({ id }) => id));
  const changed = new Set<string>();
  for (const id of new Set(listed.filter(mayDiffer).map(({ installationId }) => installationId))) {
    const keys = listed.filter((one) => one.installationId === id && mayDiffer(one)).map(({ key }) => key);
    for (const { key, base, control } of await store.controls(id, keys)) {
      if (control !== null && isChanged(base, control.data)) changed.add(`${id} ${key}`);
    }
  }
  const byInstallation = grouped(listed);
  return rows.map((row) => {
    const current = packs.find(({ name }) => name === row.pack)?.version ?? null;
    return {
      installation_id: row.id,
      pack_name: row.pack,
      version: row.version,
      current_version: current,
      update_available: current !== null && isLater(current, row.version),
      policy_id: row.policyId,
      policy_name: row.policyName,
      installed_at: new Date(row.installedAtMs).toISOString(),
      updated_at: new Date(row.updatedAtMs).toISOString(),
      controls: (byInstallation.get(row.id) ?? []).map(({ key, controlId, controlName }) => ({
        key,
        control_id: controlId,
        control_name: controlName,
        changed: changed.has(`${row.id} ${key}`),
      })),
    };
  });
}

function mayDiffer({ differs, controlId }: ListedInstalled): boolean {
  return differs && controlId !== null;
}

function grouped(listed: readonly ListedInstalled[]): ReadonlyMap<number, readonly ListedInstalled[]> {
  const groups = new Map<number, ListedInstalled[]>();
  for (const one of listed) groups.set(one.installationId, [...(groups.get(one.installationId) ?? []), one]);
  return groups;
}
