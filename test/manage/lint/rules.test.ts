import { describe, expect, it } from 'vitest';
import { evaluatorsOfWindow, type LintFacts } from '../../../src/manage/lint/lint-documents.js';
import { control, found, leaf, links, lint, policy, regex, registered, type TestAgent } from './support.js';

type Documents = readonly object[];
type Case = [what: string, documents: Documents, facts?: Partial<LintFacts>];

const steer = (more: object = {}) => ({
  action: { decision: 'steer', steering_context: { message: 'ask', ...more } },
});
const cel = (expression: string, more: object = {}) => leaf('cel', { expression, ...more }, '*');
const names = (...values: string[]) => leaf('list', { values }, 'name');
const history = (config: object) => leaf('history', { within: '1h', key: ['session'], ...config }, '*');
const ran = (...step_names: string[]) => ({ op: 'formerly', event: { kinds: ['response'], step_names } });
const every = { every_agent: true };
const never = regex('a^b');
/** Controls that check the same, in other steps. */
const alike = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    control(`c${at}`, regex('x'), { scope: { step_names: [`s${at}`] } }),
  );

const BOT: TestAgent = {
  name: 'billing-bot',
  labels: ['team=billing'],
  steps: [
    {
      type: 'tool',
      name: 'refund',
      input_schema: {
        type: 'object',
        additionalProperties: false,
        properties: { amount: { type: 'number' } },
        required: ['amount'],
      },
    },
    { type: 'tool', name: 'review' },
  ],
};
const OTHER: TestAgent = { name: 'other-bot-01', steps: [{ type: 'tool', name: 'delete' }] };
const known = registered(BOT, OTHER);

/** What each rule finds, and what is near it and is fine. */
const RULES: Readonly<Record<string, { readonly bad: readonly Case[]; readonly good: readonly Case[] }>> = {
  'always-true': {
    bad: [
      ['an empty pattern', [control('a', regex(''))]],
      ['any step', [control('a', regex('.+', '*'))]],
      ['a check or its opposite', [control('a', { or: [regex('x', 'name'), { not: regex('x', 'name') }] })]],
      ['a constant expression', [control('a', cel('true'))]],
    ],
    good: [
      ['an empty text is not found', [control('a', regex('.+'))]],
      ['nor are several lines', [control('a', regex('^.*$'))]],
      ['a scope that names its steps', [control('a', regex(''), { scope: { step_names: ['drop'] } })]],
      // Below a not, members of an object are not searched one by one.
      ['a check that heeds negation', [control('a', { or: [regex('^x'), { not: regex('^x') }] })]],
    ],
  },
  'never-true': {
    bad: [
      ['a pattern', [control('a', never)]],
      ['an empty list', [control('a', leaf('list', { values: [] }))]],
      [
        'a check and its opposite',
        [control('a', { and: [regex('x', 'name'), { not: regex('x', 'name') }] })],
      ],
      [
        'a check and the opposite of more',
        [control('a', { and: [names('a'), { not: { or: [names('a', 'b'), regex('x', 'name')] } }] })],
      ],
      ['names that exclude each other', [control('a', { and: [names('a'), { and: [names('b')] }] })]],
      ['an empty range', [control('a', cel('input.x > 5 && input.x < 3'))]],
      ['an empty range of two checks', [control('a', { and: [cel('input.x > 5'), cel('input.x < 3')] })]],
      ['no number', [control('a', history({ ...ran('x'), op: 'count', compare: { lt: 0 } }))]],
      [
        'a rate after the step',
        [
          control('a', leaf('rate', { limit: 1, period: '1m', key: ['agent'] }, '*'), {
            scope: { stages: ['post'] },
          }),
        ],
      ],
    ],
    good: [
      ['a range', [control('a', cel('input.x > 3 && input.x < 5'))]],
      ['two ranges that meet', [control('a', { and: [cel('input.x >= 5'), cel('input.x <= 5')] })]],
      [
        'a missing member that counts as a match',
        [
          control('a', {
            and: [cel('input.x > 5', { on_missing: 'match' }), cel('input.x < 3', { on_missing: 'match' })],
          }),
        ],
      ],
      [
        'values of different selectors',
        [
          control('a', {
            and: [
              leaf('cel', { expression: 'value > 5' }, 'input.a'),
              leaf('cel', { expression: 'value < 3' }, 'input.b'),
            ],
          }),
        ],
      ],
      [
        'a rate before and after',
        [control('a', leaf('rate', { limit: 1, period: '1m', key: ['agent'] }, '*'))],
      ],
      ['names in common', [control('a', { and: [names('a', 'b'), names('B')] })]],
    ],
  },
  'missing-steering-message': {
    bad: [
      ['no context', [control('a', regex('x'), { action: { decision: 'steer' } })]],
      ['a blank message', [control('a', regex('x'), steer({ message: ' \n' }))]],
    ],
    good: [
      ['a message', [control('a', regex('x'), steer())]],
      ['a deny', [control('a', regex('x'))]],
    ],
  },
  'detector-without-threshold': {
    bad: [
      ['secrets', [control('a', leaf('secrets', {}))]],
      ['below a not', [control('a', { not: leaf('pii', { entities: ['email'] }) })]],
    ],
    good: [
      ['a threshold', [control('a', leaf('secrets', { threshold: 0.5 }))]],
      ['no detector', [control('a', regex('x'))]],
    ],
  },
  'window-beyond-retention': {
    bad: [
      ['a history', [control('a', history({ ...ran('x'), within: '25h' }))]],
      ['a rate', [control('a', leaf('rate', { limit: 10, period: '2d', key: ['agent'] }, '*'))]],
      ['a burst', [control('a', leaf('rate', { limit: 1, period: '1h', burst: 25, key: ['agent'] }, '*'))]],
    ],
    good: [
      ['as long as memory', [control('a', history({ ...ran('x'), within: '24h' }))]],
      [
        'with another setting',
        [control('a', history({ ...ran('x'), within: '25h' }))],
        { kept: evaluatorsOfWindow(90_000_000) },
      ],
      [
        'a calendar',
        [control('a', leaf('budget', { limit: 10, window: { calendar: 'month' }, key: ['agent'] }, '*'))],
      ],
    ],
  },
  'unreachable-scope': {
    bad: [
      ['a name', [control('a', regex('x'), { scope: { step_names: ['refnd'] } })], known],
      ['a type', [control('a', regex('x'), { scope: { step_types: ['toool'] } })], known],
      ['a pattern', [control('a', regex('x'), { scope: { step_name_regex: '^pay' } })], known],
      [
        'a name of another agent',
        [control('a', regex('x'), { scope: { step_names: ['delete'] } }), links('billing-bot', ['a'])],
        known,
      ],
      [
        'by labels',
        [
          control('a', regex('x'), { scope: { step_names: ['delete'] } }),
          policy('p', ['a'], { agent_labels: ['team=billing'] }),
        ],
        known,
      ],
      ['a pattern that no name has', [control('a', regex('x'), { scope: { step_name_regex: 'a^b' } })]],
    ],
    good: [
      ['without registrations', [control('a', regex('x'), { scope: { step_names: ['refnd'] } })]],
      [
        'a name of its agent',
        [control('a', regex('x'), { scope: { step_names: ['refund'] } }), links('billing-bot', ['a'])],
        known,
      ],
      [
        'a name of any agent',
        [control('a', regex('x'), { scope: { step_names: ['delete'] } }), policy('p', ['a'], every)],
        known,
      ],
    ],
  },
  'unknown-member': {
    bad: [
      ['a selector', [control('a', regex('x', 'input.amont'), { scope: { step_names: ['refund'] } })], known],
      [
        'an expression',
        [control('a', cel('input.amont > 1.0'), { scope: { step_names: ['refund'] } })],
        known,
      ],
    ],
    good: [
      ['a member', [control('a', regex('1', 'input.amount'), { scope: { step_names: ['refund'] } })], known],
      [
        'a step without a schema',
        [control('a', cel('input.x == 1'), { scope: { step_names: ['review'] } })],
        known,
      ],
    ],
  },
  'unlinked-control': {
    bad: [
      ['one of two', [control('a', regex('x')), control('b', regex('y')), policy('p', ['b'], every)]],
      [
        'in the namespace',
        [control('a', regex('x'))],
        { stored: { controls: [], policies: [], links: [], bound: new Set() } },
      ],
    ],
    good: [
      ['a set without links', [control('a', regex('x'))]],
      ['by an agent', [control('a', regex('x')), links('billing-bot', ['a'])]],
      [
        'by a pack',
        [
          control('a', regex('x')),
          policy('p', [], every),
          { kind: 'Pack', name: 'secrets', policy: 'p', version: '1', installed: { key: 'a' } },
        ],
      ],
      ['switched off', [control('a', regex('x'), { enabled: false }), policy('p', [], every)]],
      [
        'bound to a target',
        [control('a', regex('x'))],
        { stored: { controls: [], policies: [], links: [], bound: new Set(['a']) } },
      ],
      [
        'by a stored policy',
        [control('a', regex('x'))],
        {
          stored: {
            controls: [],
            policies: [{ name: 'p', document: null, everyAgent: true, agentLabels: [], controls: ['a'] }],
            links: [],
            bound: new Set(),
          },
        },
      ],
    ],
  },
  'unlinked-policy': {
    bad: [['given to none', [control('a', regex('x')), policy('p', ['a']), links('billing-bot', ['a'])]]],
    good: [
      ['given to one', [control('a', regex('x')), policy('p', ['a']), links('billing-bot', [], ['p'])]],
      [
        'by labels',
        [
          control('a', regex('x')),
          policy('p', ['a'], { agent_labels: ['a=b'] }),
          links('bot-number-1', ['a']),
        ],
      ],
      ['a set without links of agents', [control('a', regex('x')), policy('p', ['a'])]],
    ],
  },
  'shadowed-by-deny': {
    bad: [
      [
        'the same condition',
        [control('a', regex('x')), control('b', regex('x'), steer()), policy('p', ['a', 'b'], every)],
      ],
      [
        'part of an and',
        [
          control('b', { and: [regex('y'), regex('x')] }, steer()),
          control('a', regex('x')),
          links('billing-bot', ['a', 'b']),
        ],
      ],
      [
        'a shorter list of some steps',
        [
          control('a', names('x', 'y')),
          control('b', names('y'), { ...steer(), scope: { step_types: ['tool'] } }),
          policy('p', ['b'], { agent_labels: ['a=b', 'c=d'] }),
          policy('q', ['a'], { agent_labels: ['a=b'] }),
        ],
      ],
      [
        'everything',
        [control('a', regex('')), control('b', regex('x'), steer()), policy('p', ['a', 'b'], every)],
      ],
      [
        'less below a not',
        [
          control('b', { not: { or: [names('x', 'y'), regex('z')] } }, steer()),
          control('a', { not: names('x') }),
          policy('p', ['a', 'b'], every),
        ],
      ],
      [
        'an approval',
        [
          control('a', regex('x')),
          control('b', regex('x'), {
            action: { decision: 'deny', approval: { approvers: ['role:approver'] } },
            scope: { stages: ['pre'] },
          }),
          policy('p', ['a', 'b'], every),
        ],
      ],
    ],
    good: [
      [
        'other agents',
        [
          control('a', regex('x')),
          control('b', regex('x'), steer()),
          links('bot-number-1', ['a', 'b']),
          links('bot-number-2', ['b']),
        ],
      ],
      [
        'a longer list',
        [control('a', names('y')), control('b', names('x', 'y'), steer()), policy('p', ['a', 'b'], every)],
      ],
      [
        'a deny that is switched off',
        [
          control('a', regex('x'), { enabled: false }),
          control('b', regex('x'), steer()),
          policy('p', ['a', 'b'], every),
        ],
      ],
      [
        'one that observes',
        [
          control('a', regex('x')),
          control('b', regex('x'), { action: { decision: 'observe' } }),
          policy('p', ['a', 'b'], every),
        ],
      ],
      [
        'links that are elsewhere',
        [control('a', regex('x')), control('b', regex('x'), steer()), policy('p', ['b']), policy('q', ['a'])],
      ],
    ],
  },
  'overlapping-duplicate': {
    bad: [
      ['twice the same', [control('a', regex('x')), control('b', regex('x'))]],
      [
        'one within the other',
        [control('a', regex('x')), control('b', regex('x'), { scope: { stages: ['pre'] } })],
      ],
      ['two that steer alike', [control('a', regex('x'), steer()), control('b', regex('x'), steer())]],
    ],
    good: [
      [
        'another scope',
        [
          control('a', regex('x'), { scope: { stages: ['post'] } }),
          control('b', regex('x'), { scope: { stages: ['pre'] } }),
        ],
      ],
      [
        'other words',
        [control('a', regex('x'), steer()), control('b', regex('x'), steer({ message: 'wait' }))],
      ],
      [
        'for other agents',
        [
          control('a', regex('x')),
          control('b', regex('x')),
          links('bot-number-1', ['a']),
          links('bot-number-2', ['b']),
        ],
      ],
      [
        'that record something else',
        ['one', 'two'].map((why) =>
          control(why, regex('x'), { action: { decision: 'observe', metadata: { why } } }),
        ),
      ],
    ],
  },
  'prerequisite-never-permitted': {
    bad: [
      [
        'a step that is denied',
        [
          control('pay-after-review', { and: [names('pay'), { not: history(ran('review')) }] }),
          control('no-review', regex(''), { scope: { step_names: ['review'] } }),
          policy('p', ['pay-after-review', 'no-review'], every),
        ],
      ],
      [
        'a step that a list denies',
        [
          control('a', history({ ...ran('review'), op: 'count', compare: { lt: 1 } })),
          control('b', names('review', 'x')),
          policy('p', ['a', 'b'], every),
        ],
      ],
      [
        'a step that is not registered',
        [control('a', { not: history(ran('reviev')) }), links('billing-bot', ['a'])],
        known,
      ],
    ],
    good: [
      [
        'a step that is denied sometimes',
        [
          control('a', { not: history(ran('review')) }),
          control('b', regex('x'), { scope: { step_names: ['review'] } }),
          policy('p', ['a', 'b'], every),
        ],
      ],
      [
        'one of two steps',
        [
          control('a', { not: history(ran('review', 'check')) }),
          control('b', names('review')),
          policy('p', ['a', 'b'], every),
        ],
      ],
      [
        'of another agent',
        [
          control('a', { not: history(ran('review')) }),
          control('b', names('review')),
          links('bot-number-1', ['a']),
          links('bot-number-2', ['b']),
        ],
      ],
      [
        'a registered step',
        [control('a', { not: history(ran('review')) }), links('billing-bot', ['a'])],
        known,
      ],
      [
        'a denial that counts itself',
        [
          control('a', {
            not: history({ op: 'formerly', event: { kinds: ['denied'], step_names: ['review'] } }),
          }),
          control('b', names('review')),
          policy('p', ['a', 'b'], every),
        ],
      ],
    ],
  },
  'incomplete-lint': {
    bad: [['too many controls that check the same', alike(250)]],
    good: [['fewer', alike(50)]],
  },
  'invalid-document': {
    bad: [['another kind', [{ ...control('a', regex('x')), kind: 'Limit' }]]],
    good: [['a control', [control('a', regex('x'))]]],
  },
};

const cases = (kind: 'bad' | 'good') =>
  Object.entries(RULES).flatMap(([rule, of]) =>
    of[kind].map(([what, documents, facts]) => ({ rule, what, documents, facts })),
  );

describe('lint', () => {
  it.each(cases('bad'))('finds $rule: $what', async ({ rule, documents, facts }) => {
    const rules = (await found(documents, facts)).map((one) => one.split(' ')[0]);
    expect(rules).toContain(rule);
  });

  it.each(cases('good'))('does not find $rule: $what', async ({ rule, documents, facts }) => {
    const rules = (await found(documents, facts)).map((one) => one.split(' ')[0]);
    expect(rules).not.toContain(rule);
  });

  it('says of two controls that do the same that the later one is needless', async () => {
    const documents = [control('first', regex('x')), control('second', regex('x'))];
    expect(await lint(documents)).toEqual([
      {
        rule: 'overlapping-duplicate',
        severity: 'warning',
        document: 1,
        field: 'data.condition',
        message:
          'the same steps are matched by the control "first", which does the same with them: one of both is needless',
      },
    ]);
  });

  it('looks at each document alone on request', async () => {
    const documents = [control('first', regex('x')), control('second', regex('x')), policy('p', [])];
    expect(await found(documents, { isEachAlone: true })).toEqual([]);
  });

  it('says when a set has too many controls that check the same to compare them all', async () => {
    const rules = await found(alike(250));
    expect(rules.filter((one) => !one.startsWith('incomplete-lint'))).toEqual([]);
    expect(rules).toHaveLength(1);
  });
});
