// @vitest-environment happy-dom
import { fromJson, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { Decision, Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { StepSchema } from '@gen/enforcement/v1/evaluation_service_pb.js';
import {
  PackChange,
  type PackControlSchema,
  type PackInstallationSchema,
  PackService,
  type PackSummarySchema,
} from '@gen/enforcement/v1/pack_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { structureViolations } from './support/accessibility.js';
import { type Backend, noDialog, openDialog, renderPage } from './support/render-page.js';

const PACK = 'mail-guard';
const SUMMARY = {
  name: PACK,
  version: '1.1.0',
  title: 'Mail guard',
  description: 'Looks at what mails would give away.',
  controlCount: 3,
  caseCount: 6,
  tags: ['mail'],
  evaluators: ['regex'],
} satisfies MessageInitShape<typeof PackSummarySchema>;
const OTHER = {
  name: 'secrets',
  version: '2.0.0',
  title: 'Secrets',
  controlCount: 1,
  caseCount: 1,
  builtIn: true,
} satisfies MessageInitShape<typeof PackSummarySchema>;

const definition = (pattern: string, decision = Decision.OBSERVE) => ({
  execution: Execution.SERVER,
  scope: { stepTypes: ['tool'], stages: [Stage.PRE] },
  condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision },
});
const caseOf = (text: string, matches: boolean, name = '') => ({
  name,
  matches,
  stage: Stage.PRE,
  step: fromJson(StepSchema, { type: 'tool', name: 'send_mail', input: { text } }),
});
const control = (key: string, title: string, pattern: string, text: string) =>
  ({
    key,
    title,
    reason: `Finds ${title.toLowerCase()}; other spellings are not found.`,
    references: ['OWASP LLM02:2025 Sensitive Information Disclosure'],
    data: definition(pattern),
    matchingCases: 1,
    otherCases: 1,
    examples: [caseOf(text, true), caseOf('hello', false, 'a harmless mail')],
  }) satisfies MessageInitShape<typeof PackControlSchema>;
const CONTROLS = [
  control('cards', 'Card numbers', '\\b\\d{15,16}\\b', 'card 4111111111111111'),
  control('words', 'Words', 'secret|confidential', 'a secret word'),
  control('fresh', 'A fresh rule', 'fresh', 'fresh fish'),
];
const installed = (key: string, controlId: number, changed = false, prefix = 'mail-guard-') => ({
  key,
  controlId,
  controlName: `${prefix}${key}`,
  changed,
});
/** An installation of the version before, with two controls that were changed. */
const OUTDATED = {
  installationId: 1,
  packName: PACK,
  version: '1.0.0',
  currentVersion: '1.1.0',
  updateAvailable: true,
  policyId: 5,
  policyName: 'guarded',
  controls: [installed('cards', 11, true), installed('words', 12, true), installed('old', 13)],
} satisfies MessageInitShape<typeof PackInstallationSchema>;

type Installation = MessageInitShape<typeof PackInstallationSchema>;

/** A service with two packs, of which one is installed in an older version. */
function hasPacks(): Backend {
  let installations: readonly Installation[] = [OUTDATED];
  const found = (installationId: number) =>
    installations.find((one) => one.installationId === installationId) ?? {};
  return ({ rpc }) => {
    rpc(PackService.method.listPacks, () => ({ packs: [SUMMARY, OTHER], installations: [...installations] }));
    rpc(PackService.method.listPackInstallations, ({ packName = PACK }) => ({
      installations: installations.filter((one) => one.packName === packName),
    }));
    rpc(PackService.method.getPack, ({ packName }) => {
      if (packName !== PACK) throw new ConnectError('there is no such pack', Code.NotFound);
      return { pack: SUMMARY, controls: CONTROLS, installations: [...installations] };
    });
    rpc(PackService.method.comparePackInstallation, ({ installationId }) => ({
      installation: found(installationId),
      controls: [
        {
          key: 'cards',
          change: PackChange.UPDATE,
          controlId: 11,
          controlName: 'mail-guard-cards',
          changedHere: ['action'],
          changedInPack: ['condition'],
          current: definition('\\b\\d{16}\\b', Decision.DENY),
          inPack: definition('\\b\\d{15,16}\\b'),
          afterUpdate: definition('\\b\\d{15,16}\\b', Decision.DENY),
        },
        {
          key: 'words',
          change: PackChange.CONFLICT,
          controlId: 12,
          controlName: 'mail-guard-words',
          changedHere: ['condition'],
          changedInPack: ['condition'],
          current: definition('hush'),
          inPack: definition('secret|confidential'),
          afterUpdate: definition('hush'),
        },
        { key: 'old', change: PackChange.REMOVE, controlId: 13, controlName: 'mail-guard-old' },
        { key: 'fresh', change: PackChange.ADD, inPack: definition('fresh') },
      ],
    }));
    rpc(PackService.method.updatePackInstallation, ({ version }) => {
      const installation = { ...OUTDATED, version, updateAvailable: false };
      installations = [installation];
      return { installation, updated: ['cards', 'words', 'fresh'], kept: ['cards'] };
    });
    rpc(PackService.method.installPack, ({ namePrefix = '', policyName = '', keys }) => {
      if (namePrefix === 'mail-guard-') {
        throw new ConnectError('a control is called mail-guard-cards already', Code.AlreadyExists);
      }
      const installation = {
        installationId: 2,
        packName: PACK,
        version: '1.1.0',
        currentVersion: '1.1.0',
        policyId: 6,
        policyName,
        controls: CONTROLS.map(({ key }, index) =>
          keys.includes(key) ? installed(key, 21 + index, false, namePrefix) : { key },
        ),
      };
      installations = [...installations, installation];
      return { installation };
    });
    rpc(PackService.method.uninstallPack, ({ installationId }) => {
      installations = installations.filter((one) => one.installationId !== installationId);
      return { removed: true, deletedControls: [21, 23] };
    });
    rpc(PolicyService.method.getPolicy, ({ policyId }) => ({
      policy: { id: policyId, name: 'second', controlIds: [21, 23] },
    }));
    rpc(ControlService.method.getControl, ({ controlId }) => ({
      id: controlId,
      name: controlId === 21 ? 'second-cards' : 'second-fresh',
      data: definition('x'),
    }));
  };
}

/** The item of a list with a heading. */
async function card(title: string): Promise<HTMLElement> {
  const item = (await screen.findByRole('heading', { name: new RegExp(`^${title}`) })).closest('li');
  if (item === null) throw new Error(`${title} is no heading of an item`);
  return item;
}

const titles = () => screen.queryAllByRole('heading', { level: 2 }).map(({ textContent }) => textContent);
const button = (name: string) => screen.findByRole('button', { name });

describe('packs in the dashboard', () => {
  it('are listed with where they are installed, and found by text and state', async () => {
    const { user } = renderPage('/packs', hasPacks());
    const guard = within(await card('Mail guard'));
    guard.getByText('Version 1.1.0 · 3 controls · 6 cases · of this installation');
    expect(guard.getByRole('link', { name: 'guarded' }).getAttribute('href')).toBe('/ui/policies/5');
    expect(titles()).toEqual(['Mail guard', 'Secrets']);
    within(await card('Secrets')).getByText('Version 2.0.0 · 1 control · 1 case');
    expect(await structureViolations()).toEqual([]);
    await user.type(screen.getByLabelText('Contains'), 'give away');
    await waitFor(() => expect(titles()).toEqual(['Mail guard']));
    await user.selectOptions(screen.getByLabelText('State'), 'other');
    await screen.findByText('No pack passes the filters');
    await user.selectOptions(screen.getByLabelText('State'), 'outdated');
    await user.click(within(await card('Mail guard')).getByRole('link', { name: 'Newer version: compare' }));
    await screen.findByRole('tab', { name: 'Installations (1, 1 outdated)', selected: true });
  });

  it('are found in the palette, and Overview tells of a newer version', async () => {
    const backend: Backend = (router) => {
      hasPacks()(router);
      router.rpc(AgentService.method.listAgents, () => ({
        agents: [{ agentName: 'a', lastEvaluatedAt: '2026-11-01T10:00:00Z' }],
        pagination: { total: 1 },
      }));
      router.rpc(ControlService.method.listControls, () => ({ pagination: { total: 1 } }));
      router.rpc(PolicyService.method.listPolicies, () => ({ pagination: { total: 1 } }));
    };
    const { user } = renderPage('/', backend);
    await screen.findByText(/A newer version is there of the installed pack/);
    await user.keyboard('{Control>}k{/Control}');
    await user.type(within(await openDialog()).getByRole('combobox'), 'guard mail');
    await user.click(await screen.findByRole('option', { name: 'Mail guard' }));
    await screen.findByRole('heading', { level: 1, name: 'Mail guard' });
  });

  it('say of each control why it is there, what it checks and which steps it must match', async () => {
    const { user } = renderPage(`/packs/${PACK}`, hasPacks());
    const cards = within(await card('Card numbers'));
    cards.getByText('Finds card numbers; other spellings are not found.');
    cards.getByText(/OWASP LLM02:2025/);
    await user.click(cards.getByText('Definition'));
    expect((await cards.findByText(/matches regex/)).textContent).toContain('matches regex');
    await user.click(cards.getByText('1 case that it matches, 1 that it does not'));
    await cards.findByText('a harmless mail');
    cards.getByText(/card 4111111111111111/);
    expect(await structureViolations()).toEqual([]);
  });

  it('are tried on recorded evaluations and on steps that are given', async () => {
    const backend: Backend = (router) => {
      hasPacks()(router);
      router.rpc(PackService.method.previewPack, () => ({
        evaluations: 4n,
        controls: CONTROLS.map(({ key }) => ({
          key,
          evaluationsInScope: 4n,
          stepCount: 1,
          stepsInScope: ['tool send_mail'],
          results: [{ applies: true, matched: key !== 'fresh' }, {}],
        })),
      }));
    };
    const { user, sent } = renderPage(`/packs/${PACK}?tab=preview`, backend);
    const steps = await screen.findByLabelText('Steps to try, as JSON');
    await user.click(steps);
    await user.paste('{');
    await user.click(await button('Preview'));
    expect((await screen.findByRole('alert')).textContent).toContain('This is not JSON');
    expect(sent(PackService.method.previewPack)).toEqual([]);
    const input = { text: 'a secret with 4111111111111111' };
    const given = [
      { type: 'tool', name: 'send_mail', input },
      { type: 'llm', name: 'chat', input },
    ];
    await user.clear(steps);
    await user.click(steps);
    await user.paste(JSON.stringify(given));
    await user.click(await button('Preview'));
    const result = within(await screen.findByRole('region', { name: 'Result of the preview' }));
    const row = (await result.findByText('Card numbers', { selector: 'td *' })).closest('tr');
    within(row as HTMLElement).getByText('1 step');
    const [asked] = sent(PackService.method.previewPack);
    expect(asked).toMatchObject({ packName: PACK, days: 7 });
    expect(asked?.steps.map(({ step, stage }) => [step && toJson(StepSchema, step), stage])).toEqual(
      given.map((step) => [step, Stage.PRE]),
    );
    const itemOf = (name: string) => {
      const item = result.getByText(name, { selector: 'strong *, strong' }).closest('li');
      return within(item as HTMLElement);
    };
    itemOf('tool send_mail').getByText('2 controls of the pack match.');
    itemOf('tool send_mail').getByText('3 controls in scope');
    itemOf('llm chat').getByText('No control matches.');
    itemOf('llm chat').getByText('0 controls in scope');
    expect(await structureViolations()).toEqual([]);
  });

  it('show what an update changes and keeps, and keep local changes unless they are given up', async () => {
    const { user, sent } = renderPage(`/packs/${PACK}?tab=installations`, hasPacks());
    const comparison = within(await screen.findByRole('region', { name: 'Comparison with the pack' }));
    await comparison.findByText(/An update to version 1\.1\.0/);
    const of = (name: string) => {
      const item = comparison.getByText(name, { selector: '.trace-head strong *' }).closest('li');
      return within(item as HTMLElement);
    };
    of('mail-guard-cards').getByText('is updated');
    of('mail-guard-cards').getByText('Changed here: action');
    of('mail-guard-words').getByText('conflict: changed here and in the pack');
    of('mail-guard-old').getByText(/leaves the policy/);
    of('fresh').getByText('is added');
    expect(of('mail-guard-cards').getByText('What an update changes:').tagName).toBe('P');
    expect(await structureViolations()).toEqual([]);

    expect(of('mail-guard-words').queryByText('What an update changes:')).toBeNull();
    await user.click(of('mail-guard-words').getByRole('checkbox'));
    await of('mail-guard-words').findByText('What an update changes:');
    await user.click(await button('Update to version 1.1.0'));
    const dialog = await openDialog();
    expect(within(dialog).getByRole('heading').textContent).toBe('Update to version 1.1.0?');
    within(dialog).getByText(/but for words: changes made here are lost/);
    await user.click(within(dialog).getByRole('button', { name: 'Update to version 1.1.0' }));
    await screen.findByText(/Updated to version 1\.1\.0/);
    expect(sent(PackService.method.updatePackInstallation)).toMatchObject([
      { installationId: 1, version: '1.1.0', overwrite: ['words'] },
    ]);
    await screen.findByRole('tab', { name: 'Installations (1)' });
  });

  it('are installed in a new policy, with the chosen controls under names of their own, and uninstalled', async () => {
    const { user, sent } = renderPage(`/packs/${PACK}`, hasPacks());
    await user.click(await button('Install…'));
    const dialog = within(await openDialog());
    dialog.getByText(/All controls observe at first/);
    expect(await structureViolations()).toEqual([]);
    const name = dialog.getByLabelText('Name of the policy');
    await user.clear(name);
    await user.type(name, 'second');
    await user.click(dialog.getByRole('checkbox', { name: /^Words/ }));
    // The names are taken by the other installation.
    await user.click(dialog.getByRole('button', { name: 'Install 2 controls' }));
    expect((await dialog.findByRole('alert')).textContent).toContain('mail-guard-cards already');
    const prefix = dialog.getByLabelText('Names of the controls begin with');
    await user.clear(prefix);
    await user.type(prefix, 'second-');
    await user.click(dialog.getByRole('button', { name: 'Install 2 controls' }));
    await screen.findByText('Installed 2 controls');
    expect(sent(PackService.method.installPack).at(-1)).toMatchObject({
      packName: PACK,
      version: '1.1.0',
      policyName: 'second',
      namePrefix: 'second-',
      keys: ['cards', 'fresh'],
    });

    await user.click(screen.getByRole('tab', { name: /^Installations/ }));
    const installation = within(await card('In second'));
    installation.getByText(/2 controls of 3/);
    await user.click(installation.getByRole('button', { name: `Uninstall ${PACK} from second` }));
    await user.click(within(await openDialog()).getByRole('button', { name: /^Uninstall/ }));
    await screen.findByText(/2 controls deleted, 0 controls kept/);
    await noDialog();
    expect(sent(PackService.method.uninstallPack)).toMatchObject([{ installationId: 2 }]);
    await waitFor(() => expect(screen.queryByRole('heading', { name: /^In second/ })).toBeNull());
  });

  it('lead from what was installed to its policy', async () => {
    const { user, address } = renderPage(`/packs/${PACK}`, hasPacks());
    await user.click(await button('Install…'));
    const dialog = within(await openDialog());
    await user.clear(dialog.getByLabelText('Names of the controls begin with'));
    await user.click(dialog.getByRole('checkbox', { name: /^Words/ }));
    await user.click(dialog.getByRole('button', { name: 'Install 2 controls' }));
    const note = await screen.findByText('Installed 2 controls');
    await user.click(within(note.parentElement as HTMLElement).getByRole('link', { name: PACK }));
    await screen.findByRole('link', { name: 'second-cards' });
    expect(address()).toBe('/policies/6');
  });

  it('offer a regular key no change', async () => {
    const { user } = renderPage(`/packs/${PACK}?tab=installations&compare=none`, hasPacks(), {
      role: 'regular',
    });
    await user.click(await button('Compare with the pack'));
    const comparison = await screen.findByRole('region', { name: 'Comparison with the pack' });
    await within(comparison).findByText(/An update to version/);
    expect(screen.queryByRole('button', { name: /^(Install|Uninstall|Update)/ })).toBeNull();
  });

  it('that do not exist are said to be neither there nor installed', async () => {
    renderPage('/packs/no-such-pack', hasPacks());
    await screen.findByText('The service has no pack of this name.');
    await screen.findByText('It is not installed either.');
  });
});
