import fc from 'fast-check';
import { expect, it } from 'vitest';
import { caseSeed } from '../../../test/serve/wire/random.js';
import { foldedName, type JsonValue, type ProtocolNames } from '../src/index.js';

const NAMES: ProtocolNames = {
  method: null,
  params: { name: null, arguments: null, task: { kind: null }, items: { token: null } },
};
const PATHS = [
  'method',
  'params',
  'params.name',
  'params.arguments',
  'params.task.kind',
  'params.items[1].token',
];

/** A name with some of its letters as others fold to them. */
const written = (name: string) =>
  fc
    .array(fc.nat(3), { minLength: name.length, maxLength: name.length })
    .map((picks) =>
      [...name]
        .map((letter, index) => {
          const others = [
            letter,
            letter.toUpperCase(),
            ...(letter === 's' ? ['\u017f'] : []),
            ...(letter === 'k' ? ['\u212a'] : []),
          ];
          return others[(picks[index] ?? 0) % others.length];
        })
        .join(''),
    )
    .filter((made) => made !== name);

const messageWith = (path: string, name: string): JsonValue => {
  const [member = ''] = path.split('.').slice(-1);
  const own = { [name]: 1, other: 2 };
  if (path.startsWith('params.task')) return { method: 'm', params: { name: 'n', task: own } };
  if (path.startsWith('params.items')) return { params: { items: [{ token: 1 }, own] } };
  return path.includes('.') ? { params: own } : { ...own, [member === 'method' ? 'params' : 'method']: {} };
};

it('finds every name that folds to one of the protocol, at every level', () => {
  const cases = fc.constantFrom(...PATHS).chain((path) => {
    const name = path.split('.').at(-1) ?? '';
    return written(name).map((made) => ({ path, made }));
  });
  fc.assert(
    fc.property(cases, ({ path, made }) => {
      expect(foldedName(messageWith(path, made), NAMES)).toEqual({ path, written: made });
    }),
    { seed: caseSeed(), numRuns: Number(process.env.VERIFY_RUNS ?? 300) },
  );
});

it('leaves names of the protocol, and free data, alone', () => {
  const free = { Name: 1, NAME: 2, 'argument\u017f': { Method: 1 } };
  for (const message of [
    { method: 'm', params: { name: 'n', arguments: free } },
    { methods: 1, parameter: 2 },
    [],
    null,
    7,
  ])
    expect(foldedName(message as JsonValue, NAMES)).toBeUndefined();
  expect(foldedName([{ Method: 1 }], NAMES)).toEqual({ path: 'method', written: 'Method' });
});
