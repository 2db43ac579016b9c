import { describe, expect, it } from 'vitest';
import { ByteDebt } from '../../../src/serve/admission/byte-debt.js';
import { CallTurns } from '../../../src/serve/admission/call-turns.js';
import { Owner } from '../../../src/serve/admission/fair-turns.js';
import { KeyedTurns } from '../../../src/serve/admission/keyed-turns.js';

function clock() {
  const ends: (() => void)[] = [];
  return {
    endOfTurn: (callback: () => void) => void ends.push(callback),
    endTurn() {
      for (const end of ends.splice(0)) end();
    },
  };
}

const STAYS = () => false;
const LARGE = 65_536;

describe('calls of callers with many bytes', () => {
  const light = new Owner(true);
  const heavy = new Owner(true);
  const otherHeavy = new Owner(true);

  function turnsOf(maxWaiting = 100) {
    const { endOfTurn, endTurn } = clock();
    const isHeavy = (owner: Owner, bytes: number) => owner !== light || bytes > LARGE;
    const rests: { readonly ms: number; readonly end: () => void }[] = [];
    let time = 0;
    const after = (ms: number, end: () => void) => void (ms === 0 ? end() : rests.push({ ms, end }));
    const now = () => time;
    const turns = new KeyedTurns({ perTurn: 4, maxWaiting, isHeavy, endOfTurn, clock: { now, after } });
    const pass = (ms: number): void => {
      time += ms;
    };
    const started: string[] = [];
    const answers = new Map<string, () => void>();
    const enter = (name: string, owner: Owner, isGone = STAYS, bytes = 0) =>
      turns.enter(
        owner,
        bytes,
        (answered) => {
          started.push(name);
          if (answered !== undefined) answers.set(name, answered);
        },
        isGone,
      );
    return { turns, endTurn, started, answers, enter, rests, pass };
  }

  it('start one at a time, when the one before is answered and after a turn without one', () => {
    const { enter, started, answers, endTurn } = turnsOf();
    for (const name of ['a', 'b', 'c']) enter(name, heavy);
    for (const name of ['1', '2']) enter(name, light);
    expect(started).toEqual(['a', '1', '2']);
    for (let turn = 0; turn < 5; turn += 1) endTurn();
    expect(started).toEqual(['a', '1', '2']);
    answers.get('a')?.();
    expect(started.at(-1)).toBe('b');
    answers.get('b')?.();
    endTurn();
    expect(started.at(-1)).toBe('b');
    endTurn();
    expect(started.at(-1)).toBe('c');
  });

  it('that are large themselves wait for each other, while the others of the caller start', () => {
    const { enter, started, answers, endTurn } = turnsOf();
    const large = (name: string, owner: Owner) => enter(name, owner, STAYS, LARGE + 1);
    large('a', light);
    large('b', light);
    enter('small', light);
    large('x', otherHeavy);
    for (let turn = 0; turn < 5; turn += 1) endTurn();
    expect(started).toEqual(['a', 'small', 'x']);
    answers.get('a')?.();
    endTurn();
    endTurn();
    expect(started.at(-1)).toBe('b');
  });

  it('have their caller rest as long as each took, up to a limit, while others start', () => {
    const { enter, started, answers, endTurn, rests, pass } = turnsOf();
    for (const name of ['a', 'b', 'c']) enter(name, heavy);
    for (const ms of [30, 1_000]) {
      pass(ms);
      for (const answered of answers.values()) answered();
      endTurn();
      endTurn();
    }
    expect(started).toEqual(['a']);
    enter('x', otherHeavy);
    expect(started).toEqual(['a', 'x']);
    rests.shift()?.end();
    endTurn();
    endTurn();
    expect(started).toEqual(['a', 'x', 'b']);
    pass(1_000);
    answers.get('b')?.();
    expect(rests.map(({ ms }) => ms)).toEqual([100]);
  });

  it('rotate among these callers', () => {
    const { enter, started, endTurn } = turnsOf();
    for (const name of ['a', 'b']) enter(name, heavy);
    enter('x', otherHeavy);
    endTurn();
    endTurn();
    expect(started).toEqual(['a', 'x']);
  });

  it('are dropped when their callers are gone, and refused when too many wait', () => {
    const { enter, started, answers, endTurn, turns } = turnsOf(2);
    enter('a', heavy);
    expect(enter('gone', heavy, () => true)).toBe(true);
    expect(enter('b', heavy)).toBe(true);
    expect(enter('c', heavy)).toBe(false);
    answers.get('a')?.();
    endTurn();
    endTurn();
    expect(started).toEqual(['a', 'b']);
    expect(turns.waiting).toBe(0);
  });
});

describe('the bytes of requests and replies', () => {
  it('make a caller heavy when there are many at once, until it has received few for a while', () => {
    const debt = new ByteDebt();
    debt.charge(429_000, 0);
    expect(debt.isHeavy(0)).toBe(false);
    for (let reply = 0; reply < 100; reply += 1) debt.charge(429_000, 10);
    expect(debt.isHeavy(10)).toBe(true);
    expect(debt.isHeavy(3_000)).toBe(false);
    for (let second = 4; second < 60; second += 1) {
      debt.charge(429_000, second * 1_000);
      expect(debt.isHeavy(second * 1_000)).toBe(false);
    }
  });
});

describe('calls that are passed on in rotation', () => {
  it('start some per turn; a caller with many delays its own', () => {
    const { endOfTurn, endTurn } = clock();
    const turns = new CallTurns({ perTurn: 2, maxWaiting: 5, endOfTurn });
    const many = {};
    const started: string[] = [];
    const enter = (name: string, caller: object, isGone = STAYS) =>
      turns.enter(() => started.push(name), isGone, caller);
    for (let call = 0; call < 7; call += 1) expect(enter(`many-${call}`, many, () => call === 2)).toBe(true);
    expect(enter('too many', many)).toBe(false);
    expect(enter('few', {})).toBe(true);
    expect(started).toEqual(['many-0', 'many-1']);
    endTurn();
    expect(started.slice(2)).toEqual(['many-3', 'few']);
    endTurn();
    endTurn();
    endTurn();
    expect(started.slice(4)).toEqual(['many-4', 'many-5', 'many-6']);
  });
});
