import { describe, expect, it } from 'vitest';
import { foundText } from '../../../packages/dashboard/src/control-parts/selected-text.js';

const STEP = {
  type: 'tool',
  name: 'send_mail',
  input: {
    text: 'card 4111111111111111 of ann',
    to: ['a@x.example', 'b@x.example'],
    card: 4111111111111111,
    long: 1e30,
    'a/b~c': { key: 'x' },
    '4111111111111111': true,
  },
};

const find = (selector: string, path: string, start: number, end: number, inName = false) =>
  foundText(STEP, selector, { path, start, end, inName });

describe('the text of a finding', () => {
  it('is read from the step of the viewer, with what stands around it', () => {
    expect(find('input.text', '', 5, 21)).toEqual({
      before: 'card ',
      found: '4111111111111111',
      after: ' of ann',
    });
    expect(find('input', '/to/1', 0, 1)).toEqual({ before: '', found: 'b', after: '@x.example' });
    expect(find('*', '/input/text', 0, 4)?.found).toBe('card');
  });

  it('may be the name of a member, or the digits of a number', () => {
    expect(find('input', '/4111111111111111', 0, 16, true)?.found).toBe('4111111111111111');
    expect(find('input', '/card', 0, 4)?.found).toBe('4111');
    expect(find('input', '/a~1b~0c', 0, 5, true)?.found).toBe('a/b~c');
    expect(find('input', '/a~1b~0c/key', 0, 1)?.found).toBe('x');
  });

  it('is shortened on both sides of what was found', () => {
    const text = `${'a'.repeat(100)}KEY${'b'.repeat(100)}`;
    expect(foundText({ input: text }, 'input', { path: '', start: 100, end: 103, inName: false })).toEqual({
      before: `…${'a'.repeat(30)}`,
      found: 'KEY',
      after: `${'b'.repeat(30)}…`,
    });
  });

  it('is not there where the step has no such text, or not the digits that were sent', () => {
    const missing = [
      find('input.other', '', 0, 1),
      find('input', '/nothing', 0, 1),
      find('input', '/to/9', 0, 1),
      find('input', '/long', 0, 1),
      find('input.text', '', 20, 99),
      find('input.text', '', 5, 5),
      find('input.constructor', '/name', 0, 1),
      foundText(undefined, 'input', { path: '', start: 0, end: 1, inName: false }),
      foundText(undefined, '*', { path: '/input', start: 0, end: 1, inName: true }),
    ];
    expect(missing).toEqual(missing.map(() => undefined));
  });
});
