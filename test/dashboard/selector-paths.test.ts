import { describe, expect, it } from 'vitest';
import {
  completions,
  knownPaths,
  pathProblem,
} from '../../packages/dashboard/src/selector/selector-paths.js';
import { isSelectorPath } from '../../src/kernel/core/selector.js';

const steps = [
  {
    name: 'send_mail',
    inputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        to: { type: 'array', items: { type: 'object', properties: { inside: {} } } },
        user: { $ref: '#/$defs/user' },
        'a.b': { type: 'string' },
      },
      $defs: { user: { properties: { id: { type: 'string' }, boss: { $ref: '#/$defs/user' } } } },
    },
    outputSchema: { anyOf: [{ properties: { sent: { type: 'boolean' } } }, { type: 'null' }] },
  },
  { name: 'log', inputSchema: { properties: { text: { type: 'integer' } } } },
];
const paths = (typed: string) => completions(knownPaths(steps), typed).map(({ path }) => path);

describe('paths of selectors', () => {
  it('come from the schemas of steps, with types and names of the steps', () => {
    const known = new Map(knownPaths(steps).map(({ path, note }) => [path, note]));
    expect(known.get('input.text')).toBe('string or integer · send_mail, log');
    expect(known.get('input.user.id')).toBe('string · send_mail');
    expect(known.get('output.sent')).toBe('boolean · send_mail');
  });

  it('do not lead into lists and through names with dots, which no selector reads', () => {
    expect(paths('input.')).not.toContain('input.to.inside');
    expect(paths('input.')).not.toContain('input.a.b');
  });

  it('follow a schema that contains itself only so far', () => {
    const depths = knownPaths(steps).map(({ path }) => path.split('.').length);
    expect(Math.max(...depths)).toBe(7);
  });

  it('complete what is typed: the next level first, then deeper ones, then those that contain it', () => {
    expect(paths('')).toEqual([
      ...['*', 'input', 'output', 'name', 'type', 'context'],
      ...['input.text', 'input.to', 'input.user', 'output.sent'],
    ]);
    expect(paths('input.us').slice(0, 3)).toEqual(['input.user', 'input.user.boss', 'input.user.id']);
    expect(paths('ID')).toContain('input.user.id');
    expect(paths('nothing')).toEqual([]);
  });

  it.each(['', '*', 'input', 'input.text', 'input.', 'context.a b', 'text', 'inputs.a', '.input', '*.a'])(
    'are told wrong as the server does: %j',
    (path) => {
      expect(pathProblem(path) === null).toBe(path === '' || isSelectorPath(path));
    },
  );
});
