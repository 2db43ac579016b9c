import { expect, it } from 'vitest';
import { runText } from './suite.support.js';

const LIMIT = `
kind: Suite
now: 2026-11-27T12:00:00Z
controls:
  - kind: Limit
    name: three-a-minute
    data:
      execution: server
      condition: { selector: { path: '*' }, evaluator: { name: rate, config: { key: [session], limit: 3, period: 1m } } }
      action: { decision: deny }
  - kind: Control
    name: read-before-write
    data:
      execution: server
      scope: { step_names: [write], stages: [pre] }
      condition:
        not: { selector: { path: '*' }, evaluator: { name: history, config: { op: formerly, within: 1h, event: { kinds: [response], step_names: [read] } } } }
      action: { decision: deny }
`;

const failures = async (text: string) =>
  (await runText(text)).results
    .filter(({ status }) => status !== 'passed')
    .map(({ of, reasons }) => [of.name, ...reasons]);

it('controls with memory know the history of a case, by its clock, and of no other', async () => {
  expect(
    await failures(`${LIMIT}
fixtures:
  histories:
    three: [{ step: { name: read }, ago: 1s, repeat: 3 }]
cases:
  - { name: the fourth step, step: { name: read }, history: three, expect: { outcome: deny, controls: [three-a-minute] } }
  - { name: another session, step: { name: read }, session: other, history: [{ step: { name: read }, session: one, ago: 1s, repeat: 3 }], expect: { outcome: allow } }
  - { name: a minute later, step: { name: read }, history: [{ step: { name: read }, ago: 2m, repeat: 3 }], expect: { outcome: allow } }
  - { name: a write after a read, step: { name: write }, history: [{ step: { name: read }, ago: 59m }], expect: { outcome: allow } }
  - { name: a write long after a read, step: { name: write }, history: [{ step: { name: read }, ago: 61m }], expect: { outcome: deny } }
  - { name: a write after a read that was only asked for, step: { name: write }, history: [{ step: { name: read }, stage: pre, ago: 1m }], expect: { outcome: deny } }
  - { name: nothing is left of other cases, step: { name: read }, expect: { outcome: allow } }
`),
  ).toEqual([]);
});

it('earlier steps that are denied do not run, and failed cases tell so', async () => {
  const found = await failures(`${LIMIT}
cases:
  - name: too many
    step: { name: read }
    history: [{ step: { name: read }, ago: 1s, repeat: 4 }]
    expect: { outcome: allow }
`);
  expect(found).toEqual([
    [
      'too many',
      'outcome: expected allow, but it is deny',
      expect.stringMatching(/^step 7 of the history, read, had deny: /),
    ],
  ]);
});

it('a limit that denies a step tells so also if another control would ask for an approval', async () => {
  expect(
    await failures(`${LIMIT}
  - kind: Approval
    name: ask-before-reading
    data:
      execution: server
      scope: { step_names: [read], stages: [pre] }
      condition: { selector: { path: name }, evaluator: { name: list, config: { values: [read] } } }
      action: { decision: deny, approval: { approvers: ['role:approver'] } }
cases:
  - name: the fourth step
    step: { name: read }
    history: [{ step: { name: read }, approval: approved, ago: 1s, repeat: 3 }]
    expect: { outcome: deny, controls: [three-a-minute, ask-before-reading], reason_contains: three-a-minute }
`),
  ).toEqual([]);
});

it('approvals are asked for, and decided by the case; changes are made', async () => {
  expect(
    await failures(`
kind: Suite
controls:
  - kind: Approval
    name: ask-finance
    data:
      execution: server
      scope: { step_names: [pay], stages: [pre] }
      condition: { selector: { path: '*' }, evaluator: { name: cel, config: { expression: input.amount > 100 } } }
      action: { decision: deny, approval: { approvers: ['role:approver'] } }
  - kind: Control
    name: hide-cards
    data:
      execution: server
      scope: { stages: [pre] }
      condition: { selector: { path: input.text }, evaluator: { name: regex, config: { pattern: '[0-9]{16}' } } }
      action: { decision: deny, modify: [{ path: input.text, replace: matches, with: '***' }] }
cases:
  - { name: small, step: { name: pay, input: { amount: 5 } }, expect: { outcome: allow } }
  - { name: waits, step: { name: pay, input: { amount: 500 } }, expect: { outcome: ask, controls: [ask-finance] } }
  - { name: approved, approval: approved, step: { name: pay, input: { amount: 500 } }, expect: { outcome: allow } }
  - { name: denied, approval: denied, step: { name: pay, input: { amount: 500 } }, expect: { outcome: deny, reason_contains: denied } }
  - { name: changed, step: { name: note, input: { text: card 4111111111111111 } }, expect: { outcome: modify, modified: { input: { text: 'card ***' } } } }
`),
  ).toEqual([]);
});

it('an agent has the controls of its links, its policies, policies of its labels and of every agent, and of targets', async () => {
  const control = (name: string) => `
  - kind: Control
    name: ${name}
    data:
      execution: server
      condition: { selector: { path: name }, evaluator: { name: list, config: { values: [note] } } }
      action: { decision: observe }`;
  expect(
    await failures(`
kind: Suite
controls:${['linked', 'by-policy', 'by-label', 'by-every', 'by-target', 'nowhere'].map(control).join('')}
  - { kind: Policy, name: p, controls: [by-policy] }
  - { kind: Policy, name: l, controls: [by-label], agent_labels: [team=pay] }
  - { kind: Policy, name: e, controls: [by-every], every_agent: true }
  - { kind: AgentLinks, name: billing-bot-01, controls: [linked], policies: [p] }
fixtures:
  targets: { prod: { type: environment, id: prod, controls: [by-target] } }
cases:
  - { name: a, agent: billing-bot-01, step: { name: note }, expect: { controls: [linked, by-policy, by-every] } }
  - { name: b, agent: { name: other-bot-01, metadata: { team: pay } }, step: { name: note }, expect: { controls: [by-label, by-every] } }
  - { name: c, agent: other-bot-01, target: prod, step: { name: note }, expect: { controls: [by-target, by-every] } }
  - { name: d, step: { name: note }, expect: { controls: { contains: [nowhere] } } }
`),
  ).toEqual([]);
});
