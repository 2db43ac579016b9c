/** One value of the service that clients write: whether a control is there, its name, a link, … */
export type Subject =
  | `control ${number}`
  | `name ${number}`
  | `word ${number}`
  | `enabled ${number}`
  | `link ${string} ${number}`
  | `content ${number} ${number}`
  | `policy ${string} ${number}`
  | `agent ${string}`;

/** What an acknowledged operation wrote. */
export interface Effect {
  readonly subject: Subject;
  readonly value: string | boolean;
}

/** An operation with its reply. Times are a count of everything that was sent and received. */
export interface Acknowledged {
  readonly what: string;
  readonly started: number;
  readonly ended: number;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: replies of many routes
  readonly body: any;
  readonly effects: readonly Effect[];
  /** The control whose id was in the path. */
  readonly target?: number;
}

export interface History {
  readonly operations: readonly Acknowledged[];
  /** The next point in time. */
  now(): number;
  add(operation: Acknowledged): void;
  /** Ids of controls in the order in which clients learned of them. */
  controlIds(): readonly number[];
}

export function createHistory(): History {
  const operations: Acknowledged[] = [];
  const ids: number[] = [];
  let time = 0;
  return {
    operations,
    now: () => {
      time += 1;
      return time;
    },
    add(operation) {
      operations.push(operation);
      for (const { subject, value } of operation.effects) {
        if (subject.startsWith('control ') && value === true)
          ids.push(Number(subject.slice('control '.length)));
      }
    },
    controlIds: () => ids,
  };
}

/** A write with the time between which it happened. */
export interface Write {
  readonly value: string | boolean;
  readonly started: number;
  readonly ended: number;
}

/** All writes of each subject. */
export function writesBySubject(operations: readonly Acknowledged[]): Map<Subject, Write[]> {
  const writes = new Map<Subject, Write[]>();
  for (const { effects, started, ended } of operations) {
    for (const { subject, value } of effects) {
      const list = writes.get(subject) ?? [];
      list.push({ value, started, ended });
      writes.set(subject, list);
    }
  }
  return writes;
}

/**
 * The values that may remain after all writes have ended: those of writes after which no other one began. Of writes at
 * the same time, any may have been the last.
 */
export function possibleFinalValues(writes: readonly Write[]): Set<Write['value']> {
  let latestStart = Number.NEGATIVE_INFINITY;
  for (const { started } of writes) latestStart = Math.max(latestStart, started);
  return new Set(writes.filter(({ ended }) => ended >= latestStart).map(({ value }) => value));
}
