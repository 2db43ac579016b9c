import { describe, expect, it } from 'vitest';
import { CONTROLS, runText } from './suite.support.js';

const outcomes = async (text: string) => {
  const { results } = await runText(text);
  return results.map(({ of, status, reasons }) => [of.name, status, ...reasons]);
};

describe('cases', () => {
  it('pass where the verdict is as expected', async () => {
    const found = await outcomes(`${CONTROLS}
fixtures:
  steps:
    note: { name: note, input: { text: hello, kind: memo } }
cases:
  - name: a card is denied
    step: { from: note, input: { text: card 4111111111111111 } }
    expect: { outcome: deny, decision: deny, controls: [no-cards], reason_contains: ['"no-cards"', matched] }
  - name: the vault may have it
    step: { from: note, name: vault, input: { text: card 4111111111111111 } }
    expect: { outcome: allow, decision: none, controls: [] }
  - name: a harsh word is steered
    step: { from: note, input: { text: damn } }
    expect: { outcome: steer, controls: { contains: [be-polite] }, steering: Be polite. }
  - name: a caller that knows no steer is denied
    step: { from: note, input: { text: damn } }
    accepts: [allow, deny]
    expect: { outcome: deny, decision: steer, steering: { contains: polite } }
  - name: long texts of <length>
    step: note
    skip: not written yet
    expect: { outcome: deny }
  - name: by a table
    step: { from: note, name: <row.name>, input: { text: <row.text>, kind: <kind> } }
    matrix:
      row: [{ name: vault, text: '4111111111111111', outcome: allow }, { name: note, text: '4111111111111111', outcome: deny }]
      kind: [memo, 7]
    expect: { outcome: <row.outcome> }
`);
    expect(found.map(([name, ...rest]) => `${rest.join(': ')} ${name}`)).toEqual([
      'passed a card is denied',
      'passed the vault may have it',
      'passed a harsh word is steered',
      'passed a caller that knows no steer is denied',
      'skipped: not written yet long texts of <length>',
      expect.stringContaining('passed by a table [row={"name":"vault","text":"41111111111'),
      expect.stringContaining(', kind=7]'),
      expect.stringContaining('passed by a table [row={"name":"note"'),
      expect.stringContaining('passed by a table'),
    ]);
  });

  it('fail with everything that is not as expected', async () => {
    const found = await outcomes(`${CONTROLS}
cases:
  - name: a
    step: { name: note, input: { text: damn 4111111111111111 } }
    expect:
      outcome: steer
      decision: observe
      controls: [long-texts]
      steering: Be kind.
      reason_contains: long
      modified: { input: { text: x } }
  - name: b
    step: { name: note, input: { text: x } }
    expect: { controls: { contains: [no-cards, be-polite] }, reason_contains: a, steering: { contains: b } }
`);
    expect(found).toEqual([
      [
        'a',
        'failed',
        'outcome: expected steer, but it is deny',
        'decision: expected observe, but it is deny',
        'controls: expected long-texts, but it is be-polite, no-cards',
        'steering: expected "Be kind.", but it is "Be polite."',
        expect.stringMatching(/^reason: expected a text with "long", but it is "deny control /),
        'modified.input: expected {"text":"x"}, but it is not modified',
      ],
      [
        'b',
        'failed',
        'controls: expected no-cards, be-polite among them, but it is none',
        'steering: expected a text with "b", but it is none',
        'reason: expected a text with "a", but it is none',
      ],
    ]);
  });

  it('fail where a control cannot be evaluated, unless that is expected', async () => {
    const found = await outcomes(`
kind: Suite
controls:
  - kind: Control
    name: amount
    data:
      execution: server
      condition: { selector: { path: '*' }, evaluator: { name: cel, config: { expression: 'input.amount > 5' } } }
      action: { decision: observe }
cases:
  - { name: a, step: { name: pay }, expect: { outcome: allow } }
  - { name: b, step: { name: pay }, expect: { outcome: allow, errors: [amount] } }
  - { name: c, step: { name: pay, input: { amount: 6 } }, expect: { outcome: allow, controls: [amount] } }
`);
    expect(found).toEqual([
      ['a', 'failed', expect.stringMatching(/^errors: expected none, but it is amount \(.*amount/)],
      ['b', 'passed'],
      ['c', 'passed'],
    ]);
  });
});
