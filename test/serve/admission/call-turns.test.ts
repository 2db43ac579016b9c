import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallTurns } from '../../../src/serve/admission/call-turns.js';

function turnsOf(perTurn: number, maxWaiting = 100, mayStart = () => true) {
  const ends: (() => void)[] = [];
  const turns = new CallTurns({
    perTurn,
    maxWaiting,
    mayStart,
    endOfTurn: (callback) => void ends.push(callback),
  });
  return {
    turns,
    endTurn() {
      for (const end of ends.splice(0)) end();
    },
  };
}

describe('calls that take turns', () => {
  it('start at once as long as their turn has room, and later in order', () => {
    const { turns, endTurn } = turnsOf(2);
    const started: number[] = [];
    for (let call = 0; call < 5; call += 1)
      turns.enter(
        () => started.push(call),
        () => false,
      );
    expect(started).toEqual([0, 1]);
    endTurn();
    expect(started).toEqual([0, 1, 2, 3]);
    endTurn();
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(turns.waiting).toBe(0);
  });

  it('are not started when their callers have gone away', () => {
    const { turns, endTurn } = turnsOf(1);
    const started: number[] = [];
    for (let call = 0; call < 5; call += 1)
      turns.enter(
        () => started.push(call),
        () => call < 4,
      );
    endTurn();
    expect(started).toEqual([0, 4]);
  });

  it('are refused when too many wait', () => {
    const { turns } = turnsOf(1, 2);
    const enter = () =>
      turns.enter(
        () => {},
        () => false,
      );
    expect([enter(), enter(), enter(), enter()]).toEqual([true, true, true, false]);
  });

  it('wait while nothing may be started', () => {
    let mayStart = false;
    const { turns } = turnsOf(1, 100, () => mayStart);
    const started: string[] = [];
    turns.enter(
      () => started.push('a'),
      () => false,
    );
    expect(started).toEqual([]);
    mayStart = true;
    turns.goOn();
    expect(started).toEqual(['a']);
  });

  it('start each once, in order, at most so many in a turn, whatever comes in between', () => {
    const action = fc.oneof(fc.constant('enter' as const), fc.constant('end' as const));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(action), (perTurn, actions) => {
        const { turns, endTurn } = turnsOf(perTurn);
        const started: number[] = [];
        let entered = 0;
        let before = 0;
        for (const one of actions) {
          if (one === 'enter') {
            const call = entered;
            entered += 1;
            turns.enter(
              () => started.push(call),
              () => false,
            );
          } else {
            before = started.length;
            endTurn();
          }
          expect(started.length - before).toBeLessThanOrEqual(2 * perTurn);
        }
        while (turns.waiting > 0) endTurn();
        expect(started).toEqual(Array.from({ length: entered }, (_, call) => call));
      }),
    );
  });
});
