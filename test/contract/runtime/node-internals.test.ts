import { describe, expect, it } from 'vitest';
import { demandNodeInternals, NODE_INTERNALS } from '../../../src/contract/runtime/node-internals.js';

describe('what the service uses of Node.js beyond its documentation', () => {
  it.each(Object.entries(NODE_INTERNALS))('is there: %s', (_name, { isMet }) => {
    expect(isMet()).toBe(true);
  });

  it('is demanded at the start', () => {
    expect(() => demandNodeInternals()).not.toThrow();
  });

  it('is named when it is missing', () => {
    const missing = { needs: 'a thing', why: 'a reason', without: 'nothing works', isMet: () => false };
    expect(() => demandNodeInternals({ ...NODE_INTERNALS, missing })).toThrow(
      `Node.js ${process.versions.node} cannot run the service, which relies on this: a thing (a reason). Without it nothing works.`,
    );
  });
});
