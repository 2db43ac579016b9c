/**
 * Each benchmark at a scale that takes seconds, and the rows it has to print at that scale. The figures mean nothing:
 * what is checked is that a benchmark runs, compares what it should, and measures something.
 */
import { HOSTILE_PARTS } from './detector-texts.mjs';

/**
 * `flags` are those of Node.js, `words` the arguments; `rows` are the names of all rows, `more` is what the names of other rows begin with.
 * @typedef {{
 *   name: string, environment: Record<string, string>, flags?: string[], words?: string[], rows: readonly string[],
 *   more?: string,
 * }} Smoke
 */

/**
 * Every combination of words, in one template each.
 * @param {readonly (readonly (string | number)[])[]} words
 * @param {(...chosen: (string | number)[]) => string} template
 * @returns {string[]}
 */
function each(words, template) {
  const [first, ...rest] = words;
  if (first === undefined) return [template()];
  return first.flatMap((word) => each(rest, (...chosen) => template(word, ...chosen)));
}

const DETAILS = ['verdict', 'full'];
const KINDS = ['sqlite', 'postgresql'];
const CONTROLS = [0, 2];
const GRPC = ['unary', 'stream singles', 'stream batches of 32'];
const WEB = ['grpc-web', 'connect proto', 'connect json'];

const coreRows = [
  ...each(
    [[1, 10, 100, 1000], ['no match', 'one match'], DETAILS, ['casbin', 'cedar-wasm', 'json-rules-engine']],
    (count, what, detail, engine) =>
      `service core ${count} controls ${detail} ${what} / ${engine} ${count} rules`,
  ),
  ...each(
    [['known step name', 'unseen step names']],
    (names) => `service core 1000 controls of which 10 apply, ${names} / 10 controls`,
  ),
  ...each(
    [['no literal', '10 literals'], DETAILS, [' / literal scan', ' beyond the scan']],
    (text, detail, what) => `service core 1000 regex controls 1 KB unseen ${text} ${detail}${what}`,
  ),
  ...each(
    [
      [
        'compiled anew',
        'first evaluation after that',
        'reloaded, one changed',
        'first evaluation after that reload',
        'second evaluation after that reload',
      ],
    ],
    (what) => `service core 1000 controls ${what} / warm evaluation`,
  ),
];

const NAMESPACE_FIGURES = [
  'start',
  'first evaluation of the sample',
  'first evaluation p99',
  'evaluation of the sample',
  'evaluation p99',
  'resident memory',
];

const EVENT_FIGURES = [
  ...each(
    [
      [
        'stats 24h',
        'stats 365d',
        'overview 365d',
        'query latest',
        'query of an agent',
        'query denies',
        'query denies, estimated total',
        'query denies, no total',
        'query errors',
        'query of a control, a day',
        'query by trace',
      ],
      ['p50', 'p99'],
    ],
    (what, part) => `${what} ${part}`,
  ),
  'reading loop delay max',
  'ingest live over spread',
  ...each(
    [
      ['live', 'spread'],
      ['rate', 'cpu', 'loop delay max'],
    ],
    (what, figure) => `ingest ${what} ${figure}`,
  ),
  'evaluation p99 with ingestion',
  'ingest rate with evaluations',
  'loop delay p99 with both',
];

const FLEET_FIGURES = [
  'start',
  'heap of 4 agents',
  'a further agent',
  'resident memory',
  'first evaluation of 36 agents',
  'first evaluation p99',
  'p99 during changes',
  'worst during changes, against quiet p99',
  'longest delay of the event loop',
  'a change',
  'all policies decide by a change here',
  'all policies decide by a change elsewhere',
  'stop, with the record of uses',
  'start with 40 agents loaded',
  'first evaluation p99 after it',
];

/** The longest first: two run at a time. @type {readonly Smoke[]} */
export const SMOKES = [
  {
    name: 'fleet',
    environment: {
      // With the other one, it does the same.
      BENCH_DATABASES: 'postgresql',
      BENCH_AGENTS: '40',
      BENCH_POLICIES: '2',
      BENCH_CONTROLS: '2',
      BENCH_SECONDS: '0.2',
      BENCH_ROUNDS: '2',
    },
    rows: FLEET_FIGURES.map((figure) => `postgresql ${figure}`),
  },
  {
    name: 'namespaces',
    environment: {
      // With the other one, it does the same, but for a function in the statements that fill it.
      BENCH_DATABASES: 'sqlite',
      BENCH_NAMESPACES: '3',
      BENCH_AGENTS: '4',
      BENCH_SAMPLE: '12',
      BENCH_ROUNDS: '1',
    },
    rows: NAMESPACE_FIGURES.map((figure) => `sqlite ${figure}`),
  },
  {
    name: 'events',
    environment: {
      BENCH_EVENTS: '500',
      BENCH_BARE_EVENTS: '1000',
      BENCH_CHECKED_EVENTS: '500',
      BENCH_QUERIES: '2',
      BENCH_BATCH: '20',
      BENCH_CONNECTIONS: '2',
      BENCH_SECONDS: '0.2',
      BENCH_ROUNDS: '1',
    },
    rows: each([KINDS, EVENT_FIGURES], (kind, figure) => `service events ${kind} 500 ${figure}`),
  },
  {
    name: 'cel',
    environment: { BENCH_ROUNDS: '1', BENCH_BUDGET_MS: '1', BENCH_CALLS: '64' },
    flags: ['--no-turbo-inline-js-wasm-calls'],
    rows: each(
      [
        [10, 100],
        ['casbin', 'cedar-wasm'],
      ],
      (count, engine) => `service core ${count} cel controls / ${engine} ${count} rules`,
    ),
    // Only where cerbos is installed.
    more: 'service ',
  },
  {
    name: 'memory',
    environment: {
      BENCH_ROUNDS: '1',
      BENCH_SECONDS: '0.2',
      BENCH_SESSIONS: '20',
      BENCH_CONTROLS: '10',
      BENCH_STORES: 'sqlite',
      BENCH_EVENTS: '10,50',
      BENCH_KEPT: '10,50',
      // A busy machine is no failure.
      SERVICE_MEMORY_TIMEOUT_SECONDS: '60',
    },
    rows: [
      ...each(
        [
          ['all', 'tenth'],
          ['unary', 'stream'],
        ],
        (mix, kind) => `memory sqlite 10 history controls, ${mix}, ${kind} / no controls`,
      ),
      ...each(
        [
          ['all', 'tenth'],
          ['median', 'p99'],
        ],
        (mix, figure) => `memory sqlite 10 history controls, ${mix}, unary at half of its rate, ${figure}`,
      ),
      'memory sqlite one key after 10 events',
      'memory sqlite one key after 50 events / 10 events',
      'memory sqlite over 10 keys',
      'memory sqlite over 50 keys / 10 keys',
      ...each(
        [
          ['formerly', 'count', 'sum'],
          ['10 events', '50 events / 10 events'],
        ],
        (op, after) => `memory check ${op} after ${after}`,
      ),
    ],
  },
  {
    name: 'grpc',
    environment: { BENCH_ROUNDS: '1', BENCH_SCALE: '0.001', BENCH_CONTROLS: CONTROLS.join() },
    rows: [
      ...each(
        [['service', 'plain-connect', 'grpc-js'], GRPC, CONTROLS, ['', ' rate']],
        (server, kind, count, figure) => `${server} ${kind} ${count} controls${figure}`,
      ),
      ...each(
        [['service', 'plain-connect'], WEB, CONTROLS, ['', ' rate']],
        (server, kind, count, figure) => `${server} ${kind} ${count} controls${figure}`,
      ),
      ...each([CONTROLS, ['', ' rate']], (count, figure) => `service rest ${count} controls${figure}`),
      ...each(
        [[...GRPC, 'rest', ...WEB], CONTROLS],
        (kind, count) => `service ${kind} ${count} controls per core`,
      ),
      ...each(
        [[...GRPC, 'rest', ...WEB], CONTROLS],
        (kind, count) => `load generator ${kind} ${count} controls`,
      ),
    ],
  },
  {
    name: 'ui',
    environment: {
      BENCH_ROUNDS: '1',
      BENCH_AGENTS: '5',
      BENCH_CONTROLS: '110',
      BENCH_EVENTS: '100',
      BENCH_EDITS: '3',
      BENCH_FRAMES: '10',
    },
    rows: [
      'Overview, first contentful paint',
      'Overview, interactive',
      '110 controls, 95 % of frames while scrolling',
      '110 controls, longest frame while scrolling',
      'editor with 500 nodes, 95 % of keys to the next frame',
      'editor with 500 nodes, a group of ten duplicated to the next frame',
      'JavaScript of the page itself, gzip',
      'all JavaScript, gzip',
    ],
    // The largest chunks.
    more: '  ',
  },
  {
    name: 'mcp-gateway',
    environment: { BENCH_CALLS: '5', BENCH_ROUNDS: '1', BENCH_SESSIONS: '3' },
    rows: [
      ...each(
        [
          ['2026-07-28', '2025-11-25'],
          ['CPU time', 'p50', 'p99'],
        ],
        (version, figure) => `mcp-gateway ${version} ${figure} of a call / plain proxy`,
      ),
      ...each(
        [
          ['gateway', 'plain proxy'],
          ['with 3 sessions', 'for them'],
        ],
        (name, what) => `mcp-gateway memory of the ${name} ${what}`,
      ),
    ],
  },
  {
    name: 'approvals',
    environment: {
      BENCH_CALLS: '10',
      BENCH_ASKS: '5',
      BENCH_ROUNDS: '1',
      BENCH_PENDING: '20',
      BENCH_WAITING: '60',
      BENCH_LOOKS: '1',
    },
    rows: [
      ...each(
        [KINDS, ['joined step', 'new approval', 'use of an approval'], ['processor time', 'median', 'p99']],
        (kind, what, figure) => `approvals ${kind} ${what} / plain, ${figure}`,
      ),
      ...each(
        [['plain', 'joined step', 'new approval', 'decision', 'use of an approval']],
        (what) => `approvals postgresql ${what}, round trips`,
      ),
      ...each(
        [KINDS, ['before', 'of 20 pending approvals', 'of 60 waiting calls', 'of both together']],
        (kind, what) => `approvals ${kind} memory ${what}`,
      ),
    ],
  },
  {
    name: 'sizing',
    environment: { BENCH_SECONDS: '0.2' },
    words: ['all'],
    rows: each(
      [
        ['SQLite', 'PostgreSQL'],
        [0, 200, 1000],
        ['rate', 'processor', 'memory'],
      ],
      (database, rate, figure) => `${database}, all, ${rate}/s: ${figure}`,
    ),
  },
  {
    name: 'telemetry',
    environment: { BENCH_ROUNDS: '1', BENCH_SCALE: '0.001' },
    rows: ['unary', 'stream singles'].flatMap((kind) => [
      `${kind} off`,
      ...each(
        [
          ['1 % sampled', 'all sampled'],
          ['', ' - off'],
        ],
        (what, more) => `${kind} ${what}${more}`,
      ),
    ]),
  },
  {
    name: 'samples',
    environment: { BENCH_ROUNDS: '1', BENCH_SCALE: '0.001' },
    rows: ['off', 'other agent', '1 % kept', 'a shadow'],
  },
  {
    name: 'replay',
    environment: { BENCH_SCALE: '0.001' },
    rows: ['replay', 'replay in all', 'memory of the service'],
  },
  {
    name: 'rest',
    environment: { BENCH_REQUESTS: '20', BENCH_ROUNDS: '1' },
    rows: each(
      [
        [0, 10],
        ['cpu', 'rate'],
      ],
      (count, figure) => `service rest ${count} controls ${figure}`,
    ),
  },
  {
    name: 'suites',
    environment: { BENCH_ROUNDS: '1', BENCH_CASES: '100' },
    rows: ['the cases, after the start', 'a suite of one case / a process'],
  },
  {
    name: 'cli',
    environment: { BENCH_ROUNDS: '1' },
    rows: each(
      [['--version', '--help', 'completion of commands', 'completion of options', 'help of a command']],
      (what) => `${what} / a process`,
    ),
  },
  {
    name: 'keys',
    environment: { BENCH_ROUNDS: '1', BENCH_BUDGET_MS: '1' },
    rows: [
      'service check of 10000 keys / 10 keys',
      'service 10000 keys taken over at the start',
      'service 10000 keys taken over after a change',
    ],
  },
  {
    name: 'detectors',
    environment: { BENCH_ROUNDS: '1', BENCH_LENGTH: '8000' },
    rows: [
      ...Object.keys(HOSTILE_PARTS).map((name) => `${name}, ordinary text`),
      'all at once, ordinary text',
      ...Object.entries(HOSTILE_PARTS).flatMap(([name, parts]) =>
        each([Object.keys(parts), ['', ': exponent']], (part, figure) => `${name}, ${part}${figure}`),
      ),
    ],
  },
  {
    name: 'core',
    environment: { BENCH_ROUNDS: '1', BENCH_BUDGET_MS: '1' },
    flags: ['--no-turbo-inline-js-wasm-calls'],
    rows: coreRows,
  },
];

/**
 * What is wrong with the rows that a benchmark has written.
 * @param {Pick<Smoke, 'rows' | 'more'>} expected
 * @param {readonly { name: string, value?: unknown, yardstick?: unknown, ratio?: unknown }[]} rows
 * @returns {string[]}
 */
export function problemsOf({ rows: names, more }, rows) {
  const found = new Map(rows.map((row) => [row.name, row]));
  const missing = names.filter((name) => !found.has(name)).map((name) => `has no row "${name}"`);
  const unknown = rows
    .filter(({ name }) => !names.includes(name) && !(more !== undefined && name.startsWith(more)))
    .map(({ name }) => `has a row "${name}" that bench/support/smoke-plan.mjs does not list`);
  const figures = rows.flatMap((row) => {
    const wrong = /** @type {const} */ (['value', 'yardstick', 'ratio'])
      // A figure that is not finite is null in JSON; only the value is in every row.
      .filter((figure) => (figure === 'value' || figure in row) && !Number.isFinite(row[figure]));
    return wrong.map((figure) => `has no number as ${figure} of "${row.name}"`);
  });
  return [...missing, ...unknown, ...figures];
}
