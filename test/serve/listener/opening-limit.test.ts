import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limitOpening } from '../../../src/serve/listener/connection-times.js';

describe('the time limit of a connection that is being opened', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  function opening() {
    const peer = {
      isPaused: false,
      pauseChanges: 0,
      turns: [] as (() => void)[],
      takeTurn(work: () => void) {
        peer.turns.push(work);
      },
    };
    const timeout = vi.fn();
    return { peer, timeout, limit: limitOpening(peer, 1_000, timeout) };
  }

  it('ends the opening of a client that sends nothing, once', async () => {
    const { timeout } = opening();
    await pass(999);
    expect(timeout).not.toHaveBeenCalled();
    await pass(10_000);
    expect(timeout).toHaveBeenCalledTimes(1);
  });

  it('does not concern a connection that is open', async () => {
    const { limit, timeout } = opening();
    limit.opened();
    await pass(10_000);
    expect(timeout).not.toHaveBeenCalled();
  });

  it('does not count the time until the turn of the connection', async () => {
    const { peer, limit, timeout } = opening();
    const work = vi.fn();
    limit.inTurn(work);
    await pass(10_000);
    expect(timeout).not.toHaveBeenCalled();
    peer.turns[0]?.();
    expect(work).toHaveBeenCalledTimes(1);
    await pass(2_000);
    expect(timeout).toHaveBeenCalledTimes(1);
  });

  it('does not count the time in which others have their turn', async () => {
    const { peer, timeout } = opening();
    peer.isPaused = true;
    peer.pauseChanges = 1;
    await pass(5_000);
    peer.isPaused = false;
    peer.pauseChanges = 2;
    // It was read for a part of this second only.
    await pass(900);
    expect(timeout).not.toHaveBeenCalled();
    await pass(2_000);
    expect(timeout).toHaveBeenCalledTimes(1);
  });

  it('reads what arrived while the process was busy first', async () => {
    const { limit, timeout } = opening();
    setTimeout(() => setImmediate(() => limit.opened()), 900);
    vi.advanceTimersByTime(0);
    await pass(5_000);
    expect(timeout).not.toHaveBeenCalled();
  });
});
