import { create } from '@bufbuild/protobuf';
import { ApiKeySchema } from '@gen/enforcement/v1/key_service_pb.js';
import { describe, expect, it } from 'vitest';
import { AGENT_ORDERS } from '../src/agents/agent-query.js';
import { listAddress, subjectAddress } from '../src/health/problem-links.js';
import { agentsOf, canGive, draftProblem, emptyDraft, requestOf } from '../src/keys/key-draft.js';
import { inKeyOrder, keyState } from '../src/keys/key-state.js';
import { usableScopes } from '../src/session/scopes.js';
import { isOwnerOf, namespaceOf, ownerIn } from '../src/ui/browser/owner.js';
import { sortOf } from '../src/ui/table/use-sort.js';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const at = (days: number) => new Date(NOW + days * 86_400_000).toISOString();

describe('the state of a key', () => {
  it('is the first that applies', () => {
    const used = { lastUsedAt: at(-1) };
    expect(keyState({ ...used, revokedAt: at(-1), expiresAt: at(-2) }, NOW)).toBe('revoked');
    expect(keyState({ ...used, expiresAt: at(0) }, NOW)).toBe('expired');
    expect(keyState({ ...used, expiresAt: at(3), previousSecretUntil: at(1) }, NOW)).toBe('rotating');
    expect(keyState({ ...used, expiresAt: at(3), previousSecretUntil: at(-1) }, NOW)).toBe('expiring');
    expect(keyState({ expiresAt: at(40) }, NOW)).toBe('unused');
    expect(keyState({ ...used, expiresAt: at(40) }, NOW)).toBe('valid');
    expect(keyState(used, NOW)).toBe('valid');
  });

  it('orders keys by what ends first, those without an end last', () => {
    const keys = [
      create(ApiKeySchema, { id: 1 }),
      create(ApiKeySchema, { id: 2, expiresAt: at(9) }),
      create(ApiKeySchema, { id: 3, expiresAt: at(2) }),
    ];
    const ids = (isReversed: boolean) => inKeyOrder(keys, { by: 'expires', isReversed }).map(({ id }) => id);
    expect([ids(false), ids(true)]).toEqual([
      [3, 2, 1],
      [1, 2, 3],
    ]);
    expect(inKeyOrder(keys, { by: '', isReversed: false })).toBe(keys);
  });
});

describe('a new key', () => {
  const draft = { ...emptyDraft('agent', 'default'), name: ' reports ' };

  it('is sent with what was chosen, and nothing else', () => {
    expect(requestOf(draft, 'default', NOW)).toEqual({
      name: 'reports',
      role: 'agent',
      agents: [],
      expiresAt: at(90),
    });
    const own = {
      ...draft,
      role: '',
      scopes: new Set(['controls.read']),
      agents: 'a-bot, b-*\na-bot',
      owner: 'team',
      lifetime: 'never',
      namespace: 'team-a',
    };
    expect(requestOf(own, 'default', NOW)).toEqual({
      name: 'reports',
      scopes: ['controls.read'],
      agents: ['a-bot', 'b-*'],
      owner: 'team',
      namespace: 'team-a',
    });
    expect(agentsOf(' ')).toEqual([]);
  });

  it('says what is missing', () => {
    expect(draftProblem(draft, NOW)).toBeUndefined();
    expect(draftProblem({ ...draft, name: ' ' }, NOW)).toBe('The key needs a name.');
    expect(draftProblem({ ...draft, role: '' }, NOW)).toBe('Choose at least one scope.');
    const dated = { ...draft, lifetime: 'date' };
    expect(draftProblem(dated, NOW)).toBe('Choose the last day of the key.');
    expect(draftProblem({ ...dated, day: '2026-11-20' }, NOW)).toBe(
      'The last day of the key is over already.',
    );
    expect(draftProblem({ ...dated, day: '2026-12-20' }, NOW)).toBeUndefined();
  });

  it('never has more scopes than who makes it', () => {
    const role = { scopes: ['controls.read', 'controls.write'] };
    expect(canGive(role, 'all')).toBe(true);
    expect(canGive(role, new Set(['controls.read', 'controls.write', 'keys.write']))).toBe(true);
    expect(canGive(role, new Set(['controls.read']))).toBe(false);
  });
});

describe('the caller of a page', () => {
  it('has the scopes that the server lists, or those of keys before there were scopes', () => {
    const caller = { isAdmin: false, isLimitedToAgents: false, scopes: [] };
    expect(usableScopes(caller).has('controls.write')).toBe(false);
    expect(usableScopes({ ...caller, isAdmin: true }).has('controls.write')).toBe(true);
    expect(usableScopes({ ...caller, isAdmin: true }).has('keys.write')).toBe(false);
    expect([...usableScopes({ ...caller, isAdmin: true, scopes: ['evaluate'] })]).toEqual(['evaluate']);
    const limited = { ...caller, isLimitedToAgents: true, scopes: ['agents.write', 'policies.write'] };
    expect([...usableScopes(limited)]).toEqual(['agents.write']);
  });

  it('owns what is kept for it, in each namespace by itself', () => {
    expect([ownerIn('default', 'abc'), ownerIn('team-a', 'abc')]).toEqual(['abc', 'team-a/abc']);
    expect([namespaceOf('abc'), namespaceOf('team-a/abc')]).toEqual(['default', 'team-a']);
    expect([isOwnerOf('abc', 'abc'), isOwnerOf('abc', 'team-a/abc')]).toEqual([true, true]);
    expect([isOwnerOf('abc', 'xabc'), isOwnerOf('abc', 'team-a/xabc')]).toEqual([false, false]);
  });
});

describe('a problem', () => {
  it('leads to its cause in one click', () => {
    const agent = { type: 'agent', id: 'a-bot', name: 'a-bot' };
    expect(subjectAddress('agents_silent', agent)).toBe('/agents/a-bot');
    // In an order that the page of agents has.
    const [path, parameters] = (listAddress({ kind: 'agents_silent' }) ?? '').split('?');
    const sort = new URLSearchParams(parameters).get('sort') ?? '';
    expect([path, sortOf(sort, AGENT_ORDERS)]).toEqual([
      '/agents',
      { by: 'last_evaluated', isReversed: true },
    ]);
    const key = { type: 'key', id: '0123456789ab', name: 'support desk' };
    expect(subjectAddress('key_expiring', key)).toBe('/keys?name=support%20desk');
  });
});
