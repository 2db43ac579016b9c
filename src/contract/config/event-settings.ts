import { BOOLEAN, inMs, integerIn, MIB, numberIn, secret, TEXT, wordOf } from './config-readers.js';
import { EVENT_STORE } from './event-store-location.js';
import { setting } from './setting.js';

/** Which events are stored, where, and for how long. */
export const EVENTS = {
  observability: {
    enabled: setting(['SERVICE_OBSERVABILITY_ENABLED', 'OBSERVABILITY_ENABLED'], true, BOOLEAN).help(
      'Event store, and counts of evaluations, on or off.',
    ),
    /** Null for the database of the controls. */
    store: setting('SERVICE_EVENT_STORE', 'database', secret(EVENT_STORE)).help(
      'Where events are stored: `database`, with the controls, or `clickhouse://user:password@host:8123/database`.',
    ),
    spool: {
      directory: setting('SERVICE_EVENT_SPOOL_DIR', 'data/event-spool', TEXT).help(
        'Directory for events while ClickHouse is away. Processes may share it. Not used with `SERVICE_EVENT_STORE=database`.',
      ),
      maxOctets: setting('SERVICE_EVENT_SPOOL_BYTES', 1024 * MIB, integerIn(MIB, 1_048_576 * MIB)).help(
        'Most bytes of events that a process keeps there. Further events are refused with 503.',
      ),
    },
    takeoverDelayMs: setting('SERVICE_EVENT_TAKEOVER_SECONDS', 600, inMs(integerIn(0, 86_400, '0'))).help(
      'How long after its start a process leaves the table of events as it found it in the database of a version before 7.8: longer than processes of that version run beside it.',
    ),
    stdout: setting('SERVICE_OBSERVABILITY_STDOUT', false, BOOLEAN).help('Log each ingested event.'),
    record: setting('SERVICE_OBSERVABILITY_RECORD', 'matches', wordOf('none', 'matches', 'all')).help(
      'What the service records itself: none, matches (and errors), or all (non-matches too).',
    ),
    flushIntervalSeconds: setting(
      ['SERVICE_OBSERVABILITY_FLUSH_INTERVAL_SECONDS', 'OBSERVABILITY_FLUSH_INTERVAL_SECONDS'],
      10,
      numberIn(0.01, 3600),
    ).help(
      'How often the service writes the events that it records itself and, at most once a second, its counts of evaluations. While a process has streams of `WatchEvents`, it writes at least every 0.25 seconds.',
    ),
    readerThreads: setting('SERVICE_EVENT_READER_THREADS', 1, integerIn(0, 16, '2')).help(
      'Threads of each process that read and check large messages with events, so that evaluations do not wait for them; 0 reads them in the thread that evaluates. One reads about 60,000 events a second.',
    ),
    retentionDays: setting('SERVICE_EVENT_RETENTION_DAYS', 30, integerIn(0, 36_500, '90')).help(
      'Days that events are kept; 0 keeps them for ever. Statistics cover a year in any case.',
    ),
  },
};

export const AUDIT = {
  audit: {
    retentionDays: setting('SERVICE_AUDIT_RETENTION_DAYS', 0, integerIn(0, 36_500, '400')).help(
      'Days that entries of the audit log are kept; 0 keeps them for ever.',
    ),
  },
};
