import {
  type CellRequest,
  type EntryAddition,
  type ExchangeGroup,
  type ExchangeRequest,
  MemoryStoreError,
} from './memory-store.js';

/** Longest entry, in bytes of UTF-8. */
export const MAX_ENTRY_BYTES = 65_536;
/** Longest label, in UTF-16 code units; a longer one is cut. */
export const MAX_LABEL_LENGTH = 256;
/** How often it is written that a rule is in use. */
export const RULE_SEEN_US = 60_000_000;
/** Entries since what a process knows are sent rather than a checkpoint, up to this number. */
export const MAX_FOLLOWING_ENTRIES = 500;

const HOUR_US = 3_600_000_000;
/** Characters that databases refuse in texts, and those that would move others. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/** Cells expire at full hours, so that this changes rarely. */
export const expiryOf = ({ expiresAtUs }: EntryAddition): number =>
  Math.ceil(expiresAtUs / HOUR_US) * HOUR_US;

/** Between the agent that began a cell and its label, where they are kept as one text. Labels of before have no agent. */
const AGENT_END = '\u001f';

/** What a store keeps as the label of a cell. */
export const keptLabel = ({ agent, label }: Pick<CellRequest, 'agent' | 'label'>): string =>
  agent + AGENT_END + label.slice(0, MAX_LABEL_LENGTH).toWellFormed().replace(CONTROL_CHARACTERS, '\ufffd');

/** The label of what a store keeps. */
export const shownLabel = (kept: string): string => kept.slice(kept.indexOf(AGENT_END) + 1);

/**
 * Which groups are applied, if `stale` tells by cell whether the process knows less, or something else, than the store. The
 * cells of a group that is not applied are closed to the groups after it.
 */
export function appliedGroups(groups: readonly ExchangeGroup[], stale: readonly boolean[]): boolean[] {
  const closed = [...stale];
  return groups.map(({ cells }) => {
    const isApplied = cells.every((cell) => closed[cell] === false);
    if (!isApplied) for (const cell of cells) closed[cell] = true;
    return isApplied;
  });
}

/** Throws a `MemoryStoreError` for what no store takes: it would fail the steps that are committed with it. */
export function demandExchangeable({ cells, groups }: ExchangeRequest): void {
  for (const { cells: used, additions } of groups) {
    for (const { cell, entry, atUs, expiresAtUs, used: share } of additions) {
      if (cells[cell] === undefined || !used.includes(cell)) {
        throw new MemoryStoreError(
          `An entry is for the cell ${cell}, which is not among those of its group.`,
        );
      }
      // A text has at most three bytes for each code unit.
      if (entry.length > MAX_ENTRY_BYTES / 3 && Buffer.byteLength(entry) > MAX_ENTRY_BYTES) {
        throw new MemoryStoreError(
          `An entry of ${Buffer.byteLength(entry)} bytes is longer than ${MAX_ENTRY_BYTES}.`,
        );
      }
      if (!Number.isSafeInteger(atUs) || !Number.isSafeInteger(Math.ceil(expiresAtUs)) || !(share >= 0)) {
        throw new MemoryStoreError(
          `An entry has the time ${atUs}, the expiry ${expiresAtUs} and the share ${share}; they must be finite.`,
        );
      }
    }
  }
}
