import { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type Principal } from '../../../src/contract/call/handler.js';
import type { AdmissionLimits } from '../../../src/contract/config/admission-limits.js';
import { type CallTicket, FREE_BYTES } from '../../../src/serve/admission/call-ticket.js';
import { openAdmission } from '../../support/open-admission.js';

const ANN: Principal = { ...ANONYMOUS, level: 'key', keyFingerprint: 'aaaaaaaaaaaa' };
const BOB: Principal = { ...ANONYMOUS, level: 'admin', keyFingerprint: 'bbbbbbbbbbbb' };
const ANYONE: Principal = ANONYMOUS;

function admissionWith(limits: Partial<AdmissionLimits>, time = { ms: 0 }) {
  const refused: string[] = [];
  const { admission } = openAdmission({
    limits,
    now: () => time.ms,
    meter: {
      callRefused: (reason) => refused.push(reason),
      connectionClosed: (reason) => refused.push(reason),
    },
  });
  /** A connection from an address. */
  function connect(address: string): Socket | undefined {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address }) as Socket;
    return admission.connect(socket) === undefined ? undefined : socket;
  }
  const ticket = (socket: Socket | undefined): CallTicket => admission.ticket(socket, undefined);
  return { admission, connect, ticket, refused, time };
}

const limited = (reason: string | RegExp) =>
  expect.objectContaining({ code: 'RATE_LIMITED', message: expect.stringMatching(reason) });

describe('connections', () => {
  it('are limited in all and for each address, and give their places back', () => {
    const { admission, connect, refused } = admissionWith({ connections: 3, connectionsPerAddress: 2 });
    const first = connect('192.0.2.1');
    expect(connect('192.0.2.1')).toBeDefined();
    expect(connect('192.0.2.1')).toBeUndefined();
    expect(connect('192.0.2.2')).toBeDefined();
    expect(connect('192.0.2.3')).toBeUndefined();
    expect(refused).toEqual(['address-connections', 'connections']);
    first?.emit('close');
    expect(admission.connections).toBe(2);
    expect(connect('192.0.2.1')).toBeDefined();
  });
});

describe('calls without a key', () => {
  it('are limited on a connection, for an address and in all', () => {
    const { admission, connect, ticket, refused } = admissionWith({
      publicCallsPerConnection: 2,
      publicCallsPerAddress: 3,
      publicCalls: 4,
    });
    const [one, two, other, another] = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3'].map(connect);
    const tickets = [one, one, two, other].map((socket) => ticket(socket));
    for (const taken of tickets) taken.takePublicPlace(1);
    expect(() => ticket(one).takePublicPlace(1)).toThrow(limited('At most 2 calls without an API key'));
    expect(() => ticket(two).takePublicPlace(1)).toThrow(limited('At most 3 calls'));
    expect(() => ticket(another).takePublicPlace(1)).toThrow(limited('At most 4 calls'));
    expect(refused).toEqual(['public-limit', 'public-limit', 'public-limit']);
    for (const taken of tickets) taken.end();
    expect(admission.publicCalls).toBe(0);
    ticket(one).takePublicPlace(1);
  });

  it('are limited by what they cost a second, for an address and in all, until time has gone by', () => {
    const { connect, ticket, time, refused } = admissionWith({
      publicCallsPerSecond: 30,
      publicCallsPerSecondPerAddress: 20,
    });
    const [here, there] = [connect('192.0.2.1'), connect('192.0.2.2')];
    for (let count = 0; count < 4; count += 1) ticket(here).takePublicPlace(5);
    expect(() => ticket(here).takePublicPlace(5)).toThrow(
      expect.objectContaining({ options: expect.objectContaining({ retryAfterSeconds: 1 }) }),
    );
    for (let count = 0; count < 2; count += 1) ticket(there).takePublicPlace(5);
    expect(() => ticket(there).takePublicPlace(1)).toThrow(limited('Too many calls without a valid API key'));
    expect(refused).toEqual(['public-rate', 'public-rate']);
    time.ms += 250;
    ticket(here).takePublicPlace(5);
  });

  it('cut their connection off when they continue after refusals, and only theirs', () => {
    const { connect, ticket, refused } = admissionWith({ publicCallsPerConnection: 1 });
    const [storm, calm] = [connect('192.0.2.1'), connect('192.0.2.1')];
    for (const socket of [storm, calm]) ticket(socket).takePublicPlace(1);
    // Where no keys are needed every connection belongs to a known owner, which is never cut off.
    for (let count = 0; count < 100; count += 1) expect(() => ticket(storm).takePublicPlace(1)).toThrow();
    expect(storm?.destroyed).toBe(false);
    expect(refused).not.toContain('abuse');
  });

  it('are not counted when the caller went away before it was their turn', () => {
    const { admission, connect, ticket } = admissionWith({});
    const gone = ticket(connect('192.0.2.1'));
    gone.end();
    gone.takePublicPlace(1);
    gone.takePlace(ANN);
    expect([admission.publicCalls, admission.keyedCalls]).toEqual([0, 0]);
  });
});

describe('the calls of one key', () => {
  it('are limited, whatever other keys do', () => {
    const { admission, ticket, refused } = admissionWith({ callsPerKey: 2 });
    const tickets = [ticket(undefined), ticket(undefined)];
    for (const taken of tickets) taken.takePlace(ANN);
    expect(() => ticket(undefined).takePlace(ANN)).toThrow(limited('The API key has 2 calls running'));
    ticket(undefined).takePlace(BOB);
    expect(admission.keyedCalls).toBe(3);
    tickets[0]?.end();
    ticket(undefined).takePlace(ANN);
    expect(refused).toEqual(['key-limit']);
  });

  it('are counted once and given back once', () => {
    const { admission, ticket } = admissionWith({ callsPerKey: 2 });
    const taken = ticket(undefined);
    taken.takePlace(ANN);
    taken.takePlace(ANN);
    expect(admission.keyedCalls).toBe(1);
    taken.end();
    taken.end();
    expect(admission.keyedCalls).toBe(0);
  });

  it('are not limited without a key, nor with a limit of 0', () => {
    const { admission, ticket } = admissionWith({ callsPerKey: 1 });
    for (let count = 0; count < 10; count += 1) ticket(undefined).takePlace(ANYONE);
    expect(admission.keyedCalls).toBe(0);
    const open = admissionWith({ callsPerKey: 0 });
    for (let count = 0; count < 10; count += 1) open.ticket(undefined).takePlace(ANN);
    expect(open.admission.keyedCalls).toBe(10);
  });

  it('have a rate, in which each evaluation counts', () => {
    const { ticket, time, refused } = admissionWith({ callsPerSecondPerKey: 10 });
    const taken = ticket(undefined);
    taken.takePlace(ANN);
    taken.spend(5);
    for (let count = 0; count < 4; count += 1) ticket(undefined).takePlace(ANN);
    expect(() => ticket(undefined).takePlace(ANN)).toThrow(limited('The API key may make 10 calls a second'));
    ticket(undefined).takePlace(BOB);
    time.ms += 1_000;
    // More than a second's worth at once is taken, and has to be regained.
    taken.spend(25);
    expect(() => ticket(undefined).takePlace(ANN)).toThrow(
      expect.objectContaining({ options: expect.objectContaining({ retryAfterSeconds: 2 }) }),
    );
    expect(refused).toEqual(['key-rate', 'key-rate']);
  });
});

describe('bytes of unanswered requests', () => {
  it('are the sum of what every call holds, on each level, whatever is refused and given back', () => {
    const limits = {
      connectionBytes: 100_000,
      addressBytes: 150_000,
      keyBytes: 160_000,
      totalBytes: 200_000,
    };
    const change = fc.record({ call: fc.nat(5), to: fc.nat(80_000), over: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const { admission, connect, ticket } = admissionWith(limits);
        // Three connections of two addresses; the calls of the first key come on all of them.
        const sockets = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map(connect);
        const keyOf = (call: number) => (call < 4 ? ANN : BOB);
        const begin = (call: number) => {
          const begun = ticket(sockets[call % 3]);
          begun.takePlace(keyOf(call));
          return begun;
        };
        const held = Array<number>(6).fill(0);
        const tickets = held.map((_, call) => begin(call));
        const sum = (of: (call: number) => boolean) =>
          held.reduce((all, bytes, call) => all + (of(call) ? bytes : 0), 0);
        for (const { call, to, over } of changes) {
          const more = to - (held[call] ?? 0);
          const fits =
            sum((other) => other % 3 === call % 3) + more <= limits.connectionBytes &&
            sum((other) => (other % 3 === 2) === (call % 3 === 2)) + more <= limits.addressBytes &&
            sum((other) => keyOf(other) === keyOf(call)) + more <= limits.keyBytes &&
            sum(() => true) + more <= limits.totalBytes;
          const one = tickets[call] as CallTicket;
          if (over === 0) {
            one.end();
            one.hold(to);
            held[call] = 0;
            tickets[call] = begin(call);
          } else if (fits || more <= 0 || to <= FREE_BYTES) {
            one.hold(to);
            held[call] = to;
          } else {
            expect(() => one.hold(to)).toThrow(/unanswered requests|no more large requests/);
          }
          expect(admission.heldBytes).toBe(sum(() => true));
        }
        for (const one of tickets) one.end();
        expect(admission.heldBytes).toBe(0);
      }),
    );
  });
});
