import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { ListedControl } from './catalogue.js';
import { type Comparison, compareControl } from './comparison.js';
import type { InstalledRow } from './pack-store.js';

/** A control of an installation or of the pack, compared. */
export interface ComparedControl {
  readonly key: string;
  readonly comparison: Comparison;
  /** What the installation has; null for a control that is new in the pack. */
  readonly row: InstalledRow | null;
  /** What the pack has now; null if it does not have the control any more. */
  readonly offered: ListedControl | null;
}

/**
 * What an update does with a control: nothing; write another definition; create it; remove it from the policy, and delete
 * it if nothing else uses it; or leave it as it is, where it is, and forget that it was installed.
 */
export type UpdateAct =
  | { readonly act: 'none' | 'remove' | 'leave' }
  | { readonly act: 'write' | 'create'; readonly text: string };

/** A control with what is done with it. */
export interface PlannedControl extends ComparedControl {
  readonly done: UpdateAct;
  /** Whether something that was changed here is kept. */
  readonly keeps: boolean;
}

/** Compares all controls of an installation and of the pack, by key ascending. */
export function compareAll(
  rows: readonly InstalledRow[],
  offered: readonly ListedControl[],
  isValid: (text: string) => boolean,
): ComparedControl[] {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const inPack = new Map(offered.map((control) => [control.key, control]));
  const keys = [...new Set([...byKey.keys(), ...inPack.keys()])].sort();
  return keys.map((key) => {
    const row = byKey.get(key) ?? null;
    const control = inPack.get(key) ?? null;
    const texts = {
      base: row?.base ?? null,
      current: row?.control?.data ?? null,
      pack: control === null ? null : definitionText(control),
    };
    return { key, row, offered: control, comparison: compareControl(texts, isValid) };
  });
}

/** What an update does. Controls of `overwrite` become what the pack has. */
export function planUpdate(
  compared: readonly ComparedControl[],
  overwrite: ReadonlySet<string>,
): PlannedControl[] {
  return compared.map((control) => {
    const isOverwritten = overwrite.has(control.key);
    return {
      ...control,
      done: actOf(control, isOverwritten),
      keeps: control.comparison.changedHere.length > 0 && !isOverwritten,
    };
  });
}

function actOf({ comparison, row, offered }: ComparedControl, isOverwritten: boolean): UpdateAct {
  const { change, after } = comparison;
  const current = row?.control?.data;
  if (offered === null) {
    if (change === 'remove' || (change === 'conflict' && isOverwritten)) return { act: 'remove' };
    return { act: change === 'conflict' ? 'leave' : 'none' };
  }
  const text = definitionText(offered);
  if (change === 'add' || (change === 'absent' && isOverwritten)) return { act: 'create', text };
  if (change === 'absent') return { act: 'none' };
  const wanted = isOverwritten ? text : after;
  return wanted === null || wanted === current ? { act: 'none' } : { act: 'write', text: wanted };
}

/** The text by which the definition of a control is stored. */
export function definitionText({ definition }: Pick<ListedControl, 'definition'>): string {
  return stringifyJson(definition);
}

/**
 * What the names of new controls of an installation begin with: what most names of its controls have before their keys,
 * since they were installed with it; otherwise that of an installation without a choice.
 */
export function prefixOf(pack: string, rows: readonly InstalledRow[]): string {
  const counts = new Map<string, number>();
  for (const { key, control } of rows) {
    if (control === null || !control.name.endsWith(key)) continue;
    const prefix = control.name.slice(0, control.name.length - key.length);
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0] ?? `${pack}-`;
}
