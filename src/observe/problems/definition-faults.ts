import { runInTurns } from '../../decide/decisions/in-turns.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { isDraft } from '../../manage/controls/definition/definition.js';
import { readStoredDefinition } from '../../manage/controls/definition-presentation.js';
import { controlGap } from './evaluator-gap.js';
import type { EnabledControl, ProblemStore } from './problem-store.js';

/** Why the definition of an enabled control ends in errors. */
export interface DefinitionFault {
  readonly id: number;
  readonly name: string;
  readonly kind: 'evaluator_not_configured' | 'control_unreadable';
  readonly detail: string;
  /** Whether its errors deny steps. */
  readonly denies: boolean;
}

/** Definitions read by one query, so that those of thousands of controls are never in memory together. */
const READ_AT_ONCE = 100;
/** After this time a definition is read again, in milliseconds: it can be damaged without a change of its control. */
const READ_AGAIN_MS = 60 * 60_000;
/** Longest reading for one list, in milliseconds. What is left is read for the next ones. */
const LIMIT_MS = 1_000;

type Finding = Omit<DefinitionFault, 'id' | 'name'> | null;

interface Read {
  readonly version: string;
  readonly atMs: number;
  readonly finding: Finding;
}

/**
 * Finds the faults of definitions. Each one is read when it has changed, and otherwise once an hour. Thousands of them
 * take longer than a caller waits: until all are read, the faults are those that were found so far.
 */
export function createDefinitionFaults(options: {
  readonly store: Pick<ProblemStore, 'controls' | 'definitions'>;
  readonly registry: EvaluatorRegistry;
  readonly monotonic: () => number;
}) {
  const { store, registry, monotonic } = options;
  const known = new Map<number, Read>();

  function isDue({ id, version }: EnabledControl): boolean {
    const read = known.get(id);
    return read === undefined || read.version !== version || monotonic() - read.atMs > READ_AGAIN_MS;
  }

  return async function faults(): Promise<DefinitionFault[]> {
    const startedMs = monotonic();
    const controls = await store.controls();
    const present = new Map(controls.map((control) => [control.id, control]));
    for (const id of known.keys()) if (!present.has(id)) known.delete(id);
    const due = controls.filter(isDue);
    for (let from = 0; from < due.length && monotonic() - startedMs < LIMIT_MS; from += READ_AT_ONCE) {
      const ids = due.slice(from, from + READ_AT_ONCE).map(({ id }) => id);
      await runInTurns(learn(await store.definitions(ids)));
    }
    return controls.flatMap(({ id, name }) => {
      const finding = known.get(id)?.finding ?? null;
      return finding === null ? [] : [{ id, name, ...finding }];
    });

    function* learn(texts: ReadonlyMap<number, string>): Generator<void, void> {
      for (const [id, text] of texts) {
        const version = present.get(id)?.version ?? '';
        known.set(id, { version, atMs: monotonic(), finding: findingOf(text, registry) });
        yield;
      }
    }
  };
}

/** What is wrong with a stored definition. */
export function findingOf(text: string, registry: EvaluatorRegistry): Finding {
  const reading = readStoredDefinition(text, registry);
  if (!reading.ok) {
    const [item] = reading.items;
    const place = item?.field === undefined ? '' : `${item.field}: `;
    // What it decides cannot be read either, and the service treats it as a control that denies.
    return { kind: 'control_unreadable', detail: `${place}${item?.message ?? 'damaged'}`, denies: true };
  }
  const { stored } = reading;
  const gap = controlGap(stored, registry);
  if (gap === undefined || isDraft(stored)) return null;
  return { kind: 'evaluator_not_configured', detail: gap, denies: stored.action.decision === 'deny' };
}
