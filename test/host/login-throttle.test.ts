import { describe, expect, it } from 'vitest';
import { createLoginThrottle } from '../../src/host/session/login-throttle.js';

function throttleAt(time: { ms: number }) {
  const throttle = createLoginThrottle(() => time.ms);
  const refuse = (address: string, times: number): void => {
    for (let count = 0; count < times; count += 1) throttle.refused(address);
  };
  return { ...throttle, refuse };
}

describe('the login throttle', () => {
  it('counts each client by itself', () => {
    const { refuse, secondsToWait } = throttleAt({ ms: 0 });
    refuse('192.0.2.1', 9);
    expect(secondsToWait('192.0.2.1')).toBe(0);
    refuse('192.0.2.1', 1);
    expect(secondsToWait('192.0.2.1')).toBe(60);
    expect(secondsToWait('192.0.2.2')).toBe(0);
  });
  it('counts all clients together, too', () => {
    const { refuse, secondsToWait } = throttleAt({ ms: 0 });
    for (let client = 0; client < 99; client += 1) refuse(`192.0.2.${client}`, 1);
    expect(secondsToWait('198.51.100.1')).toBe(0);
    refuse('192.0.2.99', 1);
    expect(secondsToWait('198.51.100.1')).toBe(60);
  });
  it('forgets everything a minute after the first refusal', () => {
    const time = { ms: 5_000 };
    const { refuse, secondsToWait } = throttleAt(time);
    refuse('192.0.2.1', 1);
    time.ms += 30_000;
    refuse('192.0.2.1', 9);
    expect(secondsToWait('192.0.2.1')).toBe(30);
    time.ms += 29_999;
    expect(secondsToWait('192.0.2.1')).toBe(1);
    time.ms += 1;
    expect(secondsToWait('192.0.2.1')).toBe(0);
    refuse('192.0.2.1', 10);
    expect(secondsToWait('192.0.2.1')).toBe(60);
  });
  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['2001:db8::1', '2001:db8:0:0:5::', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['1:2::4:5:6:7:8', '1:2:0:4::', true],
    ['::1', '::2', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
    ['::ffff:192.0.2.1', '::1', false],
  ])('takes %s and %s for the same client: %s', (first, second, same) => {
    const { refuse, secondsToWait } = throttleAt({ ms: 0 });
    refuse(first, 10);
    expect(secondsToWait(second) > 0).toBe(same);
  });
});
