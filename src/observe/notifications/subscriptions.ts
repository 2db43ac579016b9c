import { createRegularLook } from '../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Database } from '../../storage/database/database.js';
import type { NotificationKind } from '../../storage/database/notifications.js';
import { columns, flag, json, select, text } from '../../storage/database/rows.js';

/** How often a process looks which destinations there are, in milliseconds. */
const LOOK_MS = 5_000;
/** Kinds that are found by looking at evaluations. */
const OF_EVALUATIONS: readonly NotificationKind[] = [
  'control.first_deny',
  'control.error_rate',
  'limit.reached',
];

const DESTINATION = columns({ namespace: text, kinds: json<NotificationKind[]>(), enabled: flag });

/** What the destinations are subscribed to, as this process last saw it. */
export interface Subscriptions {
  /** Whether there are any destinations. */
  readonly any: boolean;
  /** Whether one is told of something that is found by looking at evaluations. */
  readonly ofEvaluations: boolean;
  wants(namespace: string, kind: NotificationKind): boolean;
  /** Looks again, soon. */
  refresh(): Promise<void>;
  start(): void;
  close(): Promise<void>;
}

export interface SubscriptionsOptions {
  readonly database: Pick<Database, 'bulk'>;
  readonly failures: Pick<RepeatLog, 'failed'>;
  readonly intervalMs?: number;
}

export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { database, failures, intervalMs = LOOK_MS } = options;
  let any = false;
  let ofEvaluations = false;
  let wanted: ReadonlySet<string> = new Set();

  async function look(): Promise<void> {
    try {
      const rows = await select(
        DESTINATION,
        database.bulk,
      )`FROM "notification_destinations" GROUP BY 1, 2, 3`;
      const pairs = rows.flatMap(({ namespace, kinds, enabled }) =>
        enabled ? kinds.map((kind) => ({ namespace, kind })) : [],
      );
      any = rows.length > 0;
      wanted = new Set(pairs.map(({ namespace, kind }) => `${kind} ${namespace}`));
      ofEvaluations = pairs.some(({ kind }) => OF_EVALUATIONS.includes(kind));
    } catch (error) {
      failures.failed(
        'notification subscriptions',
        'the destinations of notifications cannot be read now',
        error,
      );
    }
  }

  const regular = createRegularLook({ firstMs: 0, intervalMs, look });
  return {
    get any() {
      return any;
    },
    get ofEvaluations() {
      return ofEvaluations;
    },
    wants: (namespace, kind) => wanted.has(`${kind} ${namespace}`),
    refresh: look,
    start: regular.start,
    close: regular.close,
  };
}
