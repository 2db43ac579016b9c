import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openWatchedPage, settled } from '../../support/dashboard-browser.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { startService } from '../../support/service.js';
import { sharedBrowser } from '../../support/shared-browser.js';
import { beginDay } from './day.js';
import { change, decidedBy, type Figures, figuresOf, share } from './figures.js';
import { AGENTS, CONTROLS, type Sent, seedFleet, senders } from './traffic.js';

const RECORDS = ['none', 'matches', 'all'] as const;
const NAMES = Object.keys(AGENTS);
const HOUR_MS = 3_600_000;

/** The cells of a row that begins with a text, without the first one. */
async function cells(page: Page, table: string, first: string): Promise<string[]> {
  const row = page
    .getByRole('region', { name: table, exact: true })
    .getByRole('row')
    .filter({ hasText: first });
  return (await row.getByRole('cell').allInnerTexts())
    .slice(1)
    .map((text) => text.replace(/\s+/g, ' ').trim());
}

/** The large figures of a page: the text of each by its name. */
async function largeFigures(page: Page): Promise<Record<string, string>> {
  const list = page.locator('.outcome-figures');
  await list.waitFor();
  const names = await list.locator('dt').allInnerTexts();
  const values = await list.locator('dd').allInnerTexts();
  return Object.fromEntries(
    names.map((name, index) => [name, (values[index] ?? '').replace(/\s+/g, ' ').trim()]),
  );
}

/** What the large figures say for these numbers; `before` are those of the hour before, where it is known. */
function largeTexts(
  { evaluated, denied, byError, steered, observed }: Figures,
  before?: Figures,
): Record<string, string> {
  const of = (part: number) => (part === 0 ? '' : ` ${share(part, evaluated)} of them`);
  const than = (now: number, then: number | undefined) =>
    then === undefined || then === 0 ? '' : ` ${change(now, then)} vs. previous 1 h`;
  return {
    'Evaluated steps': `${evaluated}${than(evaluated, before?.evaluated)}`,
    Denied: `${denied}${of(denied)}${byError === 0 ? '' : ` ${byError} by error`}${than(denied, before?.denied)}`,
    Steered: `${steered}${of(steered)}${than(steered, before?.steered)}`,
    'Allowed, but observed': `${observed}${of(observed)}${than(observed, before?.observed)}`,
  };
}

describeOnEachDatabase('Every figure of a day', (freshDatabaseUrl, kind) => {
  // What is recorded concerns events, whose statistics have tests of their own on each database; pages show what the
  // replies say, whatever the database.
  it.each(kind === 'sqlite' ? RECORDS : (['matches'] as const))(
    'is the one of who sent it, with %s recorded',
    async (record) => {
      const databaseUrl = await freshDatabaseUrl();
      const day = beginDay();
      const service = await startService({
        DATABASE_URL: databaseUrl,
        SERVICE_OBSERVABILITY_RECORD: record,
      });
      try {
        const call = restClient(service.url);
        const ids = await seedFleet(service.url);
        const log = await day.live({
          senders: senders(service.url),
          flush: async () => void (await call('POST', '/api/v1/observability/flush')),
          seed: RECORDS.indexOf(record) + 1,
        });
        await expectReplies(service.url, log);
        await expectMetrics(service.url, log);
        if (kind === 'sqlite') await expectPages(service.url, log, record, ids);
      } finally {
        day.end();
        await service.stop();
      }
    },
  );
});

async function expectReplies(url: string, log: readonly Sent[]): Promise<void> {
  const call = restClient(url);
  for (const agent of [undefined, ...NAMES]) {
    const query = new URLSearchParams({ time_range: '24h', include_timeseries: 'true' });
    if (agent !== undefined) query.set('agent_name', agent);
    const { body } = await call('GET', `/api/v1/observability/evaluations?${query}`);
    const { evaluated, denied, byError, steered, observed } = figuresOf(log, agent);
    expect(body.counts).toEqual({
      evaluated,
      allowed: evaluated - denied - steered,
      denied,
      steered,
      denied_by_error: byError,
      observed,
      failed: byError,
    });
    const buckets = body.timeseries as { counts: { evaluated: number } }[];
    expect(buckets.reduce((sum, { counts }) => sum + counts.evaluated, 0)).toBe(evaluated);
  }
}

async function expectMetrics(url: string, log: readonly Sent[]): Promise<void> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (outcome: string) =>
    Number(
      new RegExp(`_evaluation_outcomes_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`).exec(text)?.[1],
    );
  const { evaluated, denied, byError, steered } = figuresOf(log);
  expect(value('allow')).toBe(evaluated - denied - steered);
  expect(value('deny')).toBe(denied - byError);
  expect(value('deny_by_error')).toBe(byError);
  expect(value('steer')).toBe(steered);
}

async function expectPages(
  url: string,
  log: readonly Sent[],
  record: (typeof RECORDS)[number],
  ids: ReadonlyMap<string, number>,
): Promise<void> {
  const { page, problems } = await openWatchedPage(await sharedBrowser());
  const open = async (path: string) => {
    await page.goto(`${url}/ui${path}`);
    await settled(page);
  };
  try {
    // What is counted does not depend on what is recorded: one of the modes looks at all ranges and agents.
    const looksAtAll = record === 'none';
    if (looksAtAll) {
      await open('/?range=7d');
      await expect.poll(() => largeFigures(page)).toEqual(largeTexts(figuresOf(log)));
      await open('/?range=1h');
      const [hour, before] = [1, 2].map((ago) => {
        const fromMs = Date.now() - ago * HOUR_MS;
        return figuresOf(log, undefined, fromMs, fromMs + HOUR_MS);
      }) as [Figures, Figures];
      await expect.poll(() => largeFigures(page)).toEqual(largeTexts(hour, before));
    }
    await open('/?range=24h');
    await expect.poll(() => largeFigures(page)).toEqual(largeTexts(figuresOf(log)));
    for (const agent of NAMES) {
      const { evaluated, denied, byError } = figuresOf(log, agent);
      await expect
        .poll(() => cells(page, 'Agents with the most denials', agent))
        .toEqual([String(denied), share(denied, evaluated), String(byError), String(evaluated)]);
    }
    for (const control of CONTROLS) {
      const count = record === 'none' ? 0 : decidedBy(log, control);
      const at = CONTROLS.indexOf(control);
      await expect
        .poll(() => cells(page, 'Controls with the most matches', control))
        .toEqual(count === 0 ? [] : CONTROLS.map((_, column) => (column === at ? String(count) : '0')));
    }
    await open('/agents');
    for (const agent of NAMES) {
      const { evaluated, denied, byError } = figuresOf(log, agent);
      const text = `${denied} of ${evaluated}${byError === 0 ? '' : `, ${byError} by error`}`;
      await expect.poll(() => cells(page, 'Agents', agent).then((c) => c.join('|'))).toContain(text);
    }
    for (const agent of looksAtAll ? NAMES : NAMES.slice(0, 1)) {
      await open(`/agents/${agent}?range=24h`);
      await expect.poll(() => largeFigures(page)).toEqual(largeTexts(figuresOf(log, agent)));
    }
    for (const control of CONTROLS) {
      await open(`/controls/${ids.get(control)}`);
      const count = record === 'none' ? 0 : decidedBy(log, control);
      const isError = control === 'asks-model';
      const card = page.getByRole('region', { name: 'Matches' });
      await card
        .getByText(isError ? '0 matches' : `${count} ${count === 1 ? 'match' : 'matches'}`)
        .first()
        .waitFor();
      if (isError && count > 0) await card.getByText(`${count} errors`).first().waitFor();
    }
    expect(problems).toEqual([]);
  } finally {
    await page.context().close();
  }
}
