import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { WatchControlsResponseSchema } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlsOfAgent } from '../../packages/dashboard/src/agents/controls-of-agent.js';

type Message = MessageInitShape<typeof WatchControlsResponseSchema>;

const message = (init: Message) =>
  toBinary(WatchControlsResponseSchema, create(WatchControlsResponseSchema, init));
const control = (id: number, name = `control ${id}`) => ({ id, name });
const full = (revision: bigint, ids: readonly number[], incomplete = false) =>
  message({
    revision,
    incomplete,
    news: { case: 'full', value: { controls: ids.map((id) => control(id)) } },
  });
const changed = (
  revision: bigint,
  upserted: readonly [number, string][],
  removed: number[] = [],
  incomplete = false,
) =>
  message({
    revision,
    incomplete,
    news: { case: 'changed', value: { upserted: upserted.map(([id, name]) => control(id, name)), removed } },
  });
const current = (revision: bigint) => message({ revision, news: { case: 'current', value: {} } });
const names = ({ controls }: ControlsOfAgent) => controls?.map(({ name }) => name);

it('the controls of an agent are known when all parts of a message are there', () => {
  const state = new ControlsOfAgent();
  expect(state.apply(full(0n, [9, 8], true))).toBe(false);
  expect(state.apply(changed(0n, [[7, 'seven']], [], true))).toBe(false);
  expect(names(state)).toBeUndefined();
  expect(state.apply(changed(5n, [[6, 'six']]))).toBe(true);
  expect(names(state)).toEqual(['control 9', 'control 8', 'seven', 'six']);
  expect(state.revision).toBe(5n);
});

it('the controls of an agent ignore changes that they contain already', () => {
  const state = new ControlsOfAgent();
  state.apply(full(7n, [1, 2]));
  state.apply(changed(6n, [[1, 'old']], [2]));
  expect(names(state)).toEqual(['control 2', 'control 1']);
  state.apply(changed(8n, [[1, 'new']], [2]));
  expect(names(state)).toEqual(['new']);
  state.apply(current(9n));
  expect([names(state), state.revision]).toEqual([['new'], 9n]);
});

it('the controls of an agent start again with a complete message, also with a lower revision', () => {
  const state = new ControlsOfAgent();
  state.apply(full(7n, [1]));
  state.apply(changed(7n, [[3, 'never finished']], [], true));
  state.restart();
  expect(state.apply(current(7n))).toBe(true);
  expect(names(state)).toEqual(['control 1']);
  state.apply(full(2n, [4]));
  expect([names(state), state.revision]).toEqual([['control 4'], 2n]);
});
