import { fromJson } from '@bufbuild/protobuf';
import { ApprovalRuleSchema, StepChangeSchema } from '@gen/enforcement/v1/control_pb.js';
import fc from 'fast-check';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { approverText, quorumText } from '../src/approvals/approval-text.js';
import { StepText } from '../src/approvals/step-text.js';
import { indentedJson } from '../src/code/json-tokens.js';
import { definitionJson } from '../src/control-parts/definition-json.js';
import { approvalWords, changeWords } from '../src/control-parts/lift-words.js';
import { draftMessage } from '../src/editor/draft-message.js';
import { visibleText } from '../src/ui/visible-text.js';

const sentence = (words: readonly { readonly text: string }[]) => words.map(({ text }) => text).join(' ');

describe('a text that people decide about', () => {
  it('shows every character that is hidden or moves others', () => {
    expect(visibleText('pay\u202Eeslaf\u202C')).toBe('pay⟨U+202E⟩eslaf⟨U+202C⟩');
    expect(visibleText('a\u200Bb\u00ADc\uFEFFd\u2066e\u{E0041}f\u3164g')).toBe(
      'a⟨U+200B⟩b⟨U+00AD⟩c⟨U+FEFF⟩d⟨U+2066⟩e⟨U+E0041⟩f⟨U+3164⟩g',
    );
    expect(visibleText('x\u0000\u001B[2J\u0085\u2028\uD800')).toBe(
      'x⟨U+0000⟩⟨U+001B⟩[2J⟨U+0085⟩⟨U+2028⟩⟨U+D800⟩',
    );
    expect(visibleText(`line\n\tline ${'\u202E'.repeat(900)}`)).toBe('line\n\tline ⟨U+202E ×900⟩');
    expect(visibleText('שלום <b>é</b> 😀')).toBe('שלום <b>é</b> 😀');
  });

  it('is indented without a change of its values', () => {
    expect(indentedJson('{"a":1,"b":{},"c":[],"d":[1,{"x":"y,{\\""}],"n":1.10e400}')).toBe(
      '{\n  "a": 1,\n  "b": {},\n  "c": [],\n  "d": [\n    1,\n    {\n      "x": "y,{\\""\n    }\n  ],\n  "n": 1.10e400\n}',
    );
    expect(indentedJson('{"cut": "of')).toBe('{"cut": "of');
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indentedJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it('is text, whatever is in it, and at first not more than one can read', () => {
    const step = JSON.stringify({
      input: { text: '<img src=x onerror=alert(1)>', to: 'שלום\u202E', long: 'x'.repeat(9_000) },
    });
    const html = renderToStaticMarkup(<StepText json={step} isShortened />);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(html).not.toContain('<img');
    expect(html).toContain('<bdi>&quot;שלום⟨U+202E⟩&quot;</bdi>');
    expect(html).toContain('longer than what the service shows');
    expect(html).toContain('Show all');
    expect(html.length).toBeLessThan(6_000);
  });
});

describe('a control that asks or changes', () => {
  const APPROVAL = {
    approvers: ['role:approver', 'name:alice'],
    quorum: 2,
    expires_seconds: 5_400,
    bind: ['input.amount', 'input.to'],
    reuse: { seconds: 600 },
    question: 'Pay {input.amount}?',
  };

  it('is told in words', () => {
    expect(approvalWords(fromJson(ApprovalRuleSchema, APPROVAL)).map(sentence)).toEqual([
      'It is asked: Pay {input.amount}?',
      '2 different people of these must approve: role:approver or name:alice',
      'One of them must be neither the caller that asks nor the author of the control.',
      'An approval is for steps with the same input.amount and input.to',
      'It may be used any number of times within 10 minutes of the approval, and expires after 90 minutes.',
    ]);
    const least = fromJson(ApprovalRuleSchema, {
      approvers: ['name:bob'],
      separate: false,
      bind: 'step',
      reuse: 'session',
    });
    expect(approvalWords(least).map(sentence)).toEqual([
      'It is asked: whether the step may run',
      'One of these must approve: name:bob',
      'An approval is for exactly this step.',
      'It may be used any number of times in its session, and expires after 1 hour.',
    ]);
    const changes = [
      { path: 'input.text', replace: 'matches', with: '[redacted]' },
      { path: 'input.card', replace: 'value', with: '' },
      { path: 'input.headers.authorization', remove: true },
    ];
    expect(changes.map((change) => sentence(changeWords(fromJson(StepChangeSchema, change))))).toEqual([
      'Replaces what the checks find in input.text with [redacted]',
      'Replaces input.card with ',
      'Removes input.headers.authorization',
    ]);
    expect([approverText('role:approver'), approverText('name:a:b')]).toEqual([
      'everyone with the role approver',
      'a:b',
    ]);
    expect(quorumText({ approved: 1, quorum: 2 })).toBe('1 of 2 people have approved');
  });

  it('goes through the editor unchanged', () => {
    for (const action of [
      { decision: 'deny', approval: APPROVAL },
      {
        decision: 'deny',
        approval: { approvers: ['name:bob'], bind: 'step', reuse: 'once', separate: false },
      },
      {
        decision: 'deny',
        modify: [
          { path: 'input.text', replace: 'matches', with: 'x' },
          { path: 'input.a', remove: true },
        ],
      },
    ]) {
      const { message, problems } = draftMessage({ execution: 'server', action });
      expect(problems).toEqual([]);
      expect(JSON.parse(definitionJson(message)).action).toEqual(action);
    }
    const { problems } = draftMessage({
      execution: 'server',
      action: { decision: 'deny', approval: { approvers: ['name:b'], quorum: 1.5, other: 1 } },
    });
    expect(problems.map(({ field }) => field)).toEqual([
      'data.action.approval.quorum',
      'data.action.approval.other',
    ]);
  });
});
