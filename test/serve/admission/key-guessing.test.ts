import { describe, expect, it } from 'vitest';
import { createKeyGuessing, type KeyPlace } from '../../../src/serve/admission/key-guessing.js';

const HERE = '192.0.2.1';

function guessingAt(time: { ms: number }) {
  const refused: string[] = [];
  const guessing = createKeyGuessing({
    now: () => time.ms,
    fingerprintOf: (key) => `of ${key}`,
    onRefused: () => refused.push('key-guessing'),
  });
  const guess = (place: KeyPlace, address: string, count: number, name = 'guess'): void => {
    for (let index = 0; index < count; index += 1) {
      guessing.check(place, address, `${name} ${index}`);
      guessing.shown(place, address, `${name} ${index}`, false);
    }
  };
  const mayUse = (key: string, address = HERE, place: KeyPlace = 'call') => {
    try {
      guessing.check(place, address, key);
      return 'yes';
    } catch (error) {
      return error;
    }
  };
  return { guessing, guess, mayUse, refused };
}

describe('an address that shows wrong keys', () => {
  it('is refused every key it has not used before after 50 different ones, right or wrong', () => {
    const { guess, mayUse, refused } = guessingAt({ ms: 0 });
    guess('call', HERE, 50);
    expect(mayUse('the right one')).toMatchObject({
      code: 'RATE_LIMITED',
      options: { retryAfterSeconds: 60 },
    });
    expect(mayUse('guess 1')).toMatchObject({ code: 'RATE_LIMITED' });
    expect(mayUse('the right one', '192.0.2.2')).toBe('yes');
    expect(refused).toHaveLength(2);
  });

  it('is refused logins after 10, and only those', () => {
    const { guess, mayUse } = guessingAt({ ms: 0 });
    guess('login', HERE, 10);
    expect(mayUse('the right one', HERE, 'login')).toMatchObject({ code: 'RATE_LIMITED' });
    expect(mayUse('the right one')).toBe('yes');
  });

  it('is still served with keys that were right there', () => {
    const { guessing, guess, mayUse } = guessingAt({ ms: 0 });
    guessing.right(HERE, 'of the right one');
    guessing.shown('login', HERE, 'another right one', true);
    guess('call', HERE, 50);
    expect(mayUse('the right one')).toBe('yes');
    expect(mayUse('another right one')).toBe('yes');
    expect(mayUse('the right one', '::ffff:192.0.2.1')).toBe('yes');
    expect(mayUse('the right one', '192.0.2.2')).toBe('yes');
  });

  it('may show one wrong key as often as it likes', () => {
    const { guessing, mayUse } = guessingAt({ ms: 0 });
    for (let count = 0; count < 1_000; count += 1) guessing.shown('call', HERE, 'misspelt', false);
    expect(mayUse('misspelt')).toBe('yes');
  });

  it('is trusted again a minute after its first guess', () => {
    const time = { ms: 5_000 };
    const { guess, mayUse } = guessingAt(time);
    guess('call', HERE, 1);
    time.ms += 30_000;
    guess('call', HERE, 49, 'other');
    expect(mayUse('the right one')).toMatchObject({ options: { retryAfterSeconds: 30 } });
    time.ms += 29_999;
    expect(mayUse('the right one')).toMatchObject({ options: { retryAfterSeconds: 1 } });
    time.ms += 1;
    expect(mayUse('the right one')).toBe('yes');
  });

  it('is not alone: many addresses together are refused as well', () => {
    const { guess, mayUse } = guessingAt({ ms: 0 });
    for (let address = 0; address < 100; address += 1) guess('call', `192.0.2.${address}`, 10);
    expect(mayUse('the right one', '198.51.100.1')).toMatchObject({ code: 'RATE_LIMITED' });
  });
});
