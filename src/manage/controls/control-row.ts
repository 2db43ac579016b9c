import type { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { ControlFacet } from './control-filters.js';

/** Columns stored so that lists can be filtered without reading definitions. */
export interface ControlColumns {
  readonly enabled: boolean;
  readonly execution: string | null;
  readonly templateBacked: boolean;
  /** Null when the control is not made from a template. */
  readonly templateRendered: boolean | null;
  readonly restrictsStepTypes: boolean;
  readonly restrictsStages: boolean;
  /** JSON text of the pattern of step names; null without one. */
  readonly stepNamePattern: string | null;
}

/** A stored control. */
export interface ControlRow extends ControlColumns {
  readonly id: number;
  readonly name: string;
  /** JSON text of the definition. */
  readonly data: string;
  /** The control that this one is a clone of; null if it is none. */
  readonly clonedFromId: number | null;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** Milliseconds since the epoch. */
  readonly updatedAtMs: number;
}

/** A control to be stored. */
export interface NewControl extends Omit<ControlRow, 'id'> {
  readonly facets: readonly ControlFacet[];
}

/** Changes of a control; absent members are unchanged. Given facets replace all former ones. */
export type ControlChange = Partial<Omit<NewControl, 'clonedFromId' | 'createdAtMs' | 'updatedAtMs'>> & {
  readonly updatedAtMs: number;
};

type StoredControl = Prisma.ControlGetPayload<Record<never, never>>;

/** A row of a control that is not deleted, with times as numbers. */
export function toControlRow(stored: StoredControl): ControlRow {
  const { createdAtMs, updatedAtMs, ...others } = stored;
  const { liveName: _liveName, deletedAtMs: _deletedAtMs, namespace: _namespace, ...row } = others;
  return { ...row, createdAtMs: Number(createdAtMs), updatedAtMs: Number(updatedAtMs) };
}
