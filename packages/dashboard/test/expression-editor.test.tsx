// @vitest-environment happy-dom
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { ConfigurationService } from '@gen/enforcement/v1/configuration_service_pb.js';
import { Decision, Execution, type WarningSchema } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import {
  type ConditionExplanationSchema,
  EvaluationService,
} from '@gen/enforcement/v1/evaluation_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { fill, writeCode } from './support/fields.js';
import { hasFleet } from './support/fleet-backend.js';
import { hasEvaluators } from './support/recorded-evaluators.js';
import { type Backend, renderPage } from './support/render-page.js';

const CONTROL_ID = 7;
/** The editor with the only check of the control selected. */
const EDITOR = `/controls/${CONTROL_ID}/edit?node=`;

interface Step {
  readonly input: { readonly amount: number; readonly to: string };
}
type Explained = MessageInitShape<typeof ConditionExplanationSchema>;

interface Given {
  readonly expression?: string;
  readonly explain?: (step: Step) => Explained;
  readonly warnings?: MessageInitShape<typeof WarningSchema>[];
  /** Whether the server inspects expressions. */
  readonly inspects?: () => boolean;
}

/** A service with a control, which inspects its expression, and explains it in a scripted way. */
function hasExpression({ expression = '', explain, warnings = [], inspects = () => true }: Given): Backend {
  return (router) => {
    const { rpc } = router;
    const { method } = ControlService;
    const condition = { selector: { path: '*' }, evaluator: { name: 'cel', config: { expression } } };
    const data = { execution: Execution.SERVER, condition, action: { decision: Decision.OBSERVE } };
    rpc(method.getControl, () => ({
      id: CONTROL_ID,
      name: 'transfers',
      version: 1n,
      data,
      action: data.action,
    }));
    rpc(method.validateControl, () => ({ warnings }));
    rpc(ConfigurationService.method.lintConfiguration, () => ({}));
    rpc(method.inspectExpression, ({ expression: text = '' }) => {
      if (!inspects()) throw new ConnectError('not offered', Code.Unimplemented);
      const start = text.indexOf('amoumt');
      if (start < 0) return { resultType: 'bool', reads: ['input.amount'], schemasKnown: true };
      const message = 'no step has input.amoumt';
      const problem = {
        code: 'unknown_member',
        start,
        end: start + 6,
        message,
        suggestion: 'amount',
        error: true,
      };
      return { problems: [problem] };
    });
    rpc(EvaluationService.method.explain, ({ stepJson }) => {
      const step = JSON.parse(new TextDecoder().decode(stepJson)) as Step;
      return {
        controls: [{ controlName: 'data', applies: true, condition: explain?.(step) ?? { type: 'leaf' } }],
      };
    });
    hasEvaluators(router);
    hasFleet(router);
  };
}

const field = () => screen.findByRole('textbox', { name: /^expression/ });
/** The field, once the program of the editor is loaded. */
const editor = () =>
  waitFor(async () => {
    const found = await field();
    expect(found.className).toContain('cm-content');
    return found;
  });
const written = () => [...document.querySelectorAll('.cm-line')].map(({ textContent }) => textContent);
const marks = () => document.querySelectorAll('.cm-lintRange-error');
/** The text of one element has all of this. */
const says = (text: string, selector = '*') =>
  waitFor(() => {
    const found = [...document.querySelectorAll(selector)].some((one) => one.textContent?.includes(text));
    if (!found) throw new Error(`${text} is not said in: ${document.body.textContent}`);
  });

describe('an expression in the editor of controls', () => {
  it('is marked where it is wrong, and a suggestion takes the place of the mistake', async () => {
    const { user } = renderPage(EDITOR, hasExpression({ expression: 'input.amount > 1000' }));
    const text = await editor();
    await says('The result is bool. It reads input.amount.', '.expression-facts');
    await says('All registered steps in scope have schemas', '.expression-facts');
    expect(text.getAttribute('aria-invalid')).toBe('false');

    writeCode(text, 'input.amoumt > 1000');
    await screen.findByText(/^Error at characters 7 to 12/);
    await waitFor(() => expect(marks()).toHaveLength(1));
    expect(text.getAttribute('aria-invalid')).toBe('true');
    // Screen readers hear of the problem with the field.
    const described = text.getAttribute('aria-describedby')?.split(' ') ?? [];
    const texts = described.map((id) => document.getElementById(id)?.textContent);
    expect(texts.join(' ')).toContain('Error at characters 7 to 12: no step has input.amoumt');

    await user.click(screen.getByRole('button', { name: 'Write amount' }));
    await says('The result is bool', '.expression-facts');
    expect(written()).toEqual(['input.amount > 1000']);
    await waitFor(() => expect(marks()).toHaveLength(0));
  });

  it('tells what each of its parts was for the tried step', async () => {
    const expression = "input.amount > 1000 && !input.to.endsWith('@corp.example')";
    const explain = ({ input: { amount, to } }: Step): Explained => {
      const part = (text: string, type: string, value: string | undefined) => {
        const start = expression.indexOf(text);
        const known = value === undefined ? {} : { value: { type, text: value } };
        return { start, end: start + text.length, text, evaluated: value !== undefined, ...known };
      };
      const expressionValues = [
        part(expression, 'boolean', String(amount > 1000)),
        part('input.amount', 'number', String(amount)),
        part('input.to', 'string', amount > 1000 ? to : undefined),
      ];
      return {
        type: 'leaf',
        evaluated: true,
        matched: amount > 1000,
        evaluatorName: 'cel',
        expressionValues,
      };
    };
    const { user } = renderPage(EDITOR, hasExpression({ expression, explain }));
    const tried = within(await screen.findByRole('region', { name: 'Try it' }));
    const step = tried.getByLabelText('Step, as JSON');
    const tryInput = (input: Step['input']) =>
      fill(user, step, JSON.stringify({ type: 'tool', name: 'transfer', input }));
    const valueIn = async (text: string) =>
      (await tried.findByText(text, { selector: 'code' })).parentElement?.querySelector('strong')
        ?.textContent;
    await tryInput({ amount: 2500, to: 'ann@rival.example' });
    await waitFor(async () => expect(await valueIn('input.amount')).toBe('2500'));
    expect(await valueIn('input.to')).toBe('"ann@rival.example"');
    await tryInput({ amount: 1, to: 'a' });
    await tried.findByText('was not evaluated');
    expect(await valueIn('input.amount')).toBe('1');
  });

  it('is a plain text area where the server does not inspect expressions', async () => {
    let inspects = false;
    const given = hasExpression({ expression: 'input.amount > 1', inspects: () => inspects });
    const { user } = renderPage(EDITOR, given);
    await screen.findByText(/^The server does not check the expression as you type/);
    const area = (await field()) as HTMLTextAreaElement;
    await fill(user, area, 'input.amount > 2');
    expect([area.tagName, area.value]).toEqual(['TEXTAREA', 'input.amount > 2']);
    inspects = true;
    await user.click(await screen.findByRole('button', { name: 'Try again' }));
    await editor();
    await says('The result is bool', '.expression-facts');
    expect(written()).toEqual(['input.amount > 2']);
  });

  it('is told to be hidden by a deny, on the page of its control too', async () => {
    const message = 'every step that this control matches is denied by the control "deny-rivals" (2)';
    const warnings = [{ field: 'data.condition', code: 'hidden_by_deny', message }];
    const { user, sent } = renderPage(`/controls/${CONTROL_ID}`, hasExpression({ warnings }));
    const told = within(await screen.findByRole('region', { name: 'Warnings' }));
    told.getByText('Hidden by another control.');
    told.getByText(/"deny-rivals"/);
    expect(sent(ControlService.method.validateControl)).toMatchObject([{ controlId: CONTROL_ID }]);
    await user.click(screen.getByRole('link', { name: 'Edit' }));
    await within(await screen.findByRole('region', { name: 'Problems' })).findByText(/"deny-rivals"/);
  });
});

describe('a detector in its playground', () => {
  it('has what it found marked in the step, and nothing that was not sent', async () => {
    const finding = { kind: 'email', path: '/list/1', start: 5, end: 21, score: 1 };
    const explain = (): Explained => ({
      type: 'leaf',
      evaluated: true,
      matched: true,
      evaluatorName: 'pii',
      selectorPath: 'input',
      findings: [finding],
    });
    const { user } = renderPage('/evaluators/pii', hasExpression({ explain }));
    await screen.findByText('The step matches');
    screen.getByText('built in');
    const result = within(screen.getByRole('region', { name: 'Result' }));
    result.getByText('input /list/1');
    expect(document.querySelector('mark, .notice')).toBeNull();
    const input = { list: ['x', 'mail ann@corp.example now'] };
    await fill(
      user,
      screen.getByLabelText('Step, as JSON'),
      JSON.stringify({ type: 'tool', name: 'a', input }),
    );
    expect((await result.findByText('ann@corp.example')).tagName).toBe('MARK');
    expect(await structureViolations()).toEqual([]);
  });
});
