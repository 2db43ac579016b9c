import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { controlOrigins, controlsOnlyBy } from '../../packages/dashboard/src/agents/control-origins.js';
import { schemaMembers, schemaType } from '../../packages/dashboard/src/agents/schema-members.js';
import { uncoveredSteps } from '../../packages/dashboard/src/agents/step-coverage.js';

const policy = (id: number, controlIds: number[]) => ({ id, name: `policy-${id}`, controlIds });

describe('the ways by which an agent has its controls', () => {
  it('are each link and each policy', () => {
    const origins = controlOrigins([1, 2], [policy(7, [2, 3]), policy(8, [3])]);
    expect(origins.get(1)).toEqual({ isDirect: true, policies: [] });
    expect(origins.get(2)).toMatchObject({ isDirect: true, policies: [{ id: 7 }] });
    expect(origins.get(3)).toMatchObject({ isDirect: false, policies: [{ id: 7 }, { id: 8 }] });
    expect(origins.has(4)).toBe(false);
  });

  it('tell what is lost with a policy: exactly what the agent has no more without it', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 8 }));
    fc.assert(
      fc.property(ids, fc.array(ids, { minLength: 1, maxLength: 4 }), (linked, sets) => {
        const policies = sets.map((set, index) => policy(index, set));
        const before = controlOrigins(linked, policies);
        for (const { id } of policies) {
          const after = controlOrigins(
            linked,
            policies.filter((other) => other.id !== id),
          );
          const lost = [...before.keys()].filter((control) => !after.has(control));
          expect(controlsOnlyBy(id, before).toSorted()).toEqual(lost.toSorted());
        }
      }),
    );
  });
});

describe('the members of a JSON Schema', () => {
  it('are listed with path, type, whether they are required, and description', () => {
    expect(
      schemaMembers({
        type: 'object',
        required: ['to'],
        properties: {
          to: {
            type: 'array',
            items: {
              type: 'object',
              properties: { name: { type: ['string', 'null'], description: 'Full name' } },
            },
          },
          mode: { enum: ['low', 2] },
        },
      }),
    ).toEqual([
      { path: 'to', type: 'array of object', isRequired: true, description: undefined },
      { path: 'to[].name', type: 'string | null', isRequired: false, description: 'Full name' },
      { path: 'mode', type: '"low" | 2', isRequired: false, description: undefined },
    ]);
  });

  it.each([
    [{ const: 'x' }, '"x"'],
    [{ $ref: '#/$defs/node' }, '#/$defs/node'],
    [
      { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] },
      'string | array of number',
    ],
    [{ properties: {} }, 'object'],
    [{}, 'any'],
    [true, 'any'],
    [false, 'nothing'],
  ])('of %j is %s', (schema, type) => {
    expect(schemaType(schema as never)).toBe(type);
  });

  it('are read from any JSON without an error, and are never very many', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const schema = { type: 'object', properties: { any: value }, required: value };
        expect(schemaMembers(schema as never).length).toBeLessThanOrEqual(200);
      }),
    );
  });
});

describe('the steps of an agent that no control checks', () => {
  const steps = [
    { type: 'tool', name: 'send_mail' },
    { type: 'tool', name: 'refund' },
    { type: 'llm', name: 'answer' },
  ];
  const control = (scope: Record<string, unknown> | undefined, enabled = true) =>
    ({
      control: { enabled, scope: scope && { stepTypes: [], stepNames: [], stages: [], ...scope } },
    }) as never;
  const names = (...controls: never[]) => uncoveredSteps(steps, controls).map(({ name }) => name);

  it('are those outside of every scope', () => {
    expect(names()).toEqual(['send_mail', 'refund', 'answer']);
    expect(names(control(undefined))).toEqual([]);
    expect(names(control({ stepTypes: ['tool'] }))).toEqual(['answer']);
    expect(names(control({ stepNames: ['refund'] }), control({ stepTypes: ['llm'] }))).toEqual(['send_mail']);
    expect(names(control({ stepNameRegex: '^send_' }))).toEqual(['refund', 'answer']);
    expect(names(control({ stepNames: ['answer'], stepNameRegex: 'fund$' }))).toEqual(['send_mail']);
    expect(names(control({ stepTypes: ['llm'], stepNames: ['refund'] }))).toEqual([
      'send_mail',
      'refund',
      'answer',
    ]);
  });

  it('are all with controls that are off, and none by a pattern that only the server reads', () => {
    expect(names(control(undefined, false))).toEqual(['send_mail', 'refund', 'answer']);
    expect(names(control({ stepNameRegex: '(?i)SEND' }))).toEqual([]);
  });
});
