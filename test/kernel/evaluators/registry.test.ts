import { describe, expect, it } from 'vitest';
import { listEvaluator } from '../../../src/kernel/evaluators/list/list.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { serviceRegistry } from '../../support/evaluators.js';

describe('createRegistry', () => {
  it('finds evaluators by name', () => {
    const registry = serviceRegistry;
    expect(registry.get('list')).toBe(listEvaluator);
    expect(registry.get('toString')).toBeUndefined();
    expect([...registry.keys()].slice(0, 3)).toEqual(['regex', 'list', 'json']);
  });

  it('refuses two evaluators of one name', () => {
    expect(() => createRegistry([listEvaluator, listEvaluator])).toThrow(/list/);
  });
});
