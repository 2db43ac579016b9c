import { expect, it } from 'vitest';
import {
  AGENT,
  createStepsRecords,
  type KnownSchemas,
} from '../../../src/app/last-known-good/steps-records.js';
import type { BulkReader } from '../../../src/storage/database/bulk.js';

const registration = (name: string, member: string): string =>
  JSON.stringify({
    agent: { agent_name: name },
    steps: [{ type: 'tool', name: 'send', input_schema: { required: [member] } }],
    evaluators: [],
  });
const DATA = new Map([
  [1, registration('agent-one', 'x'.repeat(100))],
  [2, registration('agent-two', 'short')],
  [3, registration('agent-three', 'x'.repeat(100))],
  [4, JSON.stringify({ agent: { agent_name: 'agent-four' }, steps: [], evaluators: [] })],
]);
const ROWS = [...DATA.keys()].map((id) => AGENT.read([id, `agent-${id}`, null, 1, 0]));

it.each([
  ['all of them', 1_000, 0],
  ['short ones', 60, 2],
])('keeps %s between saves, and writes the same', async (_which, maxKept, readAgain) => {
  const known: KnownSchemas = new Map();
  let reads = 0;
  const read: BulkReader = async ({ values }) => {
    reads += values.length;
    return values.map((id) => [Number(id), DATA.get(Number(id)) ?? '']);
  };
  const save = async () => {
    const records = createStepsRecords(read, known, maxKept);
    const recordOf = await records.ofPage(ROWS);
    const made = ROWS.map(recordOf);
    records.forgetOthers();
    return made;
  };
  const first = await save();
  expect(first.map(({ schemas }) => schemas)).toEqual([
    expect.stringContaining('xxx'),
    expect.stringContaining('short'),
    { as: 'agent-1' },
    null,
  ]);
  reads = 0;
  expect(await save()).toEqual(first);
  expect(reads).toBe(readAgain);
});
