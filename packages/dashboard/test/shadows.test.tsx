// @vitest-environment happy-dom
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { ConfigurationService } from '@gen/enforcement/v1/configuration_service_pb.js';
import { Decision, Stage } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { EvaluationService, Outcome } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { SampleService, type SamplingRuleSchema } from '@gen/enforcement/v1/sample_service_pb.js';
import { type ShadowSchema, ShadowService, ShadowShareBy } from '@gen/enforcement/v1/shadow_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { AGENT, hasFleet } from './support/fleet-backend.js';
import { giveHeights } from './support/heights.js';
import { hasEvaluators } from './support/recorded-evaluators.js';
import { type Backend, noDialog, openDialog, renderPage, settled } from './support/render-page.js';

const CONTROL = 'watch-refunds';
const CONTROL_ID = 2;
const DAY_MS = 86_400_000;
const SHADOW: MessageInitShape<typeof ShadowSchema> = {
  controlId: CONTROL_ID,
  controlName: CONTROL,
  shadowVersion: 4,
  share: 1,
  shareBy: ShadowShareBy.AGENT,
  baseVersion: 1,
  bothMatched: 1n,
  onlyShadowMatched: 1n,
  differences: [
    {
      decisionId: 'decision-1',
      agentName: AGENT,
      stepType: 'tool',
      stepName: 'send',
      stage: Stage.PRE,
      shadowMatched: true,
    },
  ],
};

/** A service with a shadow of a control, or without one. */
function hasShadow(...given: readonly MessageInitShape<typeof ShadowSchema>[]): Backend {
  let shadows = given;
  return (router) => {
    hasFleet(router);
    router.rpc(ShadowService.method.listShadows, () => ({ shadows: [...shadows] }));
    router.rpc(ShadowService.method.getShadow, () => {
      const [shadow] = shadows;
      if (shadow === undefined) throw new ConnectError('there is no shadow', Code.NotFound);
      return { shadow };
    });
    router.rpc(ShadowService.method.promoteShadow, () => {
      shadows = [];
      return { version: 2 };
    });
    router.rpc(ShadowService.method.dropShadow, () => {
      shadows = [];
      return {};
    });
  };
}

/** A service that keeps sampling rules, and refuses a pattern that is none. */
const hasRules: Backend = (router) => {
  const rules: MessageInitShape<typeof SamplingRuleSchema>[] = [];
  hasFleet(router);
  router.rpc(SampleService.method.listSamplingRules, () => ({ rules: [...rules] }));
  router.rpc(SampleService.method.createSamplingRule, ({ $typeName: _, $unknown: __, ...asked }) => {
    const wrong = asked.maskedPatterns.indexOf('(');
    if (wrong >= 0) throw new ConnectError(`masked_patterns[${wrong}]: no pattern`, Code.InvalidArgument);
    const rule = { ...asked, ruleId: rules.length + 1, createdBy: 'admin' } as (typeof rules)[number];
    rules.push(rule);
    return { rule };
  });
  router.rpc(SampleService.method.deleteSamplingRule, ({ ruleId }) => {
    rules.splice(
      rules.findIndex((rule) => rule.ruleId === ruleId),
      1,
    );
    return {};
  });
};

describe('shadows in the dashboard', () => {
  it('are said not to be there, and how a control gets one', async () => {
    renderPage('/shadows', hasShadow());
    await screen.findByText('No control has a shadow');
  });

  it('are said not to be there on the page of a control', async () => {
    renderPage(`/controls/${CONTROL_ID}?tab=shadow`, hasShadow());
    await screen.findByText('This control has no shadow');
    await settled();
    expect(screen.getByRole('link', { name: 'Change the control in the editor' }).getAttribute('href')).toBe(
      `/ui/controls/${CONTROL_ID}/edit`,
    );
    expect(await structureViolations()).toEqual([]);
  });

  it('are listed, compared and promoted', async () => {
    const { user, sent } = renderPage('/shadows', hasShadow(SHADOW));
    const link = await screen.findByRole('link', { name: CONTROL });
    expect(await structureViolations()).toEqual([]);
    await user.click(link);
    const card = within(await screen.findByRole('region', { name: `Shadow of ${CONTROL}` }));
    expect(card.getByRole('link', { name: 'tool send' }).getAttribute('href')).toBe(
      '/ui/events?decision_id=decision-1',
    );
    card.getByRole('cell', { name: 'the shadow' });
    expect(await structureViolations()).toEqual([]);
    await user.click(card.getByRole('button', { name: `Promote the shadow of ${CONTROL}` }));
    const dialog = within(await openDialog());
    dialog.getByText(/it matched 1 that the control did not match/);
    expect(sent(ShadowService.method.promoteShadow)).toEqual([]);
    await user.click(dialog.getByRole('button', { name: /Promote/ }));
    await screen.findByText('This control has no shadow');
    expect(sent(ShadowService.method.promoteShadow)).toMatchObject([
      { controlId: CONTROL_ID, shadowVersion: 4 },
    ]);
  });

  it('are dropped', async () => {
    const { user, sent } = renderPage(`/controls/${CONTROL_ID}?tab=shadow`, hasShadow(SHADOW));
    await user.click(await screen.findByRole('button', { name: `Drop the shadow of ${CONTROL}` }));
    await user.click(within(await openDialog()).getByRole('button', { name: /^Drop/ }));
    await screen.findByText('This control has no shadow');
    expect(sent(ShadowService.method.dropShadow)).toMatchObject([{ controlId: CONTROL_ID }]);
  });
});

describe('samples in the dashboard', () => {
  it('are kept by rules of an agent, whose problems are told', async () => {
    const { user, sent } = renderPage(`/samples?agent=${AGENT}`, hasRules);
    (await screen.findByRole('button', { name: 'New rule' })).focus();
    await user.keyboard('{Enter}');
    const dialog = within(await openDialog());
    dialog.getByRole('heading', { name: 'Keep steps?' });
    const written = (label: string) => dialog.getByLabelText<HTMLInputElement>(label).value;
    expect([written('Keep the steps of'), written('Agent')]).toEqual(['agent', AGENT]);
    await user.type(dialog.getByLabelText(/^Selectors/), 'input.password\n context.token\n');
    const patterns = dialog.getByLabelText(/^RE2 patterns/);
    await user.click(patterns);
    await user.paste('ACC-[0-9]{6}\n(');
    await user.selectOptions(dialog.getByLabelText('Kept for'), '3 days');
    await user.selectOptions(dialog.getByLabelText('Largest step'), '64 KiB');
    dialog.getByText(/The service has no key for samples/);
    expect(await structureViolations()).toEqual([]);
    const share = dialog.getByLabelText(/^Share/);
    await user.clear(share);
    await user.type(share, '100');
    await user.click(dialog.getByRole('button', { name: 'Keep' }));
    expect((await dialog.findByRole('alert')).textContent).toContain('masked_patterns[1]');
    await user.clear(patterns);
    await user.click(patterns);
    await user.paste('ACC-[0-9]{6}');
    await user.click(dialog.getByRole('button', { name: 'Keep' }));
    await noDialog();
    await screen.findByRole('cell', { name: `of ${AGENT}` });
    expect(sent(SampleService.method.createSamplingRule).at(-1)).toMatchObject({
      agentName: AGENT,
      share: 1,
      retentionHours: 72,
      maxBytes: 65_536,
      maskedPaths: ['input.password', 'context.token'],
      maskedPatterns: ['ACC-[0-9]{6}'],
    });
    expect(await structureViolations()).toEqual([]);
  });

  it('are kept by a rule of a control that ends, until it is deleted', async () => {
    const { user, sent } = renderPage(`/samples?agent=${AGENT}`, hasRules);
    await user.click(await screen.findByRole('button', { name: 'New rule' }));
    const dialog = within(await openDialog());
    await user.selectOptions(dialog.getByLabelText('Keep the steps of'), 'control');
    await user.clear(dialog.getByLabelText('Agent (empty: all agents)'));
    expect(dialog.getByRole('button', { name: 'Keep' })).toHaveProperty('disabled', true);
    await user.type(dialog.getByLabelText('Find a control'), 'watch-ref');
    await dialog.findByRole('option', { name: CONTROL });
    await user.selectOptions(dialog.getByLabelText('Control'), CONTROL);
    await user.selectOptions(dialog.getByLabelText('The rule ends'), 'in 7 days');
    expect(await structureViolations()).toEqual([]);
    await user.click(dialog.getByRole('button', { name: 'Keep' }));
    await screen.findByRole('link', { name: `control ${CONTROL_ID}` });
    const [asked] = sent(SampleService.method.createSamplingRule);
    expect(asked).toMatchObject({ controlId: CONTROL_ID, share: 0.01 });
    expect(asked?.agentName).toBeUndefined();
    const endsAt = asked?.endsAt === undefined ? 0 : timestampDate(asked.endsAt).getTime();
    expect(Math.round((endsAt - Date.now()) / DAY_MS)).toBe(7);

    await user.click(screen.getByRole('button', { name: 'Delete sampling rule 1' }));
    await user.click(within(await openDialog()).getByRole('button', { name: 'Delete sampling rule 1' }));
    await screen.findByText('No step is kept');
    expect(sent(SampleService.method.deleteSamplingRule)).toMatchObject([
      { ruleId: 1, deleteSamples: false },
    ]);
    await waitFor(() => expect(screen.queryByRole('link', { name: `control ${CONTROL_ID}` })).toBeNull());
  });
});

/** A service that replays a change on samples: it would deny some of them, or cannot be asked. */
function replays(
  answer: { readonly samples: bigint; readonly newlyDenied?: bigint } | 'broken',
  ...shadows: readonly MessageInitShape<typeof ShadowSchema>[]
): Backend {
  return (router) => {
    const { rpc } = router;
    rpc(ConfigurationService.method.lintConfiguration, () => ({}));
    rpc(EvaluationService.method.explain, () => ({ controls: [{ controlName: 'data', applies: true }] }));
    rpc(ObservabilityService.method.getStatsOverview, () => ({ totals: { matchTotal: 4n } }));
    rpc(ControlService.method.setControlData, () => ({ version: 2n }));
    rpc(ShadowService.method.setShadow, () => ({}));
    rpc(SampleService.method.replaySamples, async function* () {
      if (answer === 'broken') throw new ConnectError('the samples are gone', Code.Unavailable);
      yield { news: { case: 'summary' as const, value: answer } };
    });
    hasShadow(...shadows)(router);
    hasRules(router);
    hasEvaluators(router);
  };
}

describe('a change in the editor', () => {
  const EDITOR = `/controls/${CONTROL_ID}/edit`;
  const figure = () => screen.findByRole('status', { name: 'On recorded samples' });
  const says = (text: string) => waitFor(async () => expect((await figure()).textContent).toBe(text));
  const choose = async ({ user }: Pick<ReturnType<typeof renderPage>, 'user'>, decision: RegExp) =>
    user.click(await screen.findByRole('radio', { name: decision }));
  const save = () => screen.findByRole('button', { name: 'Save' });

  it('is told not to be tried on samples where none are kept, and how they are', async () => {
    const { user, address } = renderPage(EDITOR, replays({ samples: 0n }));
    await user.type(await screen.findByLabelText('Description'), 'Watches refunds');
    await says('No samples of the last 7 days. Switch them on');
    await user.click(screen.getByRole('link', { name: 'Switch them on' }));
    await user.click(within(await openDialog()).getByRole('button', { name: /^Discard/ }));
    await screen.findByText('No step is kept');
    expect(address()).toBe('/samples');
  });

  it('is told what it denies of the samples, also by the question before it denies', async () => {
    giveHeights();
    const page = renderPage(EDITOR, replays({ samples: 3n, newlyDenied: 2n }));
    const { user, sent } = page;
    await choose(page, /^deny/);
    await says('On the last 7 days: +2 denied, −0');
    await user.click(await save());
    const dialog = within(await openDialog());
    dialog.getByText('1 agent');
    dialog.getByText('+2 denied');
    expect(await structureViolations()).toEqual([]);
    await user.click(dialog.getByRole('button', { name: 'Keep editing' }));
    await noDialog();
    expect(sent(ControlService.method.setControlData)).toEqual([]);
  });

  it('is saved also if samples cannot be replayed, which is said', async () => {
    const page = renderPage(EDITOR, replays('broken'));
    const { user, address, sent } = page;
    await choose(page, /^deny/);
    await waitFor(async () => expect((await figure()).textContent).toMatch(/^Samples cannot be replayed: /));
    await user.click(await save());
    const dialog = within(await openDialog());
    dialog.getByText(/^Samples cannot be replayed/);
    await user.click(dialog.getByRole('button', { name: 'Save and deny' }));
    await waitFor(() => expect(address()).toBe(`/controls/${CONTROL_ID}`));
    expect(sent(ControlService.method.setControlData)).toMatchObject([
      { controlId: CONTROL_ID, data: { action: { decision: Decision.DENY } } },
    ]);
  });

  it('is set as the shadow of its control instead', async () => {
    const compared = { ...SHADOW, bothMatched: 0n, onlyShadowMatched: 0n, differences: [] };
    giveHeights();
    const page = renderPage(EDITOR, replays({ samples: 0n }, compared));
    const { user, address, sent } = page;
    const set = await screen.findByRole('button', { name: 'Set as shadow…' });
    expect(set).toHaveProperty('disabled', true);
    await choose(page, /^deny/);
    await user.click(set);
    const dialog = within(await openDialog());
    await user.selectOptions(dialog.getByLabelText('For'), '10%');
    expect(await structureViolations()).toEqual([]);
    await user.click(dialog.getByRole('button', { name: 'Set as shadow' }));
    await screen.findByText('No step was compared yet.');
    expect(address()).toBe(`/controls/${CONTROL_ID}?tab=shadow`);
    expect(sent(ShadowService.method.setShadow)).toMatchObject([
      {
        controlId: CONTROL_ID,
        share: 0.1,
        shareBy: ShadowShareBy.AGENT,
        data: { action: { decision: Decision.DENY } },
      },
    ]);
    expect(sent(ControlService.method.setControlData)).toEqual([]);
  });
});

describe('a recorded step', () => {
  const STEP =
    '{"type":"tool","name":"send","input":{"text":"card ***","number":1.50},"output":null,"context":null}';

  /** The trace of a denied step, of which a sample was kept or not. */
  function recorded(isKept: boolean): Backend {
    return (router) => {
      const { rpc } = router;
      const event = {
        ...{ traceId: 'trace-1', spanId: 'span', agentName: AGENT, decisionId: 'decision-1' },
        ...{ controlExecutionId: 'check-1', controlId: 1, controlName: 'no-card-numbers' },
        ...{
          action: Decision.DENY,
          matched: true,
          checkStage: Stage.PRE,
          stepType: 'tool',
          stepName: 'send',
        },
      };
      rpc(ObservabilityService.method.queryEvents, () => ({ events: [event], eventTotal: 1n }));
      rpc(SampleService.method.getSample, ({ decisionId }) => {
        if (!isKept) throw new ConnectError('there is no sample', Code.NotFound);
        const step = { stepType: 'tool', stepName: 'send', stage: Stage.PRE };
        return { sample: { decisionId, ...step, outcome: Outcome.DENY, maskedValues: 1 }, stepJson: STEP };
      });
      hasRules(router);
    };
  }
  const press = async ({ user }: Pick<ReturnType<typeof renderPage>, 'user'>, name: string) =>
    user.click(await screen.findByRole('button', { name }));

  it('becomes a test case, right or a false positive', async () => {
    const page = renderPage('/traces?id=trace-1', recorded(true));
    await press(page, 'Make it a test case');
    const dialog = within(await openDialog());
    const written = () => dialog.getByLabelText<HTMLTextAreaElement>('Test case').value;
    // All digits of its numbers are kept, and a case leaves out members that are not there.
    const step = STEP.replace(',"output":null,"context":null', '');
    const suite = (name: string, expected: string) =>
      `kind: Suite\nagent: "${AGENT}"\ncases:\n  - name: "${name}tool send, decision decision-1"\n` +
      `    stage: pre\n    step: ${step}\n    expect:\n${expected}`;
    expect(written()).toBe(
      suite('', '      outcome: deny\n      controls: { contains: ["no-card-numbers"] }\n'),
    );
    dialog.getByText('1 value of the step is masked, so that it may get another verdict than the original.');
    expect(await structureViolations()).toEqual([]);
    await page.user.selectOptions(dialog.getByLabelText('The match is'), 'allow');
    expect(written()).toBe(suite('false positive: ', '      outcome: allow\n      controls: []\n'));
    await press(page, 'Close');
    await noDialog();
    expect(page.sent(SampleService.method.getSample)).toMatchObject([{ decisionId: 'decision-1' }]);
  });

  it('is tried in the playground', async () => {
    const page = renderPage('/traces?id=trace-1', recorded(true));
    await press(page, 'Try this step');
    const step = await screen.findByLabelText<HTMLTextAreaElement>('Step, as JSON');
    expect(page.address()).toMatch(/^\/playground/);
    expect(JSON.parse(step.value)).toMatchObject({ name: 'send', input: { number: 1.5 } });
  });

  it('is said to have no sample, and how later ones have', async () => {
    const page = renderPage('/traces?id=trace-1', recorded(false));
    await press(page, 'Try this step');
    await screen.findByText(/^No sample of this step was kept/);
    await page.user.click(screen.getByRole('link', { name: 'Keep samples' }));
    await screen.findByText('No step is kept');
    expect(page.address()).toBe(`/samples?agent=${AGENT}`);
  });
});
