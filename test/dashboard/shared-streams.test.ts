import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { EventServer, FakeBrowser, type FakePage, type FakeTab, LIMITS } from './shared-streams.support.js';

const SOURCE = 'events';

const browsers: FakeBrowser[] = [];
afterEach(() => {
  for (const browser of browsers.splice(0)) browser.close();
});

function browserOf(server: EventServer, limits = LIMITS): FakeBrowser {
  const browser = new FakeBrowser(new Map([[SOURCE, server.source]]), limits);
  browsers.push(browser);
  return browser;
}

const poll = <T>(read: () => T) => expect.poll(read, { interval: 2 });
const connected = (page: FakePage) => poll(() => page.isConnected()).toBe(true);
const texts = (positions: readonly bigint[]) => positions.map(String);

describe('streams shared by tabs', () => {
  it('are one stream for tabs with the same filters, which all get each event once', async () => {
    const server = new EventServer();
    const browser = browserOf(server);
    const pages = Array.from({ length: 10 }, () => browser.openTab().watch(1));
    for (const page of pages) await connected(page);
    for (let count = 0; count < 20; count += 1) server.store(count % 2);
    for (const page of pages) await poll(() => page.received).toEqual(texts(server.positionsAfter(0n, 1)));
    expect(server.open).toBe(1);
  });

  it('are at most four at a time for any number of filters, and none waits for another', async () => {
    const server = new EventServer();
    const browser = browserOf(server);
    const pages = Array.from({ length: 10 }, (_, kind) => browser.openTab().watch(kind));
    for (const page of pages) await connected(page);
    for (let count = 0; count < 200; count += 1) server.store(count % 10);
    for (const [kind, page] of pages.entries()) {
      await poll(() => page.received).toEqual(texts(server.positionsAfter(0n, kind)));
    }
    expect(server.mostOpen).toBe(4);
  });

  it('go on without a gap when the leader is closed, ends by itself, or the server breaks them', async () => {
    const server = new EventServer();
    const browser = browserOf(server);
    const tabs = [browser.openTab(), browser.openTab(), browser.openTab()] as const;
    const pages = tabs.map((tab) => tab.watch(1));
    for (const page of pages) await connected(page);
    server.store(1);
    tabs[0].crash();
    server.store(1);
    await poll(() => pages[1]?.received).toEqual(['1', '2']);
    pages[1]?.end();
    server.store(1);
    await poll(() => pages[2]?.received).toEqual(['1', '2', '3']);
    server.isDown = true;
    server.breakStreams();
    await poll(() => pages[2]?.isConnected()).toBe(false);
    server.store(1);
    server.isDown = false;
    await poll(() => pages[2]?.received).toEqual(['1', '2', '3', '4']);
    expect(server.open).toBe(1);
  });

  it('end when no tab needs them, also if the last one crashes without a word', async () => {
    const server = new EventServer();
    const browser = browserOf(server);
    const [leader, follower] = [browser.openTab(), browser.openTab()];
    const stays = leader.watch(1);
    await connected(stays);
    const goes = follower.watch(2);
    await connected(goes);
    expect(server.open).toBe(2);
    follower.crash();
    await poll(() => server.open).toBe(1);
    stays.end();
    await poll(() => server.open).toBe(0);
  });

  it('let a tab that was paused catch up by itself while the others go on, and share one stream again', async () => {
    const server = new EventServer();
    const browser = browserOf(server);
    const reading = browser.openTab().watch(1);
    await connected(reading);
    for (let count = 0; count < 50; count += 1) server.store(1);
    await poll(() => reading.received.length).toBe(50);
    const resumed = browser.openTab().watch(1, 10n);
    server.store(1);
    await poll(() => resumed.received).toEqual(texts(server.positionsAfter(10n, 1)));
    await poll(() => server.open).toBe(1);
    server.store(1);
    await poll(() => [reading.received.at(-1), resumed.received.at(-1)]).toEqual(['52', '52']);
    expect(reading.received).toEqual(texts(server.positionsAfter(0n, 1)));
  });

  it('start over when the database was restored, also for a tab that was paused meanwhile', async () => {
    const server = new EventServer();
    const browser = browserOf(server);
    const reading = browser.openTab().watch(1);
    await connected(reading);
    for (let count = 0; count < 9; count += 1) server.store(1);
    await poll(() => reading.received.length).toBe(9);
    server.restore(4n);
    await poll(() => reading.notices.length).toBe(1);
    const resumed = browser.openTab().watch(1, 9n);
    await poll(() => resumed.notices.length).toBe(1);
    server.store(1);
    await poll(() => [reading.received.at(-1), resumed.received.at(-1)]).toEqual(['5', '5']);
  });

  it('go on in a tab that leads when it hears late that another one led before', async () => {
    const server = new EventServer();
    const browser = browserOf(server);
    const before = browser.openTab().watch(0);
    await new Promise(setImmediate);
    const page = browser.openTab().watch(1);
    await new Promise(setImmediate);
    before.end();
    await connected(page);
    server.store(1);
    await poll(() => page.received).toEqual(['1']);
  });

  it('drop a tab that does not read, which continues by position', async () => {
    const server = new EventServer();
    const browser = browserOf(server, { ...LIMITS, maxUnprocessed: 2 });
    const leading = browser.openTab().watch(1);
    await connected(leading);
    const slow = browser.openTab().watch(1);
    await connected(slow);
    for (let count = 0; count < 100; count += 1) server.store(1);
    await poll(() => slow.received).toEqual(texts(server.positionsAfter(0n, 1)));
    expect(leading.received).toEqual(slow.received);
    expect(server.opened).toBeGreaterThan(1);
  });

  it('give every page each event after its start once, whatever happens', async () => {
    const action = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('store' as const), kind: fc.nat(4) }) },
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant('open' as const),
          kind: fc.nat(4),
          after: fc.option(fc.nat(9)),
        }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), which: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('break' as const) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const server = new EventServer();
        const browser = browserOf(server);
        let open: { readonly tab: FakeTab; readonly page: FakePage; readonly kind: number }[] = [];
        for (const step of actions) {
          if (step.do === 'store') server.store(step.kind);
          else if (step.do === 'break') server.breakStreams();
          else if (step.do === 'wait') await new Promise(setImmediate);
          else if (step.do === 'open') {
            const tab = browser.openTab();
            const after = step.after === null ? undefined : BigInt(Math.min(step.after, Number(server.end)));
            open.push({ tab, page: tab.watch(step.kind, after), kind: step.kind });
          } else if (open.length > 0) {
            const one = open[step.which % open.length];
            open = open.filter((other) => other !== one);
            if (step.do === 'end') one?.page.end();
            else one?.tab.crash();
          }
        }
        for (const { page } of open) await poll(() => page.start() !== undefined).toBe(true);
        for (let kind = 0; kind <= 4; kind += 1) server.store(kind);
        for (const { page, kind } of open) {
          const start = page.start() ?? 0n;
          await poll(() => page.received.length).toBe(server.positionsAfter(start, kind).length);
          expect(page.received).toEqual(texts(server.positionsAfter(start, kind)));
        }
        expect(server.mostOpen).toBeLessThanOrEqual(4);
        browser.close();
      }),
      { numRuns: 150, endOnFailure: true },
    );
  });
});
